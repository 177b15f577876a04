"""A machine as one record, read from a TOML file."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from hopperlib import units
from hopperlib.errors import did_you_mean, refusal
from hopperlib.machine import _rules
from hopperlib.machine.parts import FileSystem, Launcher, Network, NodeKind, OtherStorage, QueueLimit
from hopperlib.package_data import load_text_resource, load_toml_resource, resource_names
from hopperlib.schema import (
    Quantity,
    TableError,
    Value,
    key,
    provenance_field,
    read_record,
    read_records,
    read_toml,
    sourced,
)

if TYPE_CHECKING:
    from pathlib import Path

# Folder of the machine files in the library, relative to this package.
_MACHINES = "../machines"


class MachineError(TableError):
    """A machine file that cannot be used.

    Attributes
    ----------
    problems : tuple of str
        All errors, one sentence each: file, key, value, rule.
    """

    more = "; `hopper machine check` lists them all"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Machine:
    """A machine: its nodes, network, file systems and launchers.

    Attributes
    ----------
    name, title, model, site : str
        Its name on the command line, its title on a page, the vendor's model, and its site.
    notes : tuple of str
        Notes in the file.
    signs : tuple of str
        Words that occur only in this machine's job scripts: its name, paths, tools.
    queues : tuple of str
        Requests in its jobs, possibly shared with other machines: ``partition=standard``, ``qos=debug``,
        ``constraint=gpu``, ``account=_g``.
    complete_queues : tuple of str
        Kinds of request of which `queues` lists every value: ``partition``, ``qos``, ``constraint``, ``queue``.
    node_kinds : tuple of NodeKind
        The ordinary kind first.
    network : Network or None
        The network between the nodes.
    file_systems : tuple of FileSystem
    other_storages : tuple of OtherStorage
        Parallel file systems.
    limits : tuple of QueueLimit
        The site's limits for jobs of its queues.
    launchers : tuple of Launcher
        The machine's launcher first.
    provenance : mapping
        Dotted key -> Quantity, for each fact of the file.
    sources : mapping
        Source key -> citation.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> hopper.nodes, hopper.cores
    (6384, 153216)
    >>> hopper.provenance["node.standard.memory_gb"].source
    'antypas2011'
    """

    name: str = key(pattern=r"[a-z0-9][a-z0-9_-]*", why="it names the file and is used on command lines")
    title: str
    model: str
    site: str
    notes: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    complete_queues: tuple[str, ...] = sourced((), pattern="partition|qos|constraint|queue", why="as a job requests it")
    node_kinds: tuple[NodeKind, ...] = key(name="node", least=1)
    network: Network | None = None
    file_systems: tuple[FileSystem, ...] = key(name="file_system", least=0)
    other_storages: tuple[OtherStorage, ...] = key(name="other_storage", least=0)
    limits: tuple[QueueLimit, ...] = key((), name="limit", least=0)
    launchers: tuple[Launcher, ...] = key(name="launcher", least=0)
    provenance: Mapping[str, Quantity] = provenance_field()
    sources: Mapping[str, str] = provenance_field()

    @property
    def wired(self) -> bool:
        """Whether the file describes the wiring of the network."""
        network = self.network
        return network is not None and bool(network.dragonfly or network.fat_tree or network.link_bandwidth_gb_s)

    @staticmethod
    @cache
    def names() -> tuple[str, ...]:
        """Names of the machines in the library.

        Examples
        --------
        >>> "hopper" in Machine.names()
        True
        """
        files = resource_names(__file__, _MACHINES)
        return tuple(name.removesuffix(".toml") for name in files if name.endswith(".toml"))

    @staticmethod
    @cache
    def titles() -> dict[str, str]:
        """Return the titles of the machines by name, as their centers write them; only the title line of each file is
        read.

        Examples
        --------
        >>> Machine.titles()["lumi-g"]
        'LUMI-G'
        """
        texts = ((name, load_text_resource(__file__, f"{_MACHINES}/{name}.toml")) for name in Machine.names())
        found = ((name, re.search(r'^title = "(.+)"$', text, re.MULTILINE)) for name, text in texts)
        return {name: title[1] if title else name for name, title in found}

    @staticmethod
    def load(name_or_path: "str | Path") -> "Machine":
        """Read a machine by its name, or from a file.

        Parameters
        ----------
        name_or_path : str or Path
            A name from `names`, or a path: a text that ends in ``.toml`` or contains a ``/``.

        Raises
        ------
        MachineError
            If there is no such machine or file, or the file breaks a rule.

        Examples
        --------
        >>> Machine.load("hopper").node().cores
        24
        """
        text = str(name_or_path)
        if isinstance(name_or_path, os.PathLike) or text.endswith(".toml") or "/" in text:
            return Machine.from_toml(_text_of(text), name=os.path.basename(text))
        return _bundled(text)

    @staticmethod
    def from_toml(text: str, *, name: str = "machine file") -> "Machine":
        """Read a machine from the text of a TOML file.

        Parameters
        ----------
        text : str
            The file's text.
        name : str
            Name of the file in messages.

        Raises
        ------
        MachineError
            If the text is not TOML, or breaks a rule; `problems` lists all errors.

        Examples
        --------
        >>> try:
        ...     Machine.from_toml('nmae = "mine"', name="mine.toml")
        ... except MachineError as error:
        ...     print(error.problems[0])
        mine.toml: nmae = 'mine': is not a key; did you mean 'name'?
        """
        return Machine.from_document(read_toml(text, name=name, error=MachineError), name=name)

    @staticmethod
    def from_document(document: dict[str, Any], *, name: str) -> "Machine":
        """Read a machine from parsed TOML.

        Parameters
        ----------
        document : dict
            Output of a TOML parser, or of `to_document` of another machine.
        name : str
            Name of the file in messages.

        Raises
        ------
        MachineError
            If it breaks a rule; `problems` lists all errors.

        Examples
        --------
        >>> document = Machine.load("hopper").to_document()
        >>> Machine.from_document(document, name="hopper.toml") == Machine.load("hopper")
        True
        """
        return read_record(Machine, _without_likes(document, name), name=name, error=MachineError)

    def to_document(self) -> dict[str, Any]:
        """Return the tables of the machine's file, as a TOML parser would give them.

        Examples
        --------
        >>> Machine.load("hopper").to_document()["node"][1]["count"]["value"]
        384
        """
        # Most programs that read a machine never write one.
        from hopperlib.schema.writing import document_of

        return document_of(self)

    def to_toml(self) -> str:
        """Return the text of the machine's file; reading it returns an equal machine.

        Examples
        --------
        >>> hopper = Machine.load("hopper")
        >>> Machine.from_toml(hopper.to_toml()) == hopper
        True
        """
        from hopperlib.schema.writing import to_toml

        return to_toml(self)

    def broken_rules(self) -> Iterator[str]:
        """Yield inconsistencies between values that are valid individually: key, value, rule.

        Examples
        --------
        >>> list(Machine.load("hopper").broken_rules())
        []
        """
        return chain(
            *map(_rules.node_rules, self.node_kinds),
            _rules.network_rules(self.network, self.nodes) if self.network else (),
            *map(_rules.file_system_rules, self.file_systems),
            *(_rules.launcher_rules(launcher, self.provenance) for launcher in self.launchers),
        )

    def with_value(self, path: str, value: Value, *, assumed: str) -> "Machine":
        """Return a copy of the machine with one value changed, for a what-if question.

        Parameters
        ----------
        path : str
            Dotted key of a fact, as in `provenance`: ``node.standard.count``.
        value : bool, int, float, str or tuple
            The new value, in the key's unit.
        assumed : str
            The reason; it replaces the source.

        Raises
        ------
        MachineError
            If the machine has no such fact, or the change breaks a rule.

        Examples
        --------
        >>> hopper = Machine.load("hopper")
        >>> half = hopper.with_value("node.standard.numa_bandwidth_gb_s", 10.65, assumed="one channel of two")
        >>> half.node().bandwidth_gb_s
        42.6
        """
        if path not in self.provenance:
            raise MachineError((f"{self.name}: path='{path}' is not a fact of the machine; `provenance` lists them",))
        document = self.to_document()
        place: Any = document
        *folders, key = path.split(".")
        for folder in folders:
            # A path uses the name of a table, the document its index in the array.
            if isinstance(place, list):
                place = next(table for table in place if folder in (table.get("name"), table.get("kind")))
            else:
                place = place[folder]
        place[key] = {"value": list(value) if isinstance(value, tuple) else value, "assumed": assumed}
        return Machine.from_document(document, name=self.name)

    def node(self, kind: str | None = None) -> NodeKind:
        """Return a kind of node by name, by default the ordinary one.

        Parameters
        ----------
        kind : str or None
            Name of the kind, such as ``standard``; None for the first kind.

        Raises
        ------
        ValueError
            If the machine has no such kind.

        Examples
        --------
        >>> Machine.load("hopper").node("large-memory").memory_gb
        64
        """
        if kind is None:
            return self.node_kinds[0]
        for node in self.node_kinds:
            if node.name == kind:
                return node
        known = ", ".join(node.name for node in self.node_kinds)
        raise refusal("kind", kind, f"is not a kind of node of {self.name}; there are: {known}")

    def launcher(self, kind: str | None = None) -> Launcher:
        """Return a launcher by kind, by default the machine's first. For a kind that the machine lacks, a general
        launcher is returned, with the reason in `assumed`.

        Parameters
        ----------
        kind : str or None
            ``aprun``, ``srun``, ``pals``, ``openmpi``, ``mpich`` or ``intelmpi``; None for the machine's first
            launcher.

        Raises
        ------
        ValueError
            If the kind is not supported.

        Examples
        --------
        >>> Machine.load("hopper").launcher().kind
        'aprun'
        """
        if kind is None and self.launchers:
            return self.launchers[0]
        for launcher in self.launchers:
            if launcher.kind == kind:
                return launcher
        general = general_launchers()
        wanted = kind or "srun"
        if wanted not in general:
            raise ValueError(f"kind='{kind}' is not a supported launcher; there are: {', '.join(general)}")
        return general[wanted]

    @property
    def nodes(self) -> int:
        """Compute nodes."""
        return sum(node.count for node in self.node_kinds)

    @property
    def cores(self) -> int:
        """Cores of the compute nodes."""
        return sum(node.count * node.cores for node in self.node_kinds)

    @property
    def peak_tflops(self) -> float:
        """Peak of the compute nodes. [Tflop/s]

        Examples
        --------
        Printed, cut off, as 1.28 PFlops (Antypas and He 2011, sec. 1):

        >>> round(Machine.load("hopper").peak_tflops, 3)
        1287.014
        """
        return sum(node.count * node.peak_gflops for node in self.node_kinds) / 1_000

    @property
    def memory_gb(self) -> float:
        """Memory of the compute nodes. [GB, binary]"""
        return sum(node.count * node.memory_gb for node in self.node_kinds)

    @property
    def memory_tb(self) -> float:
        """Memory of the compute nodes, divided by 1,000. [TB]

        Examples
        --------
        Printed as "over 217 TB" (Antypas and He 2011, sec. 1):

        >>> Machine.load("hopper").memory_tb
        216.576
        """
        return units.memory_tb(self.memory_gb)

    @property
    def memory_tib(self) -> float:
        """Memory of the compute nodes, divided by 1,024. [TiB]

        Examples
        --------
        Printed as 212 TB (He and Antypas 2012, slide "Hopper Configuration"):

        >>> Machine.load("hopper").memory_tib
        211.5
        """
        return units.memory_tib(self.memory_gb)

    @property
    def core_hours_per_day(self) -> int:
        """Core-hours available per day. [core h]

        Examples
        --------
        Printed as 3.6 million (Antypas and He 2011, sec. 1):

        >>> Machine.load("hopper").core_hours_per_day
        3677184
        """
        return self.cores * units.HOURS_PER_DAY


def _without_likes(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a document in which each table of an array includes the values of the table named in ``like``."""
    arrays = {key: document.get(key) for key in ("node", "file_system")}
    return document | {key: _filled(key, part, name) for key, part in arrays.items() if isinstance(part, list)}


