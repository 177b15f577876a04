"""Output of Lustre's commands: ``lfs df``, ``lfs getstripe -d`` (with or without -y), and ``lfs pool_list``, alone or
together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hopperkit.readers.hardware._record import Hardware, guessed, reported
from hopperkit.readers.source import Source, text_of
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine.layouts import Component
from hopperlib.text import count
from hopperlib.units import size_bytes

TARGET = re.compile(r"^(\S{1,80}?)-(?:OST|MDT)[0-9a-fA-F]{4}", re.MULTILINE)
_TARGET = re.compile(
    r"^(\S{1,80}?)-(OST|MDT)([0-9a-fA-F]{4})(?:_UUID)?\s+([\d.]+[kKMGTPE]?)\s+([\d.]+[kKMGTPE]?)\s+\S+\s+(\d+)%\s+(\S+?)(?:\[|\s|$)",
    re.MULTILINE,
)
_INACTIVE = re.compile(r"^(?:\S{1,80}-)?OST([0-9a-fA-F]{4})\S*[ \t]*:[ \t]*[A-Za-z]", re.MULTILINE)
_LAYOUT = re.compile(
    r"(lcm_entry_count|lcm_layout_gen|lcme_flags|lcme_extent\.e_end|(?:lmm_)?(?:stripe_count|stripe_size|pattern|pool)):[ \t]*"
    r"(-?[\w.,-]+)"
)
# Above this fraction, Lustre's allocator avoids an OST, or the OST is slow.
_FULL = 90
_UNEVEN = 17
_DEFAULT = "Lustre's default; lfs getstripe -d of a folder shows the site's"


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreState:
    """A Lustre file system as described by its commands.

    Parameters
    ----------
    name : str
    osts : int
        OSTs that are in use; 0 if no ``lfs df`` was given.
    capacity_pb : float
        [PB]
    used_percent : mapping
        Used fraction of each OST.
    inactive : tuple of int
    stripe_count, stripe_size_bytes : int or None
        Layout of a new file in the folder (its last component); a count of -1 means all OSTs.
    components : tuple of Component
        Components of the folder's layout, with their pools; more than one means a progressive layout. Empty if no ``lfs
        getstripe`` was given.
    pools : mapping
        OSTs of each listed pool.
    """

    name: str
    osts: int
    capacity_pb: float
    used_percent: dict[int, int]
    inactive: tuple[int, ...]
    stripe_count: int | None
    stripe_size_bytes: int | None
    components: tuple[Component, ...]
    pools: dict[str, int]

    @property
    def findings(self) -> Iterator[Finding]:
        """Return facts to know before striping a file."""
        percents = self.used_percent.values()
        full = [ost for ost, percent in self.used_percent.items() if percent >= _FULL]
        if full:
            shown = ", ".join(map(str, full[:12])) + (" ..." if len(full) > 12 else "")
            message = (
                f"{len(full)} of {self.osts} OSTs are at least {_FULL} % full: {shown}. "
                "A file over all OSTs has a piece on each of them."
            )
            yield Finding("full-osts", message, advice="lfs setstripe -c N -o LIST_OF_EMPTIER_OSTS FILE")
        spread = max(percents, default=0) - min(percents, default=0)
        if spread > _UNEVEN:
            message = (
                f"The OSTs are unevenly full, by {spread} percentage points: Lustre then prefers the emptier ones, "
                "and files do not spread evenly."
            )
            yield Finding("uneven-osts", message, "note")
        if self.inactive:
            message = f"Inactive: OST {', '.join(map(str, self.inactive))}; they are not counted."
            yield Finding("inactive-osts", message, "note")
        if self.stripe_count is not None:
            osts = "all OSTs" if self.stripe_count == -1 else count(self.stripe_count, "OST")
            parts = len(self.components)
            last = f", in the last of {parts} components: the layout is progressive"
            pool = f", of the pool {self.components[-1].pool}" if self.components and self.components[-1].pool else ""
            message = f"New files get {osts}{pool}{last if parts > 1 else ''}."
            yield Finding("default-layout", message, "note")


def read_lfs(source: Source) -> LustreState:
    """Parse ``lfs df`` (with or without ``-h``) and ``lfs getstripe -d``.

    Parameters
    ----------
    source : Source
        Text, lines, a path, bytes or an open file.

    Raises
    ------
    InputError
        If the text is from neither command.

    Examples
    --------
    >>> state = read_lfs('''scratch-OST0000_UUID 1000000000 660000000 330000000 66% /scratch[OST:0]
    ... scratch-OST0001_UUID 1000000000 960000000 30000000 97% /scratch[OST:1]
    ... stripe_count:  4 stripe_size:   1048576 pattern: raid0 stripe_offset: -1''')
    >>> state.osts, round(state.capacity_pb, 6), state.stripe_count, [finding.code for finding in state.findings]
    (2, 0.002048, 4, ['full-osts', 'uneven-osts', 'default-layout'])
    """
    text = text_of(source)
    targets = [match for match in _TARGET.finditer(text) if match[2] == "OST"]
    components = _components(text)
    if not targets and not components:
        raise InputError("is not the output of `lfs df` or `lfs getstripe -d`", name="lfs")
    if re.search(r"^UUID\s+Inodes\b", text, re.MULTILINE):
        raise InputError("counts inodes and no space: give `lfs df` without -i", name="lfs")
    names = {match[1] for match in targets}
    if len(names) > 1:
        shown = ", ".join(sorted(names))
        raise InputError(f"contains {len(names)} file systems ({shown}): run `lfs df` with the path of one", name="lfs")
    last = components[-1] if components else Component()
    return LustreState(
        name=next(iter(names), "own"),
        osts=len({match[3].lower() for match in targets}),
        capacity_pb=sum(_bytes(match[4]) for match in targets) / 1e15,
        used_percent={int(match[3], 16): int(match[6]) for match in targets},
        inactive=tuple(int(number, 16) for number in _INACTIVE.findall(text)),
        stripe_count=last.stripe_count,
        stripe_size_bytes=last.stripe_size_bytes,
        components=components,
        pools=_pools(text),
    )


def _components(text: str) -> tuple[Component, ...]:
    """Return the layout printed by ``lfs getstripe -d``, with or without -y; if it lists several folders, that of the
    last.
    """
    parts: list[Component] = []
    growing = False
    for match in _LAYOUT.finditer(text):
        key, word = match[1].removeprefix("lmm_"), match[2]
        if key in ("lcm_entry_count", "lcm_layout_gen"):
            parts, growing = [], False
        elif key == "lcme_flags":
            growing = "extension" in word
        elif key == "lcme_extent.e_end":
            end = None if word.upper() == "EOF" else int(word)
            # An extension of a component is printed as a separate component.
            parts = (
                [*parts[:-1], replace(parts[-1], end_bytes=end)]
                if growing and parts
                else [*parts, Component(end_bytes=end)]
            )
        elif not growing:
            parts = _described(parts, key, word)
    return tuple(part for part in parts if part.stripe_count is not None or part.on_mdt)


def _described(parts: list[Component], key: str, word: str) -> list[Component]:
    """Return the components after adding one property to the last; a second count begins another folder."""
    if key == "stripe_count" and (not parts or (parts[-1].stripe_count is not None and parts[-1].end_bytes is None)):
        parts = [Component()]
    if not parts:
        return parts
    last = parts[-1]
    if key == "stripe_count":
        last = replace(last, stripe_count=int(word))
    elif key == "stripe_size":
        last = replace(last, stripe_size_bytes=int(word))
    elif key == "pool":
        last = replace(last, pool=word)
    elif key == "pattern" and word == "mdt":
        last = replace(last, on_mdt=True, stripe_count=None, stripe_size_bytes=None)
    return [*parts[:-1], last]


def _pools(text: str) -> dict[str, int]:
    """Return the OSTs of each pool that ``lfs pool_list FILE_SYSTEM.POOL`` lists."""
    pools = {}
    for listing in re.split(r"^Pool: ", text, flags=re.MULTILINE)[1:]:
        head, *lines = listing.splitlines()
        osts = [line for line in lines if re.match(r"\S+-OST[0-9a-fA-F]{4}(_UUID)?\s*$", line)]
        pools[head.strip().rpartition(".")[2]] = len(osts)
    return pools


def _bytes(word: str) -> int:
    """Return a size of ``lfs df``: in KiB, or with a letter as ``-h`` writes it. [bytes]"""
    return size_bytes(word, binary=True, any_case=True, rounded=True) if word[-1].isalpha() else int(float(word)) * 1024


def read_lustre(text: str) -> tuple[Hardware, ...]:
    """Read ``lfs df``, optionally followed by ``lfs getstripe -d``; return one record per file system.

    Parameters
    ----------
    text : str
        Output of ``lfs df``, optionally followed by ``lfs getstripe -d``.

    Examples
    --------
    >>> (scratch,) = read_lustre("scratch-OST0000_UUID 1000000000 660000000 330000000 66% /scratch[OST:0]")
    >>> scratch.model, scratch.facts["osts"].value, scratch.facts["peak_gb_s"].badge
    ('scratch', 1, 'assumed')
    """
    names = list(dict.fromkeys(TARGET.findall(text)))
    lines = text.splitlines()
    records = []
    for name in names:
        target_lines = (line for line in lines if (target := TARGET.match(line)) is None or target[1] == name)
        state = read_lfs("\n".join(target_lines))
        count = state.osts if state.stripe_count == -1 else state.stripe_count
        layout = {"default_stripe_count": count or 1, "default_stripe_size_bytes": state.stripe_size_bytes or 2**20}
        facts = {
            **reported("lfs", "df, OSTs listed", osts=state.osts),
            **guessed("lfs df does not list the servers; one for each OST", osts_per_oss=1),
            **guessed("reported by no tool; 1 GB/s for each OST; measure it with IOR", peak_gb_s=float(state.osts)),
            **reported("lfs", "df, sum of the OST sizes", capacity_pb=round(state.capacity_pb, 6)),
            **(reported("lfs", "getstripe -d", **layout) if count else guessed(_DEFAULT, **layout)),
            **guessed("a file has at most one stripe on each OST", max_stripe_count=min(state.osts, 2000)),
            **guessed(
                "reported by no tool; measure it with IOR on one node", node_write_ceiling_gb_s=min(2.0, state.osts)
            ),
        }
        label = re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_") or "lustre"
        records.append(Hardware("lfs", facts, model=label))
    return tuple(records)
