"""A site's recommendation for a shared file of a given size, as commands: layout, pool and hints.

A machine file has the sizes from which a site recommends more stripes, and often the command. Below the first size, and
for files that are not shared by tasks, new files keep the site's default.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hopperkit.filesystems.default_layout import default_components, largest_part
from hopperlib.machine.layouts import Component, setstripe
from hopperlib.storage.lustre.rates import Pace
from hopperlib.units import BYTES_PER_GB

# Placeholder for the folder in a machine file.
_DIRECTORY = "DIRECTORY"
_EXPORT = re.compile(r"^export\s.*MPICH_MPIIO_HINTS=")


_MULTIPLIER = re.compile(r"\bcray_cb_nodes_multiplier=(\d{1,4})\b")
# Lock modes of Cray's MPI-IO in which aggregators do not compete for locks.
_SHARED_LOCKS = re.compile(r"\bcray_cb_write_lock_mode=[12]\b")


class SiteRule(NamedTuple):
    """The layout recommended by a site.

    Parameters
    ----------
    stripe_count, stripe_size_bytes : int
        [bytes]
    components : tuple of Component
    commands : tuple of str
        The site's lines, for the folder of the files.
    hints_line : str or None
        The site's command for passing hints to MPI-IO, if given.
    words : str
        Purpose of the rule.
    """

    stripe_count: int
    stripe_size_bytes: int
    components: tuple[Component, ...]
    commands: tuple[str, ...]
    hints_line: str | None
    words: str


def site_rule(pace: Pace, default: Sequence[Component], directory: str, pool: str = "") -> SiteRule | None:
    """Return the site's recommendation; None if its machine file has no rule that applies to these files.

    Parameters
    ----------
    pace : Pace
        The writes, and the file system.
    default : sequence of Component
        Default layout of new files.
    directory : str
    pool : str
        Requested pool; rules for other pools do not apply.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> orion = Machine.load("frontier").file_systems[0]
    >>> def rule(size):
    ...     pace = Pace(Writing(size_bytes=size, writers=64, nodes=8, pattern="collective"), orion)
    ...     return site_rule(pace, default_components(orion), "run/")
    >>> rule(2 * 10**12).commands, rule(10**9).words
    (('lfs setstripe -c 16 -p capacity -S 16M run/',), 'the default for new files: the site recommends striping from 512 GB on')
    """
    system, writing = pace.system, pace.writing
    if not (system.guide_stripe_counts and pace.collective) or pool not in ("", system.pool or ""):
        return None
    place = sum(writing.size_bytes >= low * BYTES_PER_GB for low in system.guide_from_gb) - 1
    if place < 0:
        components = tuple(default) or default_components(system)
        words = f"the default for new files: the site recommends striping from {system.guide_from_gb[0]:g} GB on"
        return SiteRule(*largest_part(pace, components), components, (setstripe(components, directory),), None, words)
    count = system.guide_stripe_counts[place]
    stripe = system.guide_stripe_size_bytes or system.default_stripe_size_bytes
    components = (Component(stripe_count=count, stripe_size_bytes=stripe, pool=system.pool or ""),)
    lines = _lines(system.guide_words[place], directory) if system.guide_words else [setstripe(components, directory)]
    hints = next((line for line in lines if _EXPORT.match(line)), None)
    commands = tuple(line for line in lines if line != hints)
    words = "the site's rule for a shared file of this size"
    return SiteRule(system.max_stripe_count if count == -1 else count, stripe, components, commands, hints, words)


def writing_by_rule(pace: Pace, rule: SiteRule) -> Pace:
    """Return the writes with the site's hints: its number of aggregators, and shared locks.

    Parameters
    ----------
    pace : Pace
        Time of this kind of writing.
    rule : SiteRule
        The site's rule.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> work = Machine.load("archer2").file_systems[0]
    >>> pace = Pace(Writing(size_bytes=10**12, writers=8192, nodes=64, pattern="collective"), work)
    >>> hinted = writing_by_rule(pace, site_rule(pace, (), "DIRECTORY"))
    >>> hinted.writing.aggregators, hinted.costs.lock_s
    (48, 0.0)
    """
    line = rule.hints_line or ""
    writing, costs = pace.writing, pace.costs
    if several := _MULTIPLIER.search(line):
        writing = replace(writing, aggregators=min(writing.writers, rule.stripe_count * int(several[1])))
    if _SHARED_LOCKS.search(line):
        costs = replace(costs, lock_s=0.0)
    return Pace(writing, pace.system, costs)


def _lines(words: str, directory: str) -> list[str]:
    """Return the lines of a rule, for a folder."""
    lines = [line.strip() for line in words.split(";") if line.strip()]
    named = [line.replace(_DIRECTORY, shlex.quote(directory)) for line in lines]
    return [
        f"{line} {shlex.quote(directory)}" if line.startswith("lfs setstripe") and _DIRECTORY not in words else line
        for line in named
    ]
