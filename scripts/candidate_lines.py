"""Turn labeled outputs into rows of numbers: `python scripts/candidate_lines.py FOLDER ...` adds them to the table.

A folder contains outputs and a ``labels.csv`` with the columns files, origin, expect (cause, unknown, success, none)
and true_cause (pieces of the true lines, separated by `` || ``). The table keeps one row per candidate line: which set,
which output, a number for its repository, whether it failed, whether the line is true, and the features in percent. It
keeps no text. Outputs of a set that is in the table already are replaced.
"""

import csv
import io
import lzma
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from hopperlib.failure.messages.scanner import Scanner
from hopperlib.failure.ranker.features import Line, numbers

TABLE = Path(__file__).with_name("candidate_lines.csv.xz")
_HEAD = ("set", "output", "repository", "expect", "true")


def squeezed(text: str) -> str:
    """Return a text without differences of blanks and case."""
    return " ".join(text.split()).lower()


def lines_of(files: list[Path]) -> list[Line]:
    """Return the lines that the ranker is given of an output."""
    scanner = Scanner()
    for file in files:
        scanner.read(file.name, io.BytesIO(file.read_bytes()))
    return [
        Line(place, number, text.decode(errors="replace"))
        for place, read in enumerate(scanner.evidence.files)
        for number, text in read.window.lines()
    ]


def rows_of(folder: Path, repositories: dict[str, int]) -> Iterator[dict[str, object]]:
    """Yield the rows of a folder of labeled outputs."""
    with (folder / "labels.csv").open(encoding="utf-8") as table:
        labels = list(csv.DictReader(table))
    for output, label in enumerate(labels):
        files = [folder / name for name in re.split(r"[ ;+]+", label["files"])]
        if not all(file.exists() for file in files):
            print(f"{folder.name}: {label['files']}: not there", file=sys.stderr)
            continue
        name = re.search(r"[\w.-]+/[\w.-]+", label.get("origin") or "")
        repository = repositories.setdefault(name[0] if name else label["files"], len(repositories))
        keys = [squeezed(key) for key in label["true_cause"].split(" || ") if key.strip()]
        lines = lines_of(files)
        for one, found in numbers(lines):
            said = (squeezed(lines[one.first].text), squeezed(lines[one.last].text))
            true = label["expect"] == "cause" and any(key in text for key in keys for text in said)
            head = (folder.name, output, repository, label["expect"], int(true))
            yield dict(zip(_HEAD, head, strict=True)) | {key: round(100 * value) for key, value in found.items()}


def read_table() -> list[dict[str, str]]:
    """Return the rows of the table."""
    if not TABLE.exists():
        return []
    with lzma.open(TABLE, "rt", encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def main(folders: list[str]) -> int:
    """Add folders to the table; return the exit status."""
    names = {Path(folder).name for folder in folders}
    kept: list[dict[str, object]] = [dict(row) for row in read_table() if row["set"] not in names]
    used = max((int(str(row["repository"])) for row in kept), default=-1) + 1
    repositories: dict[str, int] = {f"#{number}": number for number in range(used)}
    for folder in folders:
        kept += rows_of(Path(folder), repositories)
    with lzma.open(TABLE, "wt", preset=9, encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, list(kept[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    print(f"{TABLE.name}: {len(kept):,} candidate lines, {TABLE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
