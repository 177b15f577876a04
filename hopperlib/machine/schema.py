"""Which keys a machine file may have, and what may stand at each.

One table a section. The tables are read by the checker, by the writer and by
``hopper machine show``, so a key is described once.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = [
    "FILE_SYSTEM",
    "LABELS",
    "LAUNCHER",
    "LINKS",
    "MACHINE",
    "NETWORK",
    "NODE",
    "Key",
    "unit_of",
]

Kind = Literal["count", "number", "flag", "text", "texts", "dimensions", "date"]


class Key(NamedTuple):
    """What may stand at one key.

    `low` and `high` are inclusive unless `above_low` says that `low` itself is
    refused. `why` says where the bound comes from.
    """

    kind: Kind
    low: float = 1
    high: float | None = None
    above_low: bool = False
    required: bool = True
    choices: tuple[str, ...] = ()
    pattern: str = ""
    why: str = ""


def _count(high: int | None = None, *, required: bool = True, why: str = "") -> Key:
    """Describe a whole number of things, at least one."""
    return Key("count", 1, high, required=required, why=why)


def _positive(high: float | None = None, *, required: bool = True, why: str = "") -> Key:
    """Describe a number above zero."""
    return Key("number", 0, high, above_low=True, required=required, why=why)


# What a file says of itself: plain text, no source needed.
LABELS: dict[str, dict[str, Key]] = {
    "machine": {
        "name": Key("text", pattern=r"[a-z0-9][a-z0-9_-]*", why="it names the file and goes on command lines"),
        "title": Key("text"),
        "model": Key("text"),
        "site": Key("text"),
        "notes": Key("texts", required=False),
    },
    "node": {
        "name": Key("text", pattern=r"[A-Za-z0-9][A-Za-z0-9_-]*", why="it goes on command lines"),
    },
    "network": {
        "kind": Key(
            "text",
            choices=("gemini", "seastar2", "federation", "slingshot", "infiniband", "ethernet", "torus", "other"),
        ),
    },
    "file_system": {
        "name": Key("text", pattern=r"[A-Za-z0-9][A-Za-z0-9_-]*", why="it goes on command lines"),
        "kind": Key("text", choices=("lustre",), why="the storage models know Lustre"),
    },
    "launcher": {
        "kind": Key("text", choices=("aprun", "srun"), why="these launch lines can be read"),
        "assumed": Key("text", required=False),
    },
}

# Facts: a value with its source, or why it is assumed.
MACHINE: dict[str, Key] = {
    "in_service": Key("date", required=False),
}

NODE: dict[str, Key] = {
    "count": _count(10_000_000),
    "sockets": _count(1024),
    "numa_nodes_per_socket": _count(64),
    "cores_per_numa_node": _count(1024),
    "threads_per_core": _count(8, why="no core has had more than 8 hardware threads"),
    "clock_ghz": _positive(10, why="no machine has run faster; is this in MHz?"),
    "flops_per_cycle": _positive(1024),
    "memory_gb": _positive(100_000, why="is this in MB?"),
    "usable_memory_gb": _positive(100_000, why="is this in MB?"),
    "numa_bandwidth_gb_s": _positive(10_000, why="is this in MB/s?"),
    "core_bandwidth_cap_gb_s": _positive(10_000, why="is this in MB/s?"),
    "remote_bandwidth_fraction": _positive(1, why="remote memory is no faster than local"),
}

NETWORK: dict[str, Key] = {
    "latency_us": _positive(10_000, why="is this in ns?"),
    "node_bandwidth_gb_s": _positive(10_000, why="is this in MB/s?"),
    "nodes_per_router": _count(64, required=False),
    "dimensions": Key("dimensions", 1, 1000, required=False),
    "floor_columns": _count(1000, required=False),
    "floor_rows": _count(1000, required=False),
    "cages_per_cabinet": _count(16, required=False),
    "slots_per_cage": _count(64, required=False),
    "nodes_per_slot": _count(64, required=False),
    "reroutes_around_dead_links": Key("flag", required=False),
    "service_blades": Key("texts", required=False, pattern=r"c\d+-\d+c\d+s\d+", why="a blade's name, as in c0-0c0s0"),
}

LINKS: dict[str, Key] = {
    "x": _positive(10_000),
    "y_within_blade": _positive(10_000),
    "y_between_blades": _positive(10_000),
    "z_within_cage": _positive(10_000),
    "z_between_cages": _positive(10_000),
}

FILE_SYSTEM: dict[str, Key] = {
    "osts": _count(100_000),
    "osts_per_oss": _count(1000),
    "peak_gb_s": _positive(1_000_000, why="is this in MB/s?"),
    "capacity_pb": _positive(10_000, why="is this in TB?"),
    "default_stripe_count": _count(2000, why="Lustre stripes a file over at most 2,000 OSTs"),
    "default_stripe_size_bytes": Key("count", 65_536, 2**32, why="Lustre stripes in multiples of 65,536 bytes"),
    "max_stripe_count": _count(2000, why="Lustre stripes a file over at most 2,000 OSTs"),
    "node_write_ceiling_gb_s": _positive(10_000, why="is this in MB/s?"),
    "osts_per_controller": _count(1000, required=False),
    "server_failover": Key("flag", required=False),
}

LAUNCHER: dict[str, Key] = {
    "options": Key("texts", pattern=r"--?[A-Za-z][A-Za-z0-9_-]*", why="an option as it is typed, as in -n"),
    "version": Key("text", required=False, pattern=r"\d+(\.\d+)*", why="a release, as in 23.11"),
    "slurm_socket": Key("text", required=False, choices=("socket", "numa_node")),
    "default_distribution": Key("text", pattern=r"(block|cyclic|fcyclic|plane)(:(block|cyclic|fcyclic)){0,2}"),
}

# Suffix of a key -> unit, longest first.
UNITS = {
    "_gb_s": "GB/s",
    "_ghz": "GHz",
    "_gb": "GB",
    "_pb": "PB",
    "_us": "us",
    "_bytes": "bytes",
}


def unit_of(path: str) -> str:
    """Return the unit of a dotted key, empty for a count or a word.

    Examples
    --------
    >>> unit_of("node.standard.memory_gb"), unit_of("network.link_bandwidth_gb_s.x"), unit_of("node.standard.count")
    ('GB', 'GB/s', '')
    """
    parts = path.split(".")
    name = parts[-2] if len(parts) > 2 and parts[-2].startswith("link_bandwidth") else parts[-1]
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")
