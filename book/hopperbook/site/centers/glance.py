"""A center's machine at a glance: nodes, partitions, file systems and launcher as its file states them, as Markdown."""

from collections.abc import Iterable, Sequence

from hopperlib.machine import Machine, NodeKind
from hopperlib.units import binary_size_text


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown, without empty columns; empty without rows."""
    cells = list(rows)
    kept = [at for at in range(len(head)) if any(row[at] for row in cells)]
    lines = [[head[at] for at in kept], ["---"] * len(kept), *([row[at] for at in kept] for row in cells)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else ""


def _option_text(choices: Iterable[str]) -> str:
    """Return a job's request as written in a script."""
    return ", ".join(f"`--{choice}`" if "=" in choice else f"`{choice}`" for choice in choices)


def _node(kind: NodeKind) -> tuple[str, ...]:
    gpus = f"{kind.gpus} ({kind.gpu_model})" if kind.gpus and kind.gpu_model else str(kind.gpus or "")
    return (
        kind.name,
        f"{kind.count:,}",
        f"{kind.cores} in {kind.numa_nodes} NUMA node{'s' * (kind.numa_nodes > 1)}",
        f"{kind.memory_gb:g} GB",
        gpus,
        _option_text(kind.chosen_by),
    )


def glance(machine: Machine) -> str:
    """Return a machine in tables: what its file does not state is left out.

    Parameters
    ----------
    machine : Machine

    Examples
    --------
    >>> print(glance(Machine.load("hopper")).splitlines()[2])
    | standard | 6,000 | 24 in 4 NUMA nodes | 32 GB |
    >>> "`--constraint=gpu`" in glance(Machine.load("perlmutter"))
    True
    """
    nodes = _table(("nodes", "count", "cores", "memory", "GPUs", "requested with"), map(_node, machine.node_kinds))
    limits = _table(
        ("limit", "requested with", "nodes at most", "minutes at most"),
        (
            (
                limit.name,
                _option_text([limit.chosen_by]) if limit.chosen_by else "",
                *(f"{most:,}" if most else "" for most in (limit.max_nodes, limit.max_minutes)),
            )
            for limit in machine.limits
        ),
    )
    systems = _table(
        ("file system", "OSTs", "peak", "stripes unless you set them"),
        (
            (
                system.name,
                f"{system.osts:,}",
                f"{system.peak_gb_s:g} GB/s",
                f"{system.default_stripe_count} of {binary_size_text(system.default_stripe_size_bytes)}",
            )
            for system in machine.file_systems
        ),
    )
    launcher = f"Jobs start their tasks with `{machine.launchers[0].kind}`." if machine.launchers else ""
    return "\n\n".join(part for part in (nodes, limits, systems, launcher) if part)
