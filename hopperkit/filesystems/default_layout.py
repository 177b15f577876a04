"""Default layout of a file system for new files, its speed, and a better layout in the same form.

The components of a progressive layout are written one after the other, because MPI-IO and tasks with separate files
write from the beginning. Pools are assumed to have OSTs as fast as all others. A better layout keeps the components for
the beginning of a file (data on the metadata server, a fast pool), if they take less than a hundredth of the time of
the rest, and the pool of the rest.
"""

from collections.abc import Sequence
from dataclasses import replace

from hopperlib.machine import FileSystem
from hopperlib.machine.layouts import Component, parse_layout, split
from hopperlib.storage.lustre.rates import Estimate, Pace
from hopperlib.units import BYTES_PER_GB

# Components are kept if they take no more than this share of the rest's time.
_FIRST_PART = 0.01


def default_components(system: FileSystem) -> tuple[Component, ...]:
    """Return the layout of new files.

    Parameters
    ----------
    system : FileSystem
        File system of a machine file.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [each.plain_options for each in default_components(Machine.load("hopper").file_systems[0])]
    ['-c 2 -S 1M']
    >>> len(default_components(Machine.load("frontier").file_systems[0]))
    4
    """
    if system.default_layout:
        return parse_layout(system.default_layout)
    return (Component(stripe_count=system.default_stripe_count, stripe_size_bytes=system.default_stripe_size_bytes),)


def _stripes(component: Component, system: FileSystem) -> tuple[int, int]:
    """Return the effective stripe count and size of a component. [bytes]"""
    count = 1 if component.on_mdt else component.stripe_count or system.default_stripe_count
    most = system.max_stripe_count
    return most if count == -1 else min(count, most), component.stripe_size_bytes or system.default_stripe_size_bytes


def file_bytes(pace: Pace) -> int:
    """Return the size of the file, or of each file. [bytes]

    Parameters
    ----------
    pace : Pace
        The writes.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> toy = Machine.load("toy").file_systems[0]
    >>> [file_bytes(Pace(Writing(size_bytes=100, writers=4, nodes=2, pattern=pattern), toy))
    ...     for pattern in ("shared", "file-per-process")]
    [100, 25]
    """
    files = pace.writing.writers if pace.own_files else 1
    return max(1, pace.writing.size_bytes // files)


def largest_part(pace: Pace, components: Sequence[Component]) -> tuple[int, int]:
    """Return the stripe count and size of the component with most of a file's data. [bytes]

    Parameters
    ----------
    pace : Pace
        The writes.
    components : sequence of Component
        Components of the layout, in file order.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> orion = Machine.load("frontier").file_systems[0]
    >>> pace = Pace(Writing(size_bytes=10**12, writers=8, nodes=8, pattern="collective"), orion)
    >>> largest_part(pace, default_components(orion))
    (8, 1048576)
    """
    largest, _ = max(split(components, file_bytes(pace)), key=lambda part: part[1])
    return _stripes(largest, pace.system)


def estimate_layout(pace: Pace, components: Sequence[Component]) -> Estimate:
    """Estimate the write time with a layout of several components.

    Parameters
    ----------
    pace : Pace
        The writes.
    components : sequence of Component
        Components of the layout, in file order.

    Examples
    --------
    A file that fits into the first component is written as if that were the whole layout:

    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import Writing
    >>> toy = Machine.load("toy").file_systems[0]
    >>> pace = Pace(Writing(size_bytes=10**9, writers=8, nodes=8), toy)
    >>> estimate_layout(pace, parse_layout("-E 2G -c 4 -S 1M -E -1 -c 8 -S 1M")) == pace.estimate(4, 1 << 20)
    True
    """
    files = pace.writing.writers if pace.own_files else 1
    reached = split(components, file_bytes(pace))
    if len(reached) == 1:
        return pace.estimate(*_stripes(reached[0][0], pace.system))
    estimates = []
    for component, size in reached:
        part = Pace(replace(pace.writing, size_bytes=size * files), pace.system, pace.costs)
        estimates.append(part.estimate(*_stripes(component, pace.system)))
    # Each file is created once, and data on the metadata server have no object.
    again_s = (len(reached) - 1) * files / pace.creates_per_s
    again_s += sum(component.on_mdt for component, _ in reached) * pace.costs.object_s
    names = ("moving_s", "metadata_s", "calls_s", "locks_s", "exchange_s")
    parts = {name: sum(getattr(each, name) for each in estimates) for name in names}
    parts["metadata_s"] -= again_s
    time_s = sum(parts.values())
    largest = max(zip(reached, estimates, strict=True), key=lambda pair: pair[0][1])[1]
    return largest._replace(
        time_s=time_s,
        rate_gb_s=pace.writing.size_bytes / BYTES_PER_GB / time_s,
        **parts,
    )


def in_its_form(
    components: Sequence[Component], count: int, stripe_bytes: int, system: FileSystem, size_bytes: int, pool: str = ""
) -> tuple[Component, ...]:
    """Return a layout with a count and size of stripes in the form of another: its first components and its pool.

    Parameters
    ----------
    components : sequence of Component
        The layout whose form is kept.
    count, stripe_bytes : int
        Stripes of the rest of a file, and their size. [bytes]
    system : FileSystem
    size_bytes : int
        Size of a file. [bytes]
    pool : str
        Another pool; empty for the current one, or the site's preference.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> orion = Machine.load("frontier").file_systems[0]
    >>> form = in_its_form(default_components(orion), 64, 16 << 20, orion, 10**13)
    >>> [each.options for each in form]
    ['-E 256k -L mdt', '-E 8M -c 1 -S 1M -p performance', '-E -1 -c 64 -S 16M -p capacity']
    """
    first = tuple(
        # As initially created: growth of a component matters only if it is the last.
        replace(part, extension_bytes=None)
        for part in components[:-1]
        if part.end_bytes is not None and part.end_bytes / _stripes(part, system)[0] <= _FIRST_PART * size_bytes / count
    )
    pool = pool or components[-1].pool or system.pool or ""
    return (
        *first,
        Component(stripe_count=-1 if count == system.osts else count, stripe_size_bytes=stripe_bytes, pool=pool),
    )
