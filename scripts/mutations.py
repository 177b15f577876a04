"""Change `hopperlib` in one small place at a time, and see whether the tests of the folder notice.

    python scripts/mutations.py --seed 1 --count 80 --table data/mutations.csv

A change swaps an operator or a comparison, adds 1 to a number, turns `and` into `or`, or drops a `not`; places are
drawn with the seed: the folders in turn, then a file, then a place in it. A mutation that a folder's tests and doctests
do not detect is a gap in the tests, or an equivalent change, such as `<` for `<=` where equal values cannot occur. The
working tree must have no changes, as files are changed in it and put back.
"""

import argparse
import ast
import csv
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "hopperlib"
# Longest time that the tests of one change may take before it counts as noticed: an endless loop. [s]
_LIMIT_S = 600
_SWAPS: dict[type[ast.AST], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.And: "or", ast.Or: "and",
}  # fmt: skip
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: "and", ast.Or: "or",
}  # fmt: skip


class Mutation(NamedTuple):
    """One change: file, line, and the text of the file before and after."""

    path: Path
    line: int
    before: str
    after: str
    text: str


def _offsets(text: str) -> list[int]:
    """Return the offset in bytes at which each line begins."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _places(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.AST, ast.expr]]:
    """Yield operators with the expressions to their left and right."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            yield node.left, node.op, node.right
        elif isinstance(node, ast.Compare):
            yield node.left, node.ops[0], node.comparators[0]
        elif isinstance(node, ast.BoolOp):
            yield node.values[0], node.op, node.values[1]


def mutations(path: Path) -> list[Mutation]:
    """Return every change of a file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    raw, starts, tree = text.encode(), _offsets(text), ast.parse(text)
    lines = text.split("\n")
    found: list[Mutation] = []

    def add(line: int, start: int, end: int, new: str) -> None:
        after = (raw[:start] + new.encode() + raw[end:]).decode()
        found.append(Mutation(path, line, lines[line - 1].strip(), after.split("\n")[line - 1].strip(), after))

    for left, operator, right in _places(tree):
        start = starts[left.end_lineno - 1] + left.end_col_offset  # type: ignore[operator]
        end = starts[right.lineno - 1] + right.col_offset
        sign = _SIGNS.get(type(operator))
        between = raw[start:end].decode()
        if sign and between.count(sign) == 1 and "#" not in between:
            at = start + len(between[: between.index(sign)].encode())
            line = text.encode()[:at].count(b"\n") + 1
            add(line, at, at + len(sign), _SWAPS[type(operator)])
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.lineno == node.end_lineno:
            start = starts[node.lineno - 1] + node.col_offset
            add(node.lineno, start, starts[node.lineno - 1] + node.end_col_offset, f"({node.value!r} + 1)")  # type: ignore[operator]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start = starts[node.lineno - 1] + node.col_offset
            add(node.lineno, start, starts[node.operand.lineno - 1] + node.operand.col_offset, "")
    return sorted(found, key=lambda one: one.line)


def _tests_of(path: Path) -> list[str]:
    """Return the tests of a file: those of its folder, and its doctests."""
    room = path.relative_to(LIBRARY).parts[0]
    folder = ROOT / "tests" / room
    tests = [folder] if folder.is_dir() else sorted(ROOT.glob("tests/test_*.py"))
    if room == "storage":
        tests.append(ROOT / "tests/contention")
    return [str(test) for test in (*tests, path)]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def noticed(change: Mutation) -> bool:
    """Return whether the tests fail with a change; the file is restored afterwards."""
    before = change.path.read_text(encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-m",
        "not browser and not nightly",
    ]
    try:
        change.path.write_text(change.text, encoding="utf-8")
        done = subprocess.run(
            [*command, *_tests_of(change.path)], cwd=ROOT, capture_output=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    finally:
        change.path.write_text(before, encoding="utf-8")
    return done.returncode != 0


def drawn(seed: int, count: int) -> list[Mutation]:
    """Return changes drawn at random, from the folders in turn."""
    rng = random.Random(seed)
    rooms: dict[str, list[Path]] = {}
    for path in sorted(LIBRARY.rglob("*.py")):
        rooms.setdefault(path.relative_to(LIBRARY).parts[0], []).append(path)
    folders = [paths for name, paths in sorted(rooms.items()) if not name.endswith(".py")]
    folders.append([path for name, paths in sorted(rooms.items()) if name.endswith(".py") for path in paths])
    picked: list[Mutation] = []
    while len(picked) < count:
        path = rng.choice(folders[len(picked) % len(folders)])
        choices = mutations(path)
        if choices and _is_python((change := rng.choice(choices)).text):
            picked.append(change)
    return picked


def main() -> None:
    """Try the changes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--table", type=Path, help="file that gets a row for each change")
    given = parser.parse_args()
    if subprocess.run(["git", "status", "--porcelain", "hopperlib"], cwd=ROOT, capture_output=True, check=True).stdout:
        sys.exit("hopperlib has changes that are not committed; they could be lost")
    rows = []
    for change in drawn(given.seed, given.count):
        seen = noticed(change)
        rows.append((change.path.relative_to(ROOT), change.line, change.before, change.after, "yes" if seen else "NO"))
        print(f"{rows[-1][4]:3} {rows[-1][0]}:{change.line}: {change.before}  ->  {change.after}", flush=True)
    print(f"{sum(row[4] == 'yes' for row in rows)} of {len(rows)} noticed")
    if given.table:
        with given.table.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(("file", "line", "before", "after", "noticed"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
