"""The source of the package as these tests see it: read and parsed, not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# Pure standard library, runs unchanged in the reader's browser.
CORE = (
    "packed",
    "units",
    "errors",
    "finding",
    "tables",
    "documented",
    "machine",
    "node",
    "network",
    "storage",
    "failure",
    "monitoring",
    "readers",
    "questions",
)
# What the browser needs of a part that it does not have as a whole.
CORE_MODULES = tuple(f"hopperlib.render{module}" for module in ("", ".answer", ".data", ".html", ".text"))


@dataclass(frozen=True)
class Imported:
    """One import: the module asked for, its line, and whether it happens when the importing module loads."""

    name: str
    line: int
    at_load: bool


@dataclass(frozen=True)
class Source:
    """One module of the package: its dotted name and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def part(self) -> str:
        """The part of the package it belongs to: ``node`` for ``hopperlib.node.launch.reader``."""
        return self.name.split(".")[1] if "." in self.name else ""

    @property
    def is_core(self) -> bool:
        """Whether it must run without any package, in CPython and in the browser."""
        return self.part in CORE or self.name in CORE_MODULES

    @property
    def exported(self) -> list[str]:
        """Names in ``__all__``, where a module hands on what others define; else what it defines without an underscore."""
        names = []
        for statement in self.tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    return list(ast.literal_eval(value))
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if not name.startswith("_"):
                    names.append(name)
        return names

    def imports(self) -> Iterator[Imported]:
        """Every import of the module, in functions and under TYPE_CHECKING too."""
        package = self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

        def walk(node: ast.AST, at_load: bool) -> Iterator[Imported]:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.Import):
                    for alias in child.names:
                        yield Imported(alias.name, child.lineno, at_load)
                elif isinstance(child, ast.ImportFrom):
                    base = child.module or ""
                    if child.level:
                        above = package.split(".")[: len(package.split(".")) - child.level + 1]
                        base = ".".join([*above, base] if base else above)
                    for alias in child.names:
                        yield Imported(f"{base}.{alias.name}", child.lineno, at_load)
                else:
                    lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
                        isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                    )
                    yield from walk(child, at_load and not lazy)

        yield from walk(self.tree, True)


def _read(root: Path) -> list[Source]:
    """Parse every module of the package."""
    sources = []
    for path in sorted((root / "hopperlib").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources.append(Source(name, path, ast.parse(path.read_text(encoding="utf-8"), str(path))))
    return sources


ROOT = Path(__file__).resolve().parents[2]
SOURCES = _read(ROOT)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that take ``source`` once a module, ``core_source`` once a module of the core."""
    if "source" in metafunc.fixturenames:
        metafunc.parametrize("source", SOURCES, ids=lambda source: source.name)
    if "core_source" in metafunc.fixturenames:
        core = [source for source in SOURCES if source.is_core]
        metafunc.parametrize("core_source", core, ids=lambda source: source.name)


@pytest.fixture(scope="session")
def sources() -> list[Source]:
    """Every module of the package, parsed."""
    return SOURCES
