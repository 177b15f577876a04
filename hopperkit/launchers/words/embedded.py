r"""Launch lines in here-documents and Python strings, for texts without a direct launch line.

The text around them is replaced by blanks, so that every word keeps its line and its position.
"""

import re
from collections.abc import Iterator

_LAUNCHER = r"(?:[\w./-]*/)?(?:aprun|srun|mpiexec|mpirun)"
_HERE_DOCUMENT = re.compile(
    r"^(?P<command>[^\n#]*?)<<-?[ \t]*(?P<quote>['\"\\]?)(?P<end>\w+)(?P=quote)?[^\n]*\n(?P<body>.*?)^[ \t]*(?P=end)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
# "srun -n 4 ./a" as the start of a string, and ["srun", "-n", "4", "./a"].
_STRING = re.compile(
    rf"(?<!\w)(?P<prefix>[fFrRbB]{{0,2}})(?P<quote>['\"])(?P<body>{_LAUNCHER}[ \t]+[^'\"\n]+)(?P=quote)"
)
_ITEM = r"(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.]+(?:\([^()\n]*\))?)"
_LIST = re.compile(rf"[\[(]\s*(?P<body>(?:'{_LAUNCHER}'|\"{_LAUNCHER}\")(?:\s*,\s*{_ITEM})+)\s*,?\s*[\])]")
_PRINTS = re.compile(r"\b(?:echo|printf|print|log\w*|info|warning|raise|help)\b[^;|]*$")
_MOST_STRINGS = 200


def embedded_text(text: str) -> str:
    r"""Return a text with only its here-documents left, or else its strings of launch lines; empty without any.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> embedded_text("cat > run.sh <<'EOF'\nsrun -n 4 ./a\nEOF\nsbatch run.sh\n").split("\n")[1]
    'srun -n 4 ./a'
    >>> embedded_text('subprocess.run(["srun", "-n", str(n), "./a"])').split()
    ['srun', '-n', '$str_n_', './a', ';']
    """
    for found in (_here_documents(text), _strings(text)):
        kept = list(found)
        if kept:
            return _only(text, kept)
    return ""


def _only(text: str, kept: list[tuple[int, str]]) -> str:
    """Return a text of blanks with some pieces at their places; line ends stay."""
    characters = ["\n" if each == "\n" else " " for each in text]
    for start, piece in kept:
        characters[start : start + len(piece)] = piece
    return "".join(characters)


def _here_documents(text: str) -> Iterator[tuple[int, str]]:
    """Yield the bodies of here-documents that hold a launch line."""
    for match in _HERE_DOCUMENT.finditer(text):
        body, opening = match["body"], text[match.start() : match.start("body")]
        # The output of cat is not executed.
        if re.match(r"\s*cat\b", opening) and not re.search(r"(?<!<)>|\|", opening):
            continue
        if re.search(rf"^[ \t]*(?:time[ \t]+|exec[ \t]+)?{_LAUNCHER}[ \t]", body, re.MULTILINE):
            # In a document without quotes a backslash keeps a variable for the shell that reads it.
            yield match.start("body"), body if match["quote"] else re.sub(r"(?<=[ \t])\\(?=\$)", " ", body)
        elif strings := list(_strings(body)):
            yield from ((match.start("body") + start, piece) for start, piece in strings)


def _strings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the strings and lists that are launch lines, each ended as a statement; printed text is skipped."""
    for number, match in enumerate(_STRING.finditer(text)):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if number < _MOST_STRINGS and not before.lstrip().startswith("#") and not _PRINTS.search(before):
            body = _with_variables(match["body"]) if "f" in match["prefix"].lower() else match["body"]
            yield match.start("body"), f"{body};"
    for number, match in enumerate(_LIST.finditer(text)):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if number < _MOST_STRINGS and not before.lstrip().startswith("#") and not _PRINTS.search(before):
            yield match.start("body"), f"{_items(match['body'])};"


def _with_variables(body: str) -> str:
    """Return the body of a formatted string with its braces as variables of a shell, as long as before."""
    return re.sub(r"\{([^{}]*)\}", lambda inner: "$" + re.sub(r"\W", "_", f"{inner[1]}_"), body)


def _items(body: str) -> str:
    """Return the items of a list as words of the same length; values other than strings become variables."""
    pieces: list[str] = []
    for item in re.finditer(r"'[^'\n]*'|\"[^\"\n]*\"|[\s,]+|[^\s,'\"]+", body):
        piece = item[0]
        if piece[0] in "'\"":
            pieces.append(f" {piece[1:-1]} ")
        elif re.fullmatch(r"[\s,]+", piece):
            pieces.append(re.sub(r"[,\n]", " ", piece))
        else:
            # After the comma and the blank before it, one of which becomes the sign of a variable.
            pieces[-1] = f"{pieces[-1][:-1]}$"
            pieces.append(re.sub(r"\W", "_", piece))
    return "".join(pieces)
