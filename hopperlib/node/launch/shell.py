"""Shell text cut into statements and words.

Enough of bash and csh for job scripts: quotes, continued lines, comments,
redirections, pipes, here-documents, variables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopperlib.node.launch.shell_words import BROKEN_LINE, Part, RawWord

__all__ = ["Statement", "split"]


@dataclass(slots=True)
class Statement:
    """One command of the text: its words as typed, whether it runs in the background."""

    words: list[RawWord] = field(default_factory=list)
    background: bool = False

    @property
    def first(self) -> str:
        """First word as typed; empty if there is none."""
        return self.words[0].raw if self.words else ""


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::?[-=]([^{}$`]*))?")
_BLANK_AFTER_BACKSLASH = re.compile(r"\\[ \t]+(?=\n|$)")
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-?|>>&|>&!|>>|>&|>\||>!|<&|<>|>|<")


def split(text: str) -> list[Statement]:
    r"""Return the statements of a shell text.

    Parameters
    ----------
    text : str
        A line or a script, with ``\n`` at line ends.

    Examples
    --------
    >>> [[word.raw for word in statement.words] for statement in split("cd run; aprun -n 4 ./a.out > out &")]
    [['cd', 'run'], ['aprun', '-n', '4', './a.out']]
    """
    return _Splitter(text).statements()


class _Splitter:
    """Walks through a text once and cuts it into statements."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.done: list[Statement] = []
        self.statement = Statement()
        self.word: RawWord | None = None
        self.skip_word = False
        self.here_word = False
        self.here_documents: list[str] = []

    def statements(self) -> list[Statement]:
        """Return all statements that have a word."""
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_statement()
        return self.done

    def _step(self, char: str) -> None:
        """Read what starts at the current position."""
        if char in " \t":
            self._end_word()
            self.at += 1
        elif char == "\n":
            self._end_statement()
            self.at += 1
            self._skip_here_documents()
        elif char == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char == "\\":
            self._backslash()
        elif char == "'":
            self._single_quoted()
        elif char == '"':
            self._double_quoted()
        elif char in "$`":
            self._dollar(quoted=False)
        elif char in "<>" or self.text.startswith("&>", self.at):
            self._redirection()
        elif char in ";&|()":
            self._separator(char)
        else:
            self._literal(char, quoted=False)
            self.at += 1

    def _literal(self, text: str, *, quoted: bool, raw: str | None = None) -> None:
        """Add literal text to the current word."""
        word = self._current()
        word.raw += text if raw is None else raw
        if word.parts and word.parts[-1].kind == "text" and word.parts[-1].quoted == quoted:
            word.parts[-1] = word.parts[-1]._replace(text=word.parts[-1].text + text)
        else:
            word.parts.append(Part("text", text, quoted))

    def _current(self) -> RawWord:
        """Return the word being read, a new one if there is none."""
        if self.word is None:
            self.word = RawWord()
        return self.word

    def _backslash(self) -> None:
        """A backslash: a continued line, or a character taken as it is."""
        following = self.text[self.at + 1 : self.at + 2]
        blanks = _BLANK_AFTER_BACKSLASH.match(self.text, self.at)
        if following == "\n":
            self.at += 2
        elif blanks:
            self._opaque("\\", BROKEN_LINE)
            self.at = blanks.end()
        else:
            self._literal(following, quoted=True, raw="\\" + following)
            self.at += 2

    def _single_quoted(self) -> None:
        """Text between single quotes; an apostrophe with no partner is a letter."""
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self._literal("'", quoted=False)
            self.at += 1
            return
        inner = self.text[self.at + 1 : end]
        self._literal(inner, quoted=True, raw=f"'{inner}'")
        self.at = end + 1

    def _double_quoted(self) -> None:
        """Text between double quotes, with variables in it."""
        end = self._closing_quote()
        if end < 0:
            self._literal('"', quoted=False)
            self.at += 1
            return
        self._literal("", quoted=True, raw='"')
        self.at += 1
        while self.at < end:
            char = self.text[self.at]
            if char == "\\" and self.text[self.at + 1] in '\\"$`\n':
                following = self.text[self.at + 1]
                self._literal("" if following == "\n" else following, quoted=True)
                self.at += 2
            elif char in "$`":
                self._dollar(quoted=True)
            else:
                self._literal(char, quoted=True)
                self.at += 1
        self._literal("", quoted=True, raw='"')
        # A substitution inside may have run past the quote; go on behind whichever ended last.
        self.at = max(self.at, end + 1)

    def _closing_quote(self) -> int:
        """Return where the double quote at the current position ends, -1 for nowhere."""
        at = self.at + 1
        while at < len(self.text):
            if self.text[at] == "\\":
                at += 1
            elif self.text[at] == '"':
                return at
            at += 1
        return -1

    def _dollar(self, *, quoted: bool) -> None:
        """A variable, arithmetic or a command substitution."""
        rest = self.text[self.at : self.at + 3]
        if rest.startswith("`"):
            end = self.text.find("`", self.at + 1)
            if end < 0:
                self._literal("`", quoted=quoted)
                self.at += 1
            else:
                self._command_substitution(end + 1)
        elif rest == "$((":
            end = self._closing("(", ")")
            self._opaque(self.text[self.at : end], "is arithmetic that only the shell works out; write the number")
            self.at = end
        elif rest.startswith("$("):
            self._command_substitution(self._closing("(", ")"))
        elif rest.startswith("${"):
            self._braced(quoted=quoted)
        else:
            self._plain_variable(quoted=quoted)

    def _command_substitution(self, end: int) -> None:
        """The output of another command, which nobody knows here."""
        self._opaque(self.text[self.at : end], "is the output of a command; write the value")
        self.at = end

    def _braced(self, *, quoted: bool) -> None:
        """A variable in braces, with an optional default."""
        end = self._closing("{", "}")
        raw = self.text[self.at : end]
        found = _BRACED.fullmatch(raw[2:-1]) if raw.endswith("}") else None
        if found:
            word = self._current()
            word.raw += raw
            word.parts.append(Part("variable", found[1], quoted, found[2]))
        else:
            self._opaque(raw, "is a shell expansion that is not read here; write the value")
        self.at = end

    def _plain_variable(self, *, quoted: bool) -> None:
        """A variable by its name alone, or a dollar sign that is one."""
        found = _NAME.match(self.text, self.at + 1)
        if found:
            word = self._current()
            word.raw += "$" + found[0]
            word.parts.append(Part("variable", found[0], quoted))
            self.at = found.end()
            return
        special = self.text[self.at + 1 : self.at + 2]
        if special and special in "0123456789@*#?$!-":
            self._opaque("$" + special, "is an argument or a state of the script; write the value")
            self.at += 2
        else:
            self._literal("$", quoted=quoted)
            self.at += 1

    def _closing(self, opening: str, closing: str) -> int:
        """Return the position behind the bracket that closes the next opening one, or the end of the text."""
        depth = 0
        for at in range(self.at, len(self.text)):
            if self.text[at] == opening:
                depth += 1
            elif self.text[at] == closing:
                depth -= 1
                if depth == 0:
                    return at + 1
        return len(self.text)

    def _opaque(self, raw: str, reason: str) -> None:
        """Add a piece that cannot be known."""
        word = self._current()
        word.raw += raw
        word.parts.append(Part("opaque", reason, False))

    def _redirection(self) -> None:
        """A redirection: it and its file are no words of the command."""
        if self.word is not None and self.word.raw.isdigit():
            self.word = None
        self._end_word()
        found = _REDIRECTION.match(self.text, self.at)
        operator = found[0] if found else self.text[self.at]
        self.at += len(operator)
        if self.text.startswith("(", self.at):
            self.at = self._closing("(", ")")
            return
        self.skip_word = True
        self.here_word = operator in ("<<", "<<-")

    def _separator(self, char: str) -> None:
        """An operator between two statements."""
        if char == "(" and self.word is not None and self.word.raw.endswith("="):
            end = self._closing("(", ")")
            self._opaque(self.text[self.at : end], "is a list; write the value")
            self.at = end
            return
        pair = self.text[self.at : self.at + 2]
        background = char == "&" and pair != "&&"
        self._end_statement(background=background)
        self.at += 2 if pair in ("&&", "||", ";;", "|&") else 1

    def _end_word(self) -> None:
        """Finish the word being read; the file of a redirection is dropped."""
        if self.word is None:
            return
        if self.skip_word:
            if self.here_word:
                self.here_documents.append(self.word.raw.strip("'\"\\"))
            self.skip_word = self.here_word = False
        else:
            self.statement.words.append(self.word)
        self.word = None

    def _end_statement(self, *, background: bool = False) -> None:
        """Finish the statement being read."""
        self._end_word()
        self.skip_word = self.here_word = False
        if self.statement.words:
            self.statement.background = background
            self.done.append(self.statement)
        self.statement = Statement()

    def _skip_here_documents(self) -> None:
        """Pass over the bodies of here-documents that the line before opened."""
        for end_word in self.here_documents:
            found = re.compile(rf"^[ \t]*{re.escape(end_word)}[ \t]*$", re.MULTILINE).search(self.text, self.at)
            if found:
                self.at = min(found.end() + 1, len(self.text))
        self.here_documents = []
