"""The source of both packages as these tests see it: read and parsed, not imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

#: Parts of each package, the lowest first: each imports from itself and from those before it in this list, never from
#: those after it. A package imports from those before it, never from those after it.
PARTS = {
    "hopperlib": (
        "errors",
        "package_data",
        "units",
        "student",
        "text",
        "packed",
        "finding",
        "tables",
        "schema",
        "data_files",
        "contention",
        "machine",
        "contention",
        "placement",
        "scheduling",
        "network",
        "storage",
        "failure",
        "monitoring",
    ),
    "hopperkit": (
        "frames",
        "launchers",
        "filesystems",
        "traces",
        "histories",
        "variation",
        "variation",
        "iologs",
        "readers",
        "failures",
        "questions",
        "render",
        "analysis",
        "api",
        "cli",
        "__main__",
    ),
}
PACKAGES = (*PARTS, "hopperbook")
#: Parts of hopperkit that use only the standard library, because they run unchanged in the reader's browser, as hopperlib does;
BROWSER_PARTS = PARTS["hopperkit"][: PARTS["hopperkit"].index("render")]
#: and the modules of the next part that the page needs.
BROWSER_MODULES = tuple(f"hopperkit.render{module}" for module in ("", ".answer", ".data", ".html", ".text"))


@dataclass(frozen=True)
class Source:
    """One module of the packages: its dotted name and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def package(self) -> str:
        """The package it belongs to."""
        return self.name.split(".")[0]

    @property
    def part(self) -> str:
        """The part of the package it belongs to: ``launchers`` for ``hopperkit.launchers.reader``."""
        return self.name.split(".")[1] if "." in self.name else ""

    @property
    def is_core(self) -> bool:
        """Whether it must run without any package, in CPython and in the browser."""
        return self.package == "hopperlib" or (
            self.package == "hopperkit" and (self.part in BROWSER_PARTS or self.name in BROWSER_MODULES)
        )

    @property
    def is_question(self) -> bool:
        """Whether it declares a question, whose answers are in one reviewed file."""
        return self.part == "questions" and any(
            getattr(node, "id", "") == "QUESTION" and isinstance(node.ctx, ast.Store) for node in ast.walk(self.tree)
        )

    @property
    def exported(self) -> list[str]:
        """Names in ``__all__``, if a module re-exports names; otherwise its names without an underscore."""
        names = []
        for statement in self.tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    return list(ast.literal_eval(value))
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if not name.startswith("_"):
                    names.append(name)
        return names

    def imports(self) -> Iterator[tuple[str, int]]:
        """Yield name and line of every import of the module, those in functions and under TYPE_CHECKING too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, (
                    f"{self.name}, line {node.lineno}: imports are written out, from the package down"
                )
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


@pytest.fixture(scope="session")
def sources(root: Path) -> list[Source]:
    """Every module of the packages, parsed."""
    found = []
    for top in (root / "hopperlib", root / "hopperkit", root / "book" / "hopperbook"):
        for path in sorted(top.rglob("*.py")):
            parts = path.relative_to(top.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Source(name, path, ast.parse(path.read_text(encoding="utf-8"), str(path))))
    return found


@pytest.fixture(scope="session")
def library(sources: list[Source]) -> list[Source]:
    """The modules of hopperlib and hopperkit, which a wheel holds."""
    return [source for source in sources if source.package in PARTS]


@pytest.fixture(scope="session")
def core(library: list[Source]) -> list[Source]:
    """The modules that run without any package."""
    return [source for source in library if source.is_core]
