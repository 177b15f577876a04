"""Combine tool records into a machine file; missing values are marked as assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperkit.readers.hardware._devices import gpu_facts
from hopperkit.readers.hardware._numactl import completed, same_node
from hopperkit.readers.hardware._record import Hardware, core_by_number, geometry_of, guessed, reported
from hopperlib.errors import InputError
from hopperlib.machine import Machine, Quantity
from hopperlib.machine.machine import general_launchers

# Citations for a machine file, by tool.
_CITATIONS = {
    "lscpu": "output of lscpu on the node",
    "meminfo": "/proc/meminfo on the node",
    "lstopo": "output of lstopo --of xml on the node",
    "scontrol": "output of scontrol show node",
    "pbsnodes": "output of pbsnodes -a",
    "slurm-config": "output of scontrol show config",
    "nvidia-smi": "output of nvidia-smi topo -m on the node",
    "rocm-smi": "output of rocm-smi --showtopo on the node",
    "numactl": "output of numactl -H on the node",
    "amd-smi": "output of amd-smi static --numa on the node",
    "lfs": "output of lfs df on the node",
}


def machine_from(records: Sequence[Hardware], *, name: str, title: str | None = None) -> Machine:
    """Return the machine described by records.

    Slurm lists the nodes of a cluster without their NUMA nodes; ``lstopo`` and ``lscpu`` show those of one node.
    Together they make a complete file: a kind of node with the same cores and hardware threads takes its NUMA nodes
    from them, which also determines Slurm's meaning of a socket.

    Parameters
    ----------
    records : sequence of Hardware
        From one or more outputs.
    name : str
        Name of the machine, in lower case.
    title : str
        Title shown on pages; by default the name.

    Raises
    ------
    InputError
        If no record counts cores, or two describe different nodes.
    MachineError
        If the name breaks the rule for names.

    Examples
    --------
    >>> from hopperkit.readers.hardware.reader import read_hardware
    >>> records = read_hardware("NodeName=n1 CoresPerSocket=6 RealMemory=31000 Sockets=4 ThreadsPerCore=1")
    >>> mine = machine_from(records, name="mine")
    >>> mine.cores, mine.provenance["node.compute.clock_ghz"].badge
    (24, 'assumed')
    """
    by_tool: dict[str, list[Hardware]] = {
        "scontrol": [],
        "pbsnodes": [],
        "lfs": [],
        "slurm-config": [],
        "numactl": [],
        "": [],
    }
    for record in records:
        by_tool.get(record.tool, by_tool[""]).append(record)
    cluster, lustre, local = by_tool["scontrol"] or by_tool["pbsnodes"], by_tool["lfs"], _merged(by_tool[""])
    config = (by_tool["slurm-config"] or [Hardware("slurm-config", {})])[0]
    for numactl in by_tool["numactl"]:
        local = _with_numa_nodes(local, numactl, cluster)
    if not cluster and local.cores is None:
        raise InputError(
            "no output counts cores; give that of lscpu, lstopo --of xml, scontrol show node or pbsnodes -a"
        )
    kinds, notes, launcher = _cluster_kinds(cluster, local, config) if cluster else _only_kind(local, config)
    filled = [_filled(facts) for facts in kinds]
    document: dict[str, Any] = {
        "name": name,
        "title": title or name,
        "model": local.model or "not reported",
        "site": "not reported",
        "sources": _sources([*filled, config.facts, *(each.facts for each in lustre)]),
        "node": [{"name": label, **_tables(facts)} for label, facts in zip(_names(filled), filled, strict=True)],
    }
    optional = {
        "file_system": [{"name": each.model, "kind": "lustre", **_tables(each.facts)} for each in lustre],
        "notes": list(dict.fromkeys([*local.notes, *notes, *config.notes])),
        "launcher": launcher,
    }
    document |= {key: part for key, part in optional.items() if part}
    return Machine.from_document(document, name=f"{name}.toml")


def _with_numa_nodes(local: Hardware, numactl: Hardware, cluster: Sequence[Hardware]) -> Hardware:
    """Return the examined node with the NUMA nodes of numactl, if no other tool shows them."""
    if local.cores is not None:
        if not same_node(local, numactl):
            counts = f"numactl: {sum(map(len, numactl.numa_cpus))} CPUs, {local.tool}: {local.cores} cores x {local.threads_per_core}"
            raise InputError(f"the outputs describe different nodes ({counts}); give those of one node")
        return local
    node = next(filter(None, (completed(record, numactl) for record in cluster if record.cores)), None)
    if node is None:
        raise InputError(
            "numactl names neither sockets nor hardware threads: add the output of lscpu, or of scontrol show node "
            "for a node with as many CPUs"
        )
    return replace(node, gpu_cpus=local.gpu_cpus, gpu_numa_nodes=local.gpu_numa_nodes, gpu_tool=local.gpu_tool)


def _sources(parts: Sequence[Mapping[str, Quantity]]) -> dict[str, str]:
    """Return the citations for facts about nodes and file systems."""
    tools = {fact.source for facts in parts for fact in facts.values()}
    return {tool: cited for tool, cited in _CITATIONS.items() if tool in tools}


def _tables(facts: Mapping[str, Quantity]) -> dict[str, Any]:
    """Return facts in the form of a machine file."""
    return {key: fact.to_table() for key, fact in facts.items()}


def _only_kind(local: Hardware, config: Hardware) -> tuple[list[dict[str, Quantity]], list[str], list[dict[str, Any]]]:
    """Like `_cluster_kinds`, for outputs that describe one node."""
    single = guessed("this output describes one node; enter how many such nodes there are", count=1)
    kind = {**single, **local.facts, **_gpus(local, dict(local.facts))}
    return [kind], [], [_srun((), {}, config)] if config.facts else []


def _cluster_kinds(
    cluster: Sequence[Hardware], local: Hardware, config: Hardware
) -> tuple[list[dict[str, Quantity]], list[str], list[dict[str, Any]]]:
    """Return the facts about each kind of node in a cluster, notes, and the launcher."""
    slurm_socket: dict[str, Quantity] = {}
    kinds, notes = [], []
    for record in cluster:
        facts, note, socket = _with_local(record, local)
        notes += [note] if note else []
        slurm_socket = socket or slurm_socket
        if record.gpu_count:
            facts |= _gpus(replace(local, gpu_count=record.gpu_count), facts)
        kinds.append(facts)
    # On a PBS cluster, the modules identify the mpiexec.
    return kinds, notes, [_srun(cluster, slurm_socket, config)] if cluster[0].tool == "scontrol" else []


def _with_local(record: Hardware, local: Hardware) -> tuple[dict[str, Quantity], str, dict[str, Quantity]]:
    """Return the facts about a kind of node in a cluster, with those of the examined node if it is of that kind.

    Includes a note, and Slurm's meaning of socket if the two socket counts determine it.
    """
    facts = dict(record.facts)
    if (
        record.tool == "pbsnodes"
        and local.cores is not None
        and record.cores == local.cores * (local.threads_per_core or 1)
    ):
        record = replace(record, cores=local.cores, threads_per_core=local.threads_per_core)
    if (record.cores, record.threads_per_core) != (local.cores, local.threads_per_core):
        theirs = f"{record.cores} cores x {record.threads_per_core}, whose NUMA nodes are assumed"
        description = f"the node that {local.tool} describes ({local.cores} cores x {local.threads_per_core})"
        return facts, f"{description} does not match the kind with {theirs}" if local.cores is not None else "", {}
    # Use the batch system's memory: the amount it allocates, which sites may set below the installed memory.
    facts |= {key: fact for key, fact in local.facts.items() if not key.endswith("memory_gb")}
    note = f"the NUMA nodes are from the node where {local.tool} ran; other nodes of the cluster may differ"
    at = f"Sockets={record.sockets}, "
    if record.sockets == local.sockets:
        return facts, note, reported("scontrol", f"{at}as on the node", slurm_socket="socket")
    if record.sockets == local.numa_nodes:
        at += f"where the node has {local.sockets} and {local.numa_nodes} NUMA nodes"
        return facts, note, reported("scontrol", at, slurm_socket="numa_node")
    per_l3 = facts["cores_per_l3"].value if "cores_per_l3" in facts else None
    if isinstance(per_l3, int) and record.sockets is not None and record.sockets * per_l3 == record.cores:
        return facts, note, reported("scontrol", f"{at}one for {per_l3} cores of an L3 cache", slurm_socket="l3")
    return facts, note, {}


def _gpus(local: Hardware, facts: dict[str, Quantity]) -> dict[str, Quantity]:
    """Return the cores near each GPU, if a tool shows them; hwloc's data take precedence."""
    sockets, numa_nodes, cores = geometry_of(facts)
    threads = facts["threads_per_core"].value
    assert isinstance(threads, int)
    numbers = core_by_number(facts, cores, threads)
    return {} if "gpu_cores" in facts else gpu_facts(local, sockets, numa_nodes, cores, numbers)


