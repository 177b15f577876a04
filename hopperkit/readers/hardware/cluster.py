"""Read a cluster from the output of ``scontrol show node``, followed by that of ``scontrol show partition``."""

from collections import defaultdict

from hopperkit.readers.hardware._scontrol import count_of, gpus_of, records_of
from hopperkit.traces.cluster import Cluster, NodeResources, Partition, node_names
from hopperlib.errors import InputError


def read_cluster(text: str) -> Cluster:
    r"""Return the nodes and partitions printed by ``scontrol show node`` and ``scontrol show partition``, with or
    without ``-o``.

    A node's cores are its CPUTot less CoreSpecCount, its memory RealMemory less MemSpecLimit; its partitions are those
    that list the node or are listed by it. If no partition is given, all nodes form one partition that is open to every
    job.

    Parameters
    ----------
    text : str
        Output of ``scontrol show node``, followed by that of ``scontrol show partition``.

    Raises
    ------
    InputError
        If the text contains no node.

    Examples
    --------
    >>> node = "NodeName=n{} CPUTot=8 Gres=gpu:a100:2(S:0) RealMemory=64000 Partitions=gpu"
    >>> cluster = read_cluster("\n".join(map(node.format, (1, 2))) + "\nPartitionName=gpu Nodes=n[1-2] OverSubscribe=EXCLUSIVE")
    >>> cluster.nodes[0], cluster.partitions["gpu"].exclusive
    (NodeResources(cores=8, gpus=2, memory_mb=64000), True)
    """
    nodes: dict[str, NodeResources] = {}
    members: dict[str, set[str]] = defaultdict(set)
    stated: dict[str, dict[str, str]] = {}
    for fields in records_of(text):
        if "PartitionName" in fields:
            name = fields["PartitionName"]
            stated[name] = fields
            members[name].update(node_names(fields.get("Nodes", "").replace("(null)", "")))
            continue
        name = fields["NodeName"]
        if name in nodes:
            raise InputError(f"scontrol: node {name[:40]} occurs twice")
        cores, kept, memory_mb, kept_mb = map(
            count_of, map(fields.get, ("CPUTot", "CoreSpecCount", "RealMemory", "MemSpecLimit"))
        )
        nodes[name] = NodeResources(
            cores=max(0, cores - kept), gpus=gpus_of(fields.get("Gres", "")), memory_mb=max(0, memory_mb - kept_mb)
        )
        for partition in filter(None, fields.get("Partitions", "").split(",")):
            members[partition].add(name)
    if not nodes:
        raise InputError(
            "scontrol: the output contains no node; give the output of scontrol show node, followed by that of show partition"
        )
    place = {name: number for number, name in enumerate(nodes)}
    tiers = {
        name: count_of(fields.get("PriorityJobFactor") or fields.get("PriorityTier")) for name, fields in stated.items()
    }
    partitions = {
        name: Partition(
            nodes=tuple(sorted(place[node] for node in mine if node in place)),
            priority=tiers.get(name, 0) / (max(tiers.values(), default=0) or 1),
            exclusive=stated.get(name, {}).get("OverSubscribe", "").startswith("EXCLUSIVE"),
        )
        for name, mine in sorted(members.items())
    } or {"": Partition(nodes=tuple(range(len(nodes))))}
    return Cluster(nodes=tuple(nodes.values()), partitions=partitions, origin="scontrol", names=tuple(nodes))
