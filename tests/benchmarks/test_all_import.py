"""Every benchmark can be imported: no test runs them, so that a renamed part would be noticed by a reader first."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    module = importlib.import_module(f"benchmarks.{name}")
    assert not name.startswith("bench_") or callable(module.measure)