def _merged(records: list[Hardware]) -> Hardware:
    """Return one record from the outputs that describe one node; lstopo takes precedence over lscpu."""
    order = ("lstopo", "lscpu", "meminfo", "nvidia-smi", "rocm-smi", "amd-smi")
    records = sorted(records, key=lambda record: order.index(record.tool))
    counts = {(record.cores, record.threads_per_core): record.tool for record in records if record.cores is not None}
    if len(counts) > 1:
        shown = ", ".join(f"{tool}: {cores} cores x {threads}" for (cores, threads), tool in counts.items())
        raise InputError(f"the outputs describe different nodes ({shown}); give those of one node")
    facts = {key: fact for record in reversed(records) for key, fact in record.facts.items()}
    nothing = Hardware("", {})
    best = next((record for record in records if record.cores is not None), nothing)
    values: dict[str, Any] = {
        name: next(filter(None, (getattr(record, name) for record in records)), getattr(nothing, name))
        for name in ("model", "gpu_cpus", "gpu_numa_nodes")
    }
    values["gpu_tool"] = next((record.tool for record in records if record.gpu_numa_nodes), "")
    notes = tuple(dict.fromkeys(note for record in records for note in record.notes))
    return replace(best, facts=facts, notes=notes, **values)


def _filled(facts: dict[str, Quantity]) -> dict[str, Quantity]:
    """Return the facts, with an assumption for each missing key."""
    _, numa_nodes, cores = geometry_of(facts)
    per_numa = cores // numa_nodes
    # A core's bandwidth is at most that of its NUMA node, and neither exceeds the memory's peak.
    bandwidth = max(12, 4 * per_numa) if per_numa < 16 else min(4 * per_numa, 50 * max(1, per_numa // 16))
    reasons = (
        ("the output has no clock", {"clock_ghz": 2.0}),
        ("not in the output; two fused multiply-adds on 4 numbers per cycle", {"flops_per_cycle": 16}),
        ("the output has no memory; 2 GB per core", {"memory_gb": 2 * cores}),
        ("the output has no memory; nothing is subtracted", {"usable_memory_gb": 2 * cores}),
        (
            "reported by no tool; 4 GB/s per core and at least 12; measure it with STREAM",
            {"numa_bandwidth_gb_s": bandwidth},
        ),
        ("reported by no tool; a guess to vary; measure it with STREAM on one core", {"core_bandwidth_cap_gb_s": 12}),
        ("reported by no tool; a guess to vary", {"remote_bandwidth_fraction": 0.6}),
    )
    return {key: fact for why, values in reasons for key, fact in guessed(why, **values).items()} | facts


def _names(kinds: list[dict[str, Quantity]]) -> list[str]:
    """Return a name for each kind, from its cores and memory, and from more if these are not unique."""
    if len(kinds) == 1:
        return ["compute"]
    names: list[str] = []
    for facts in kinds:
        sockets, _, cores = geometry_of(facts)
        name = f"{cores}c-{facts['memory_gb'].value}gb".replace(".", "_")
        more = f"-{sockets}s{facts['threads_per_core'].value}t{len(names)}"
        names.append(name if name not in names else name + more)
    return names


def _srun(cluster: Sequence[Hardware], counted: dict[str, Quantity], config: Hardware) -> dict[str, Any]:
    """Return the launcher of a Slurm cluster; `counted` is the meaning of "socket" implied by its counts."""
    general = general_launchers()["srun"]
    facts = guessed("the output has no release", version=general.version or "")
    facts |= guessed("a Slurm socket is a package unless the site sets it otherwise", slurm_socket="socket")
    facts |= guessed("Slurm's default", default_distribution=general.default_distribution)
    version = next((record.slurm_version for record in cluster if record.slurm_version), None)
    if version:
        facts |= reported("scontrol", "Version", version=version)
    facts |= {**counted, **config.facts}
    socket = counted.get("slurm_socket")
    if socket is not None and "slurm_socket" in config.facts and socket.value != facts["slurm_socket"].value:
        # slurm.conf and slurmd count sockets differently: the former's are used to pick a step's cores, the latter's to
        # bind its tasks. Before Slurm 23.11, slurmd could be configured to treat them as its sockets.
        configured = "config_overrides" in (facts["slurm_socket"].at or "")
        old = tuple(map(int, str(facts["version"].value).split(".")[:2])) < (23, 11)
        facts["slurm_socket" if configured and old else "slurm_conf_socket"] = socket
    return {"kind": "srun", **_tables(facts)}