def _filled(array: str, tables: list[Any], name: str) -> list[Any]:
    """Return the tables of an array, each with the values copied from the table that it names."""
    filled: list[Any] = []
    for table in tables:
        like = table.get("like") if isinstance(table, dict) else None
        other = next((each for each in filled if like is not None and each.get("name") == like), None)
        if like is not None and other is None:
            rule = f"must name an earlier [[{array}]]"
            raise MachineError((f"{name}: {array}.like = {like!r}: {rule}",))
        filled.append(other | {key: value for key, value in table.items() if key != "like"} if other else table)
    return filled


def _text_of(path: str) -> str:
    """Return the text of a file, or raise an error with the reason."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise MachineError((f"{path}: cannot be read: {error.strerror or error}",)) from None
    except UnicodeDecodeError as error:
        raise MachineError((f"{path}: byte {error.start} is not UTF-8, the encoding of TOML",)) from None


@cache
def _bundled(name: str) -> "Machine":
    """Read one of the library's machines, once."""
    known = Machine.names()
    if name not in known:
        # The message already contains the names.
        near = did_you_mean(name, known)
        hint = near if "did you mean" in near else ""
        listed = ", ".join(known)
        raise MachineError(
            (f"machine='{name}' is neither a machine ({listed}) nor a path (which ends in .toml or has a /){hint}",)
        )
    return Machine.from_document(load_toml_resource(__file__, f"{_MACHINES}/{name}.toml"), name=f"{name}.toml")


