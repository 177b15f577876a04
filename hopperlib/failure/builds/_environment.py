"""Environment of a build: modules and variables in pasted text.

The module reads the output of ``module list`` (Tcl modules and Lmod, long or terse), ``module load``, ``unload``,
``swap`` and ``purge`` lines of a script, ``ml``, the variable ``LOADEDMODULES``, and lines that set other variables.
Commands take effect in order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from hopperlib.failure.builds.versions import in_range

# Longest line that is read. [characters]
_LONGEST = 20_000
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_NUMBERED = re.compile(r"(?<!\S)(\d{1,4})\) {0,4}([^\s()]{1,200})(?: {0,2}\([^()]{0,30}\)){0,3}")
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]{0,100}(?:/[\w.+-]{1,100}){0,5}", re.ASCII)
_SET = re.compile(r"(?:export +|setenv +)?([A-Za-z_]\w{0,80})(?:=| +)(.{0,20000})", re.ASCII)
_COMMAND = re.compile(r"(?:module|ml) +(load|add|try-load|unload|rm|del|swap|switch|purge)\b *(.{0,2000})")
_HEADINGS = ("currently loaded", "where:", "no modulefiles", "no modules", "inactive modules", "key:")
_SPEC = re.compile(r"([^<>=]{1,100})((?:[<>=]{1,2}[\w.+-]{1,80})?)", re.ASCII)


class Module(NamedTuple):
    """A loaded module: name, and version (empty if none is named)."""

    name: str
    version: str

    @property
    def text(self) -> str:
        """Name and version as modules write them."""
        return f"{self.name}/{self.version}" if self.version else self.name

    def fits(self, spec: str) -> bool:
        """Whether the module matches ``name``, a pattern such as ``PrgEnv-*``, or ``name>=version``.

        An unknown version satisfies no bound.
        """
        parts = _SPEC.fullmatch(spec)
        if parts is None:
            raise ValueError(f"module={spec!r} must be a name, or a name and a bound such as fftw>=3")
        name, bound = parts[1].strip(), parts[2]
        if not (fnmatchcase(self.name, name) or fnmatchcase(self.name.rpartition("/")[2], name)):
            return False
        return not bound or (self.version != "" and in_range(self.version, bound))


def _module(text: str) -> Module:
    """Split name and version; the version follows the last slash."""
    name, slash, version = text.rpartition("/")
    return Module(name, version) if slash else Module(text, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Modules and variables.

    Parameters
    ----------
    modules : tuple of Module
        In the order in which they were loaded.
    variables : dict of str to str
    unread : tuple of str
        Lines that could not be read.
    """

    modules: tuple[Module, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def loaded(self, *specs: str) -> tuple[Module, ...]:
        """Return the modules that match any of the specifications."""
        return tuple(module for module in self.modules if any(module.fits(spec) for spec in specs))


class _Reader:
    """Reads lines in order and tracks the loaded modules."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.variables: dict[str, str] = {}
        self.unread: list[str] = []
        self.numbered: list[tuple[int, Module]] = []

    def add(self, modules: Iterable[Module]) -> None:
        """Load modules; each replaces a loaded module of the same name."""
        for module in modules:
            self.modules[module.name] = module

    def drop(self, names: Iterable[str]) -> None:
        """Unload modules, by name or by name and version."""
        for name in names:
            self.modules.pop(name, None)
            self.modules.pop(name.rpartition("/")[0], None)

    def command(self, verb: str, words: list[str]) -> None:
        """Apply a module command."""
        names = [word for word in words if not word.startswith("-") and _NAME.fullmatch(word)]
        if verb == "purge":
            self.modules.clear()
        elif verb in ("unload", "rm", "del"):
            self.drop(names)
        else:
            if verb in ("swap", "switch"):
                # With a single name, another version replaces the module of that name.
                self.drop(names[:-1] if len(names) > 1 else [names[0].rpartition("/")[0]] if names else [])
                names = names[-1:]
            self.add(_module(name) for name in names)

    def flush(self) -> None:
        """Load the modules of a numbered list in the order of the numbers: the list is printed in columns."""
        self.add(module for _, module in sorted(self.numbered, key=lambda numbered: numbered[0]))
        self.numbered.clear()

    def line(self, line: str) -> None:
        """Read one line."""
        if not _NUMBERED.search(line):
            self.flush()
        command = _COMMAND.match(line)
        if command:
            self.command(command[1], command[2].partition("#")[0].split())
        elif line.startswith("ml "):
            words = line.split()[1:]
            self.drop(word[1:] for word in words if word.startswith("-"))
            self.add(_module(word) for word in words if _NAME.fullmatch(word))
        elif _NUMBERED.search(line):
            found = _NUMBERED.findall(line)
            self.numbered += [(int(number), _module(text)) for number, text in found if _NAME.fullmatch(text)]
        elif not self._variable(line) and not self._bare(line):
            self.unread.append(line)

    def _variable(self, line: str) -> bool:
        """Read a line that sets a variable."""
        setting = _SET.fullmatch(line)
        if setting is None or not (
            line.startswith(("export ", "setenv ")) or line[len(setting[1]) : len(setting[1]) + 1] == "="
        ):
            return False
        value = setting[2].strip().strip("'\"")
        if setting[1] == "LOADEDMODULES":
            self.add(_module(name) for name in value.split(":") if _NAME.fullmatch(name))
        else:
            self.variables[setting[1]] = value
        return True

    def _bare(self, line: str) -> bool:
        """Read bare names: one per line, or several if all have a version."""
        words = re.sub(r"\((?:default|D|L)\)", "", line.replace(":", " ")).split()
        if not words or not all(_NAME.fullmatch(word) for word in words):
            return False
        # Several words without a version are more likely a sentence.
        if len(words) > 1 and not all("/" in word for word in words):
            return False
        self.add(_module(word) for word in words)
        return True


def read_environment(text: str) -> Environment:
    """Return the modules and variables in a text."""
    reader = _Reader()
    for raw in text.replace("\r", "\n").replace("\0", " ").split("\n"):
        line = " ".join(_ESCAPES.sub("", raw[:_LONGEST]).split())
        if line and not line.startswith(("#", "---")) and not line.lower().startswith(_HEADINGS):
            if re.match(r"[A-Za-z]: {1,4}[A-Z]", line):
                continue  # the legend under a list of Lmod
            reader.line(line.removeprefix("$ "))
    reader.flush()
    return Environment(
        modules=tuple(reader.modules.values()),
        variables=reader.variables,
        unread=tuple(reader.unread),
    )
