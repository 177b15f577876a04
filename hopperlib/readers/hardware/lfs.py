"""What Lustre says of itself: ``lfs df`` and ``lfs getstripe -d``, one or both in a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.readers.hardware._record import Hardware, guessed, told
from hopperlib.readers.source import Source, text_of
from hopperlib.storage.wording import say
from hopperlib.units import size_bytes

TARGET = re.compile(r"^(\S{1,80}?)-(?:OST|MDT)[0-9a-fA-F]{4}", re.MULTILINE)
_TARGET = re.compile(
    r"^(\S{1,80}?)-(OST|MDT)([0-9a-fA-F]{4})(?:_UUID)?\s+([\d.]+[kKMGTPE]?)\s+([\d.]+[kKMGTPE]?)\s+\S+\s+(\d+)%\s+(\S+?)(?:\[|\s|$)",
    re.MULTILINE,
)
_INACTIVE = re.compile(r"^(?:\S{1,80}-)?OST([0-9a-fA-F]{4})\S*[ \t]*:[ \t]*[A-Za-z]", re.MULTILINE)
_STRIPES = re.compile(
    r"(?:stripe_count|lmm_stripe_count):\s*(-?\d+)[\s\S]{0,80}?(?:stripe_size|lmm_stripe_size):\s*(\d+)"
)
# Above this share of its space an OST is avoided by Lustre's allocator or slow.
_FULL = 90
_UNEVEN = 17
_DEFAULT = "Lustre's own default; lfs getstripe -d of a folder tells the site's"


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreState:
    """A Lustre file system as its own commands describe it.

    Parameters
    ----------
    name : str
    osts : int
        OSTs that are in use; 0 if no ``lfs df`` was given.
    capacity_pb : float
        [PB]
    used_percent : mapping
        How full each OST is.
    inactive : tuple of int
    stripe_count, stripe_size_bytes : int or None
        What a new file in the folder gets, of its last component; a count of -1 is all OSTs.
    components : int
        Components of the folder's layout; more than one is progressive.
    """

    name: str
    osts: int
    capacity_pb: float
    used_percent: dict[int, int]
    inactive: tuple[int, ...]
    stripe_count: int | None
    stripe_size_bytes: int | None
    components: int

    @property
    def findings(self) -> Iterator[Finding]:
        """What to know about it before a file is striped."""
        full = [ost for ost, percent in self.used_percent.items() if percent >= _FULL]
        if full:
            shown = ", ".join(map(str, full[:12])) + (" ..." if len(full) > 12 else "")
            yield say("full-osts", full=len(full), osts=self.osts, share=_FULL, shown=shown)
        spread = max(self.used_percent.values(), default=0) - min(self.used_percent.values(), default=0)
        if spread > _UNEVEN:
            yield say("uneven-osts", spread=spread)
        if self.inactive:
            yield say("inactive-osts", inactive=", ".join(map(str, self.inactive)))
        if self.stripe_count is not None:
            text = "default-progressive" if self.components > 1 else ""
            count = "all" if self.stripe_count == -1 else self.stripe_count
            yield say("default-layout", text=text, count=count, components=self.components)


def read_lfs(source: Source) -> LustreState:
    """Return what ``lfs df`` (with or without ``-h``) and ``lfs getstripe -d`` say.

    Raises
    ------
    InputError
        If the text is from neither.

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
    stripes = [(int(count), int(size)) for count, size in _STRIPES.findall(text)]
    if not targets and not stripes:
        raise InputError("is no output of `lfs df` or `lfs getstripe -d`", name="lfs")
    if re.search(r"^UUID\s+Inodes\b", text, re.MULTILINE):
        raise InputError("counts inodes and no space: give `lfs df` without -i", name="lfs")
    names = {match[1] for match in targets}
    if len(names) > 1:
        shown = ", ".join(sorted(names))
        raise InputError(f"holds {len(names)} file systems ({shown}): give `lfs df` the path of one", name="lfs")
    last = stripes[-1] if stripes else (None, None)
    return LustreState(
        name=next(iter(names), "own"),
        osts=len({match[3].lower() for match in targets}),
        capacity_pb=sum(_bytes(match[4]) for match in targets) / 1e15,
        used_percent={int(match[3], 16): int(match[6]) for match in targets},
        inactive=tuple(int(number, 16) for number in _INACTIVE.findall(text)),
        stripe_count=last[0],
        stripe_size_bytes=last[1],
        components=len(stripes),
    )


def _bytes(word: str) -> int:
    """Return a size of ``lfs df``: in KiB, or with a letter as ``-h`` writes it. [bytes]"""
    return size_bytes(word, binary=True, any_case=True, rounded=True) if word[-1].isalpha() else int(float(word)) * 1024


def read_lustre(text: str) -> tuple[Hardware, ...]:
    """Read ``lfs df``, perhaps with ``lfs getstripe -d`` behind it; one record for each file system.

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
        own = (line for line in lines if (target := TARGET.match(line)) is None or target[1] == name)
        state = read_lfs("\n".join(own))
        count = state.osts if state.stripe_count == -1 else state.stripe_count
        layout = {"default_stripe_count": count or 1, "default_stripe_size_bytes": state.stripe_size_bytes or 2**20}
        facts = {
            **told("lfs", "df, OSTs listed", osts=state.osts),
            **guessed("lfs df does not tell the servers; one for each OST", osts_per_oss=1),
            **guessed("no tool tells; 1 GB/s for each OST; measure it with IOR", peak_gb_s=float(state.osts)),
            **told("lfs", "df, the sizes of the OSTs added up", capacity_pb=round(state.capacity_pb, 6)),
            **(told("lfs", "getstripe -d", **layout) if count else guessed(_DEFAULT, **layout)),
            **guessed("a file has one stripe on each OST at most", max_stripe_count=min(state.osts, 2000)),
            **guessed("no tool tells; measure it with IOR on one node", node_write_ceiling_gb_s=min(2.0, state.osts)),
        }
        label = re.sub(r"[^A-Za-z0-9_-]", "-", name).strip("-_") or "lustre"
        records.append(Hardware("lfs", facts, model=label))
    return tuple(records)
