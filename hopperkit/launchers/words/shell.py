"""Shell text split into statements and words, with variables expanded.

As much of sh, bash and csh as is needed for job scripts: quotes, continued lines, comments, redirections, pipes,
here-documents, variables. Values known only at run time (arithmetic, the output of a command, a variable set elsewhere)
are kept as unknowns with a reason, and rejected only if the value is needed.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

BROKEN_LINE = "does not continue the line, because a blank follows it; take the blank away"
"""Why a backslash at the end of a line does nothing."""

_ARITHMETIC = "is arithmetic that only the shell works out; write the number"
_OUTPUT = "is the output of a command; write the value"
_EXPANSION = "is a shell expansion that is not read here; write the value"
_STATE = "is an argument or a state of the script; write the value"
_LIST = "is a list; write the value"
_PLACEHOLDER = "is a placeholder; write the value"
# Quantities that a command substitution counts, by the reader's variable.
_COUNTED = {
    "PBS_NUM_NODES": r"(?=.*\bwc\b)(?=.*\$\{?PBS_NODEFILE\b)",
    "nvidia-smi -L": r"(?=.*\bwc -l\b)(?=.*\bnvidia-smi (-L|--list-gpus)\b)",
}

# Requests required for Slurm to set a variable.
_SET_BY_SLURM = {
    **dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), "tasks (-n, --ntasks-per-node)"),
    "SLURM_NTASKS_PER_NODE": "--ntasks-per-node",
    "SLURM_CPUS_PER_TASK": "-c",
}
# Arithmetic that another program does.
_CALCULATED = r"\s*(?:echo\s+[\"']?([^\"'|]+)[\"']?\s*\|\s*bc|expr\s+([^|;&]+))\s*"

# The last kind takes any character, so that a text is walked through in one pass. A longer form with the same beginning
# comes first.
_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+)
      | (?P<newline>\n)
      | (?P<continued>\\\n)
      | (?P<broken>\\[ \t]+(?=\n|\Z))
      | (?P<escaped>\\.?)
      | (?P<single>'[^']*')
      | (?P<double>"(?:[^"\\]|\\.)*")
      | (?P<variable>[$`])
      | (?P<placeholder>(?<![\w\]$])(?:<[A-Za-z](?:[\w .,/|-]*\w)?>|\[[A-Za-z](?:[\w ]*\w)?\])(?=[\s'",:/%]|\Z))
      | (?P<redirection>&>>|&>|<<<|<<-?|>>&|>&!|>>|>&|>\||>!|<&|<>|>|<)
      | (?P<separator>&&|\|\||;;|\|&|[;&|()])
      | (?P<hash>\#)
      | (?P<text>[^ \t\n\\'"$`<>;&|()#[]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_QUOTES = re.compile(r"""\\(?P<escaped>[\\"$`\n])|[^\\$`]+|\\""")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = r"\$\{([A-Za-z_][A-Za-z0-9_]*(?:\[\d{1,4}\])?)(?::?[-=]([^{}$`]*))?\}"
_MAX_DIGITS = 12
MAX_VALUE = 20_000
"""Longest value that variables may grow to; a launch line is a few hundred characters. [characters]"""
_TOO_LONG = f"grows past {MAX_VALUE:,} characters as variables are put in; write the value"
# Marks around an unknown piece, and for a blank in it, while the words around it are split.
_MARK, _BLANK = "\0", "\1"


class Unknown(NamedTuple):
    """A value that is not in the text, with the reason; `text` is the known part, with each missing piece as typed
    between marks.
    """

    reason: str
    text: str = ""

    @classmethod
    def piece(cls, reason: str, typed: str) -> "Unknown":
        """Return a piece of a word that is not known, marked so that its blanks part nothing."""
        return cls(reason, f"{_MARK}{typed.replace(' ', _BLANK)}{_MARK}")


Variables = Mapping[str, "str | Unknown"]


class Part(NamedTuple):
    """A piece of a word: literal text, a variable with an optional default, a list, or an opaque piece with its reason."""

    kind: str
    text: str
    quoted: bool = False
    default: str | None = None
    raw: str = ""


class RawWord:
    """A word before expansion, with its position in the text."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self.raw = ""
        self.start = self.end = 0
        self.parts = list(parts)

    def add(self, part: Part, raw: str) -> None:
        """Add a piece; literal text is joined to the literal text before it."""
        self.raw += raw
        last = self.parts[-1] if self.parts else None
        if last and last.kind == part.kind == "text" and last.quoted == part.quoted:
            self.parts[-1] = last._replace(text=last.text + part.text)
        else:
            self.parts.append(part._replace(raw=raw))


class Word(NamedTuple):
    """A word of a statement after expansion of variables.

    Parameters
    ----------
    text : str
        The word; as typed where it is not known.
    unknown : str
        Why it is not known; empty if it is.
    typed : str
        Its original text if a shell parses that as this one word; otherwise empty.
    """

    text: str
    unknown: str = ""
    typed: str = ""

    @property
    def shell(self) -> str:
        """The word in shell syntax: as typed if possible, otherwise quoted.

        Examples
        --------
        >>> Word(text="$i", unknown="is set by the loop", typed="$i").shell, Word(text="a b").shell
        ('$i', "'a b'")
        """
        return self.typed or shlex.quote(self.text)


class Statement(list[RawWord]):
    """The words of a statement, its line in the text, its redirections, and whether the script waits for its end."""

    def __init__(self, words: Iterable[RawWord] = (), line: int = 0) -> None:
        super().__init__(words)
        self.line = line
        self.background = False
        # Whether it is in a subshell that the script does not wait for.
        self.detached = False
        self.redirections: list[str] = []


def split(text: str) -> list[Statement]:
    r"""Return the statements of a shell text, each as its words.

    Parameters
    ----------
    text : str
        A line or a script, with ``\n`` at line ends.

    Examples
    --------
    >>> [[word.raw for word in statement] for statement in split("cd run; aprun -n 4 ./a.out > out &")]
    [['cd', 'run'], ['aprun', '-n', '4', './a.out']]
    """
    splitter = _Splitter(text)
    while splitter.at < len(text):
        splitter.step()
    splitter.end_statement()
    return splitter.statements


def _text(raw: str) -> Part:
    """Return a token as its letters."""
    return Part("text", raw)


# Tokens that are part of a word in any context.
_LITERAL: dict[str, Callable[[str], Part]] = {
    "single": lambda raw: Part("text", raw[1:-1], True),
    "escaped": lambda raw: Part("text", raw[1:], True),
    "broken": lambda raw: Part("opaque", BROKEN_LINE),
    "placeholder": lambda raw: Part("opaque", _PLACEHOLDER),
}


class _Splitter:
    """Walks through a text once and cuts it into statements."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        # Where the token begins that is being read, and the line of a place before it.
        self.start = 0
        self.counted, self.line = 0, 1
        self.statements: list[Statement] = []
        self.statement = Statement()
        self.word: RawWord | None = None
        # The operator whose file, or end word of a here-document, the next word is.
        self.redirection = ""
        self.end_words: list[str] = []
        # The number of statements at each open bracket, and at that of the subshell that just ended.
        self.opened: list[int] = []
        self.ended: int | None = None

    def step(self) -> None:
        """Read the token at the current position."""
        token = _TOKEN.match(self.text, self.at)
        assert token, "a token may be any character"
        kind, raw = token.lastgroup, token[0]
        self.start, self.at = self.at, token.end()
        if kind == "double":
            self._double_quoted(token.start(), token.end() - 1)
        elif kind == "variable":
            self._variable(token.start(), quoted=False)
        elif kind == "redirection":
            self._redirection(raw)
        elif kind == "separator":
            self._separator(raw)
        elif kind == "newline":
            self.end_statement()
            self.ended = None
            self._skip_here_documents()
        elif kind == "blank":
            self._end_word()
        elif kind == "hash" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif kind != "continued":
            # A quote without its partner is a letter like others.
            self._add(_LITERAL.get(kind or "", _text)(raw), "\\" if kind == "broken" else raw)
        if self.word is not None:
            self.word.end = self.at

    def _add(self, part: Part, raw: str) -> None:
        """Add a piece to the current word, or start one."""
        if self.word is None:
            self.word = RawWord()
            self.word.start = self.start
            if not self.statement.line:
                self.line += self.text.count("\n", self.counted, self.start)
                self.counted = self.start
                self.statement.line = self.line
        self.word.add(part, raw)

    def _double_quoted(self, start: int, end: int) -> None:
        """Text between the double quotes at two positions, with variables in it."""
        self._add(Part("text", "", True), '"')
        self.at = start + 1
        while self.at < end:
            # Anything else is a dollar sign or a backquote.
            chunk = _IN_QUOTES.match(self.text, self.at, end)
            if chunk is None:
                self._variable(self.at, quoted=True)
                continue
            # Within double quotes a backslash before the end of a line joins two lines.
            text = chunk[0] if chunk["escaped"] is None else chunk["escaped"].strip("\n")
            self._add(Part("text", text, True), chunk[0].removeprefix("\\\n"))
            self.at = chunk.end()
        self._add(Part("text", "", True), '"')
        # A substitution inside may extend past the quote; continue after whichever ended last.
        self.at = max(self.at, end + 1)

    def _variable(self, at: int, *, quoted: bool) -> None:
        """A variable, arithmetic or a command substitution, at a dollar sign or a backquote."""
        text = self.text
        following = text[at + 1 : at + 2]
        if text[at] == "`":
            # Without a partner, find() gives -1 and the backquote is a letter.
            self.at = text.find("`", at + 1) + 1 or at + 1
            part = _output(text[at : self.at]) if self.at > at + 1 else Part("text", "`", quoted)
        elif following == "(":
            self.at = self._closing(at, "(", ")")
            inner = text[at : self.at]
            part = Part("arithmetic", inner[3:-2]) if inner.startswith("$((") else _output(inner)
        elif following == "{":
            self.at = self._closing(at, "{", "}")
            braced = re.fullmatch(_BRACED, text[at : self.at])
            part = Part("variable", braced[1], quoted, braced[2]) if braced else Part("opaque", _EXPANSION)
        elif name := _NAME.match(text, at + 1):
            self.at, part = name.end(), Part("variable", name[0], quoted)
        elif following and following in "0123456789@*#?$!-":
            self.at, part = at + 2, Part("opaque", _STATE)
        else:
            self.at, part = at + 1, Part("text", "$", quoted)
        self._add(part, text[at : self.at])

    def _closing(self, start: int, opening: str, closing: str) -> int:
        """Return the position after the matching closing bracket, or the end of the text."""
        depth = 0
        for at in range(start, len(self.text)):
            depth += (self.text[at] == opening) - (self.text[at] == closing)
            if depth == 0 and self.text[at] == closing:
                return at + 1
        return len(self.text)

    def _redirection(self, operator: str) -> None:
        """A redirection: it and its file are not words of the command."""
        # The number of a stream, as in 2>file, is not a word either.
        stream = ""
        if self.word is not None and self.word.raw.isdigit():
            stream, self.word = self.word.raw, None
        self._end_word()
        if self.text.startswith("(", self.at):
            start, self.at = self.at, self._closing(self.at, "(", ")")
            self.statement.redirections.append(stream + operator + self.text[start : self.at])
        else:
            self.redirection = stream + operator

    def _separator(self, operator: str) -> None:
        """An operator between two statements, or the bracket of a list."""
        # NAME=( begins a list; other brackets begin a subshell, whose statements are parsed like others.
        if operator == "(" and self.word is not None and self.word.raw.endswith("="):
            start = self.at - 1
            self.at = self._closing(start, "(", ")")
            self._add(Part("list", self.text[start + 1 : self.at - 1]), self.text[start : self.at])
        else:
            if operator == "&" and self.ended is not None and self.word is None and not self.statement:
                for each in self.statements[self.ended :]:
                    each.detached = True
            self.statement.background = operator == "&"
            self.end_statement()
            self.ended = self.opened.pop() if operator == ")" and self.opened else None
            if operator == "(":
                self.opened.append(len(self.statements))

    def _end_word(self) -> None:
        """End the current word; the file of a redirection is not part of the command."""
        if self.word is None:
            return
        if not self.redirection:
            self.statement.append(self.word)
        else:
            self.statement.redirections.append(self.redirection + self.word.raw)
            if self.redirection.lstrip("0123456789") in ("<<", "<<-"):
                self.end_words.append(self.word.raw.strip("'\"\\"))
        self.redirection, self.word = "", None

    def end_statement(self) -> None:
        """Finish the statement being read."""
        self._end_word()
        self.redirection = ""
        if self.statement:
            self.statements.append(self.statement)
        self.statement = Statement()

    def _skip_here_documents(self) -> None:
        """Pass over the bodies of here-documents that the line before opened."""
        for end_word in self.end_words:
            end = re.compile(rf"^[ \t]*{re.escape(end_word)}[ \t]*$", re.MULTILINE).search(self.text, self.at)
            if end:
                self.at = min(end.end() + 1, len(self.text))
        self.end_words = []


def expand(word: RawWord, variables: Variables) -> list[Word]:
    """Return the words that a word becomes: more than one if a variable outside quotes holds blanks.

    Parameters
    ----------
    word : RawWord
        The word before expansion.
    variables : Variables
        Variables of the script.

    Examples
    --------
    >>> words = split("$RUN ./a.out '$RUN' $((2 * M))")[0]
    >>> [word.text for raw in words for word in expand(raw, {"RUN": "aprun -n 4"})]
    ['aprun', '-n', '4', './a.out', '$RUN', '$((2 * M))']
    >>> expand(words[3], {})[0].unknown
    'takes $M, which this text does not set; write the value'
    """
    # In one piece: the shell's rules interact, as every part of a word adds to the text that the last one left open.
    texts = [""]
    missing, size = "", 0
    for part in word.parts:
        value = _evaluate(part, variables)
        size += len(value.text if isinstance(value, Unknown) else value) if part.kind == "variable" else 0
        if size > MAX_VALUE:
            return [Word(text=_start_of(word.raw), unknown=_TOO_LONG, typed=word.raw)]
        if isinstance(value, Unknown):
            if part.quoted or not re.search(r"[ \t\n]", value.text):
                return [Word(text=word.raw, unknown=value.reason, typed=word.raw)]
            missing, value = value.reason, value.text
        if part.quoted or part.kind == "text":
            texts[-1] += value
        else:
            # The value of an unquoted variable is split at blanks; its first piece is joined to the preceding text.
            first, *others = re.split(r"[ \t\n]+", value)
            texts[-1] += first
            texts += others
    if texts[0] and all(part.kind == "text" for part in word.parts):
        return [Word(text=texts[0], typed=_as_typed(word.raw))]
    words = [_word(text, missing) for text in texts if text]
    # Empty quotes are an empty word; an empty unquoted variable is no word.
    return words or ([Word(text="")] if any(part.quoted for part in word.parts) else [])


def _start_of(raw: str) -> str:
    """Return a word short enough for a message."""
    return raw if len(raw) <= 60 else f"{raw[:57]}..."


def _word(text: str, missing: str) -> Word:
    """Return a word expanded from a variable, with the reason why a piece of it is missing."""
    if _MARK not in text:
        return Word(text=text)
    text = text.replace(_MARK, "").replace(_BLANK, " ")
    return Word(text=text, unknown=missing, typed=text)


def _as_typed(raw: str) -> str:
    """Return a word as typed if it is complete: on one line, with both of each pair of quotes; otherwise empty."""
    try:
        return raw if "\n" not in raw and len(shlex.split(raw)) == 1 else ""
    except ValueError:
        return ""


def _evaluate(part: Part, variables: Variables) -> str | Unknown:
    """Return the value of a piece of a word."""
    if part.kind == "text":
        return part.text
    if part.kind in ("opaque", "list"):
        return Unknown(part.text if part.kind == "opaque" else _LIST)
    if part.kind == "arithmetic":
        return _arithmetic(part.text, variables)
    value = variables.get(part.text)
    # With a default an empty value counts as none, as in ${NAME:-default}.
    if value is not None and (value or part.default is None):
        return value
    if part.default is not None:
        return part.default
    asking = _SET_BY_SLURM.get(part.text)
    unset = f"is set by Slurm only if the job requests {asking}" if asking else "this text does not set"
    return Unknown(f"takes ${part.text}, which {unset}; write the value")


def _output(command: str) -> Part:
    """Return the result of a command substitution; the nodes of a PBS job and the GPUs of a node are known to the
    parser.
    """
    known = next((name for name, form in _COUNTED.items() if re.match(form, command)), None)
    if calculated := re.fullmatch(_CALCULATED, command.strip("`$()")):
        return Part("arithmetic", (calculated[1] or calculated[2]).replace("\\", ""))
    return Part("variable", known) if known else Part("opaque", _OUTPUT)


def _arithmetic(text: str, variables: Variables) -> str | Unknown:
    """Return the value of whole-number arithmetic whose variables are all known."""
    import ast

    # Division is integer division, and variables need no dollar sign.
    names = re.sub(r"\$\{?([A-Za-z_]\w*)\}?", r"\1", text).replace("/", "//")
    try:
        return str(_number(ast.parse(names.strip(), mode="eval").body, variables))
    except (ValueError, SyntaxError, ZeroDivisionError, RecursionError, OverflowError, MemoryError):
        unknown = ((name, value) for name in _NAME.findall(names) if not isinstance(value := variables.get(name), str))
        name, value = next(unknown, ("", None))
        why = f"which {value.reason}" if value else "which this text does not set; write the value"
        return Unknown(f"takes ${name}, {why}" if name else _ARITHMETIC)


def _number(node: Any, variables: Variables) -> int:
    """Return the value of an arithmetic expression; ValueError if it is invalid or contains an unknown."""
    import ast
    import operator

    signs: dict[type, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mod: operator.mod}
    signs |= {ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name) and isinstance(value := variables.get(node.id), str):
        if len(value) > _MAX_DIGITS:
            raise ValueError("no number of a job script")
        return int(value)
    if isinstance(node, ast.BinOp) and type(node.op) in signs:
        left, right = _number(node.left, variables), _number(node.right, variables)
        if max(abs(left), abs(right)) >= 10**_MAX_DIGITS:
            raise ValueError("no number of a job script")
        return int(signs[type(node.op)](left, right))
    raise ValueError("no whole-number arithmetic")


def joined(word: RawWord, variables: Variables) -> str | Unknown:
    """Return the value of a word as one string, as in an assignment, where blanks do not part it.

    Parameters
    ----------
    word : RawWord
        The word before expansion.
    variables : Variables
        Variables of the script.

    Examples
    --------
    >>> joined(split("$A$B")[0][0], {"A": "-n 4", "B": " -d 6"})
    '-n 4 -d 6'
    """
    pieces: list[str] = []
    reason, size, is_literal = "", 0, all(part.kind == "text" for part in word.parts)
    for part in word.parts:
        value = _evaluate(part, variables)
        if isinstance(value, Unknown):
            reason = reason or value.reason
            value = value.text or Unknown.piece("", part.raw).text
        pieces.append(value)
        size += len(value)
        if size > MAX_VALUE and not is_literal:
            return Unknown(_TOO_LONG)
    return Unknown(reason, "".join(pieces)) if reason else "".join(pieces)


class Edit(NamedTuple):
    """Characters of a text from `start` to `end` that another text replaces."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    r"""Return a text with edits made; where words are cut, the blanks before them go too.

    Parameters
    ----------
    text : str
    edits : sequence of Edit
        In order, none overlapping another.

    Examples
    --------
    >>> apply_edits("srun -n 4 -l \\\n  ./a", [Edit(8, 9, "8"), Edit(10, 12, "")])
    'srun -n 8 \\\n  ./a'
    """
    for start, end, new in reversed(edits):
        before = text[:start]
        if not new:
            before = re.sub(r"(?:[ \t]|\\\n)+\Z", "", before)
        text = before + new + text[end:]
    return text
