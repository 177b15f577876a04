"""A result as text for a terminal: what fits a screen, or all of it."""

import itertools
from collections.abc import Iterator

from hopperkit.questions.result import Result, Snippet, Table
from hopperlib.finding import Finding

# Rows of the table that a short answer prints, and of each table that a full one does.
_SHORT_ROWS = 12
_FULL_ROWS = 40
# Findings of a short answer.
_SHOWN = ("problem", "advice")
# Widest pair of drawings. [characters]
_LINE_WIDTH = 110
# Longest cell of a short answer: its neighbors need room too. [characters]
_SHORT_CELL = 44
# Characters that control a terminal: control characters except tab and newline, and bidirectional marks.
_SIGNS = (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F)
_CONTROL = dict.fromkeys((*_SIGNS, *range(0x2028, 0x202F), *range(0x2066, 0x206A)), "\ufffd")


_BOXES = {**dict.fromkeys(map(ord, "─━"), "-"), **dict.fromkeys(map(ord, "│┃"), "|"), ord("·"): "."}
_BOXES |= dict.fromkeys(map(ord, "┌┐└┘├┤┬┴┼╭╮╰╯"), "+")


def result_text(result: Result, *, show_all: bool = False, styled: bool = False, ascii_only: bool = False) -> str:
    """Return an answer for people.

    The short form holds the sentence, problems and advice, drawings in
    characters, one table of at most twelve rows and the line to
    copy. The full form adds the numbers with their badges, charts in words,
    notes, listings and the other tables.

    Parameters
    ----------
    result : Result
    show_all : bool
        Whether to print everything.
    styled : bool
        Whether the terminal shows bold text.
    ascii_only : bool
        Whether boxes are drawn with plus and minus signs.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> print(result_text(load("memory").run(need_gb=1.0, tasks=48)).splitlines()[0])
    Cheapest on Hopper: 24 tasks per node on 2 standard nodes, cost factor 1.
    """
    parts = ["\n".join(part) for part in (_full(result) if show_all else _short(result)) if part]
    # Bold after `printable`, which removes control characters.
    parts[0] = f"\033[1m{printable(parts[0])}\033[0m" if styled else printable(parts[0])
    text = "\n\n".join([parts[0], *map(printable, parts[1:])]) + "\n"
    return text.translate(_BOXES) if ascii_only else text


def printable(text: str) -> str:
    r"""Return a text without the characters that a terminal would obey.

    Parameters
    ----------
    text : str
        Text from a file or a user.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\ufffd[31mb'
    """
    return text.translate(_CONTROL)


def _short(result: Result) -> Iterator[list[str]]:
    """Yield the parts of the short form."""
    yield [_plain(result.summary)]
    yield [line for finding in result.findings if finding.level in _SHOWN for line in _finding(finding)]
    for listing in result.listings:
        yield [
            f"{listing.title.split(':')[0]}:{line.number}: {line.text}"
            for line in listing.lines
            if line.mark == "cause"
        ]
    yield from _drawings(result)
    yield from (table_lines(table, _SHORT_ROWS, _SHORT_CELL) for table in result.tables[:1])
    yield from (_copyable(copyable) for copyable in result.copyables[:1])
    more = (
        (len(result.values), "number"),
        (len(result.figures), "chart"),
        (sum(finding.level not in _SHOWN for finding in result.findings), "note"),
        (len(result.listings), "listing"),
        (max(0, len(result.tables) - 1), "more table"),
    )
    left_out = [f"{count} {name}{'s' * (count > 1)}" for count, name in more if count]
    yield [f"(--all prints {', '.join(left_out)})"] if left_out else []


def _full(result: Result) -> Iterator[list[str]]:
    """Yield the parts of the full form."""
    yield [_plain(result.summary)]
    yield [line for finding in result.findings for line in _finding(finding)]
    for value in result.values:
        unit = f" {value.unit}" if value.unit else ""
        badge = f" ({value.badge})" if value.badge else ""
        note = f"; {value.note}" if value.note else ""
        yield [_plain(f"{value.label}: {value.text}{unit}{badge}{note}")]
    for drawing in result.drawings:
        yield [f"{drawing.title}: {drawing.alt}", *([drawing.text.rstrip()] if drawing.text else [])]
    for figure in result.figures:
        yield [f"{figure.title}: {figure.alt}"]
    for copyable in result.copyables:
        yield _copyable(copyable)
    for listing in result.listings:
        marked = (f"{line.number:>6} {line.mark}: {line.text}" for line in listing.lines if line.mark)
        yield [_plain(listing.title), *marked]
    for table in result.tables:
        yield table_lines(table, _FULL_ROWS)


def _drawings(result: Result) -> Iterator[list[str]]:
    """Yield the drawings in characters, two next to each other if they fit."""
    drawn = [[drawing.title, *drawing.text.rstrip().split("\n")] for drawing in result.drawings if drawing.text]
    width = max((len(line) for lines in drawn[:1] for line in lines), default=0)
    if len(drawn) == 2 and 2 * width + 3 <= _LINE_WIDTH:
        yield [f"{left:<{width}}   {right}".rstrip() for left, right in itertools.zip_longest(*drawn, fillvalue="")]
    else:
        yield from drawn


def _finding(finding: Finding) -> list[str]:
    """Return a finding: its level, message, code and remedy."""
    advice = [_plain(f"  do: {finding.advice}")] if finding.advice else []
    return [_plain(f"{finding.level}: {finding.message} [{finding.code}]"), *advice]


def _copyable(copyable: Snippet) -> list[str]:
    """Return a text to copy below its title; of one that takes the place of another what changes, as `patch` takes it."""
    lines = copyable.text.splitlines()
    if copyable.before:
        import difflib

        given = copyable.before.splitlines()
        lines = list(difflib.unified_diff(given, lines, "job script", "better", n=1, lineterm=""))
    return [f"{_plain(copyable.title)}:", *(f"  {line}" for line in lines)]


def _plain(text: str) -> str:
    """Return prose without the marks of code."""
    return text.replace("`", "")


def table_lines(table: Table, most_rows: int, longest_cell: int = 0) -> list[str]:
    r"""Return a table as lines with aligned columns: its caption, header and first rows, with long cells optionally
    truncated.

    Parameters
    ----------
    table : Table
        The table.
    most_rows : int
        Largest number of rows.
    longest_cell : int, default 0
        Longest cell; longer ones are truncated. [characters]

    Examples
    --------
    >>> from hopperkit.questions.result import Column
    >>> nodes = Table(caption="Nodes", columns=(Column("Kind"), Column("Cores")), rows=(("a", 24), ("b", 6)))
    >>> print("\n".join(table_lines(nodes, 1)))
    Nodes
    Kind  Cores
    a        24
    ... and 1 more row
    """
    rows = [[column.heading for column in table.columns], *table.as_text(most_rows)]
    if longest_cell:
        rows = [
            [cell if len(cell) <= longest_cell else f"{cell[: longest_cell - 3]}..." for cell in row] for row in rows
        ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    lines = [_plain(table.caption)]
    # The head is row -1, so that the numbers of the marked rows fit.
    for number, row in enumerate(rows, start=-1):
        cells = (
            f"{cell:>{width}}" if numeric else f"{cell:<{width}}"
            for cell, width, numeric in zip(row, widths, table.numeric, strict=True)
        )
        mark = f"  <- {table.marked_label}" if number in table.marked else ""
        lines.append(("  ".join(cells) + mark).rstrip())
    left_off = len(table.rows) - most_rows
    return [*lines, f"... and {left_off} more row{'s' * (left_off > 1)}"] if left_off > 0 else lines
