"""Run the benchmarks: ``python -m benchmarks [NAME ...]``.

Each ``bench_NAME.py`` has a function ``measure`` that returns `Comparison` rows. The rows are printed side by side
and written to ``_build/benchmarks/NAME.json`` with the machine they were measured on; a function ``plot``, if there is
one, makes a figure of them for ``NAME.html``.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import plotly.graph_objects
from rich.console import Console
from rich.table import Table

from benchmarks.side_by_side import Comparison
from hopperlib import __version__

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / "_build" / "benchmarks"


def _time(seconds: float | None) -> str:
    """Return a time as text, in the unit that suits it."""
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


def _show(name: str, rows: list[Comparison]) -> None:
    """Print one benchmark as a table."""
    table = Table("work", "here", "peer", "peer's", "here / peer", title=name, title_justify="left")
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        what = f"{row.what}\n({row.note})" if row.note else row.what
        table.add_row(what, _time(row.ours_s), row.peer, _time(row.peer_s), ratio)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _write(name: str, rows: list[Comparison]) -> None:
    """Write one benchmark as JSON, with what it was measured on."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    record = {
        "benchmark": name,
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "hopperlib": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "rows": [dataclasses.asdict(row) | {"ratio": row.ratio} for row in rows],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def main(names: list[str]) -> int:
    """Run the benchmarks named, or all; return the exit status."""
    known = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    if unknown := set(names) - set(known):
        print(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        module = importlib.import_module(f"benchmarks.bench_{name}")
        rows = module.measure()
        _show(name, rows)
        _write(name, rows)
        if hasattr(module, "plot"):
            figure = RESULTS / f"{name}.html"
            plotly.graph_objects.Figure(module.plot(rows)).write_html(figure)
            print(f"plotted in _build/benchmarks/{figure.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