class Signs(NamedTuple):
    """Typical contents of a machine's job scripts: specific words, requests, launchers."""

    words: tuple[str, ...]
    queues: tuple[str, ...]
    launchers: tuple[str, ...]


def signs_of(name: str) -> Signs:
    """Return the evidence that identifies a library machine in scripts, without reading its parts.

    Parameters
    ----------
    name : str
        Name of a machine in the library.

    Raises
    ------
    MachineError
        If there is no such machine.

    Examples
    --------
    >>> signs_of("edison").words
    ('edison',)
    """
    document = load_toml_resource(__file__, f"{_MACHINES}/{name}.toml")
    # A launcher that is only assumed never ran on the machine.
    launchers = tuple(each["kind"] for each in document.get("launcher", ()) if "assumed" not in each)
    return Signs(tuple(document.get("signs", ())), tuple(document.get("queues", ())), launchers)


@cache
def general_launchers() -> dict[str, Launcher]:
    """Return the general launchers by kind, for machines without a launcher of that kind.

    Examples
    --------
    >>> sorted(general_launchers())
    ['aprun', 'srun']
    """
    document = load_toml_resource(__file__, f"{_MACHINES}/general/launchers.toml")
    return {each.kind: each for each in read_records(Launcher, document, "launcher", name="launchers.toml")}
