"""Rules between the values of a machine file.

The reader has already checked each value separately. Totals and parts must agree: places in the torus with nodes,
servers with targets, a core's share with its NUMA node.
"""

import re
from collections.abc import Container, Iterable, Iterator

from hopperlib.errors import InputError
from hopperlib.machine.cpu_numbers import expanded
from hopperlib.machine.layouts import parse_layout
from hopperlib.machine.parts import FileSystem, Launcher, Network, NodeKind

_FLOOR = ("floor_columns", "floor_rows", "cages_per_cabinet", "slots_per_cage", "nodes_per_slot")
# Values that may not exceed another: both names, and the text around the second.
_NODE_BOUNDS = (("usable_memory_gb", "memory_gb", "the node's ", ""),)
_FILE_SYSTEM_BOUNDS = (
    ("max_stripe_count", "osts", "", "; a file has one stripe on each at most"),
    *((f"{which}_stripe_count", "max_stripe_count", "", "") for which in ("default", "useful", "advised")),
    ("node_write_ceiling_gb_s", "peak_gb_s", "", " of the whole file system"),
)
# Keys required for a machine with srun.
_OF_SRUN = {
    "version": "the meaning of an srun line changed with Slurm 22.05",
    "slurm_socket": "state what Slurm counts as a socket here, 'socket', 'numa_node' or 'l3'",
}
# No node has ever had more than a few thousand cores.
_MOST_CORES = 100_000


def _beyond(path: str, part: NodeKind | FileSystem, bounds: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    """Yield the values of a part that exceed a limit set by another value."""
    for name, most, before, suffix in bounds:
        value, bound = getattr(part, name), getattr(part, most)
        if value is not None and value > bound:
            yield f"{path}.{name} = {value:g}: must not exceed {before}{most} = {bound:g}{suffix}"


def node_rules(node: NodeKind) -> Iterator[str]:
    """Rules within a node."""
    path = f"node.{node.name}"
    if broken := _broken_geometry(path, node):
        yield broken
        return
    yield from _cpu_number_rules(path, node)
    yield from _beyond(path, node, _NODE_BOUNDS)
    if node.cores_per_l3 is not None and node.cores % node.cores_per_l3:
        yield f"{path}.cores_per_l3 = {node.cores_per_l3}: must divide the {node.cores} cores of the node"
    yield from _list_rules(path, node)


def _broken_geometry(path: str, node: NodeKind) -> str:
    """Return the broken rule between sockets, NUMA nodes and cores; other rules depend on them."""
    shared = node.sockets_per_numa_node
    if shared > 1 and (node.numa_nodes_per_socket > 1 or node.sockets % shared):
        rule = f"must divide the {node.sockets} sockets, each of which then has numa_nodes_per_socket = 1"
        return f"{path}.sockets_per_numa_node = {shared}: {rule}"
    if node.cores > _MOST_CORES:
        made = f"sockets, NUMA nodes and cores make {node.cores:,} cores of a node"
        return f"{path}: {made}; at most {_MOST_CORES:,} are read"
    if node.cores % node.sockets:
        return f"{path}.sockets = {node.sockets}: must divide the {node.cores} cores of the node"
    return ""


def _list_rules(path: str, node: NodeKind) -> Iterator[str]:
    """Rules for the lists of cores and GPUs."""
    near = [core for gpu in range(node.gpus) for core in node.cores_near_gpu(gpu)]
    for name, numbers, count, of in (
        ("reserved_cores", node.reserved_cores, node.cores, "cores"),
        ("gpu_cores", near, node.cores, "cores"),
        ("gpu_order", node.gpu_order, node.gpus, "GPUs"),
    ):
        if numbers and max(numbers) >= count:
            yield f"{path}.{name}: names {max(numbers)}; the node has {count} {of}, counted from 0"
    for name in ("gpu_numbering", "gpu_order"):
        values = getattr(node, name)
        if values and len(values) != node.gpus:
            yield f"{path}.{name}: has {len(values)} entries, and gpu_cores has {node.gpus}; give one a GPU"


def _cpu_number_rules(path: str, node: NodeKind) -> Iterator[str]:
    """Rules for the CPU numbers that a file lists."""
    if not node.cpu_numbers:
        return
    lists = expanded(node.cpu_numbers)
    if [len(numbers) for numbers in lists] != [node.cores] * node.threads_per_core:
        rule = (
            f"must have {node.threads_per_core} lists of {node.cores} CPUs, one list for each hardware thread of a core"
        )
        yield f"{path}.cpu_numbers: {rule}"
    elif len({cpu for numbers in lists for cpu in numbers}) < node.hardware_threads:
        yield f"{path}.cpu_numbers: names a CPU twice"


def network_rules(network: Network, compute_nodes: int) -> Iterator[str]:
    """Rules for the network."""
    yield from _wiring_rules(network, compute_nodes)
    given = [name for name in _FLOOR if getattr(network, name) is not None]
    if network.dimensions is None:
        for name in (*given, "link_bandwidth_gb_s", "service_blades"):
            if getattr(network, name):
                yield f"network.{name}: belongs to a torus; give network.dimensions too"
        return
    if network.nodes_per_router is None:
        yield "network.nodes_per_router: is missing; it is the number of nodes that share each place of network.dimensions"
        return
    positions = network.node_positions or 0
    if compute_nodes > positions:
        yield (
            f"network.dimensions = {' x '.join(map(str, network.dimensions))}: has {positions:,} places for nodes "
            f"({network.nodes_per_router} per router), fewer than the {compute_nodes:,} nodes of all [[node]]"
        )
    elif len(given) == len(_FLOOR):
        yield from _floor_rules(network, compute_nodes, positions)
    elif given:
        missing = ", ".join(name for name in _FLOOR if name not in given)
        yield f"network.{given[0]}: the floor must be complete or absent; missing: {missing}"
    elif network.service_blades:
        yield "network.service_blades: needs the floor; give " + ", ".join(_FLOOR)


def _wiring_rules(network: Network, compute_nodes: int) -> Iterator[str]:
    """Rules for a dragonfly or a fat tree."""
    wired = {name: wiring for name in ("dragonfly", "fat_tree") if (wiring := getattr(network, name)) is not None}
    for kind, name in (("dragonfly", "dragonfly"), ("fat-tree", "fat_tree"), ("torus", "dimensions")):
        if network.kind == kind and getattr(network, name) is None:
            yield f"network.kind = '{kind}': needs network.{name}, which describes its wiring"
    if len(wired) + (network.dimensions is not None) > 1:
        yield "network: is a torus (dimensions), a dragonfly or a fat tree, and only one of them"
    for name, wiring in wired.items():
        if wiring.node_kind is None and compute_nodes > wiring.nodes:
            yield f"network.{name}: has {wiring.nodes:,} places, fewer than the {compute_nodes:,} nodes of all [[node]]"
    if network.dragonfly and network.dragonfly.links_per_group_pair % network.dragonfly.parallel_links:
        rule = f"must be a multiple of parallel_links = {network.dragonfly.parallel_links}"
        yield f"network.dragonfly.links_per_group_pair = {network.dragonfly.links_per_group_pair}: {rule}"
    if network.fat_tree and network.fat_tree.pods > 1 and network.fat_tree.pod_uplinks is None:
        yield "network.fat_tree.pod_uplinks: is missing; with several pods, links lead on from each"


def _floor_rules(network: Network, compute_nodes: int, positions: int) -> Iterator[str]:
    """Rules between the torus and the floor."""
    columns, rows, cages, slots, per_slot = (getattr(network, name) for name in _FLOOR)
    routers, remainder = divmod(per_slot, network.nodes_per_router or 1)
    if remainder:
        rule = f"must be a multiple of nodes_per_router = {network.nodes_per_router}"
        yield f"network.nodes_per_slot = {per_slot}: {rule}"
        return
    # Floor columns run along x; rows, with the routers of a slot, along y; cages and their slots along z.
    parts = (columns, rows * routers, cages * slots)
    spelled = (
        f"floor_columns = {columns}",
        f"floor_rows x routers a slot = {rows} x {routers}",
        f"cages_per_cabinet x slots_per_cage = {cages} x {slots}",
    )
    for axis, extent, part, words in zip("xyz", network.dimensions or (), parts, spelled, strict=True):
        if extent != part:
            yield f"network.dimensions: {axis} = {extent} must equal {words} (columns run along x, rows along y)"
    # Each place without a compute node must belong to a service blade.
    held, left_over = len(network.service_blades) * per_slot, positions - compute_nodes
    if network.service_blades and held != left_over:
        yield (
            f"network.service_blades: {len(network.service_blades)} blades of {per_slot} places hold {held} service "
            f"nodes, but {positions:,} places less {compute_nodes:,} compute nodes leave {left_over}"
        )
    for blade in network.service_blades:
        place = map(int, re.findall(r"\d+", blade))
        if any(number >= most for number, most in zip(place, (columns, rows, cages, slots), strict=True)):
            floor = f"{columns} columns, {rows} rows, {cages} cages, {slots} slots"
            yield f"network.service_blades: {blade} is not on the floor of {floor} (each counted from 0)"


def file_system_rules(file_system: FileSystem) -> Iterator[str]:
    """Rules between targets, servers and stripes."""
    path = f"file_system.{file_system.name}"
    for name in ("osts_per_oss", "osts_per_controller"):
        value = getattr(file_system, name)
        if value is not None and file_system.osts % value:
            yield f"{path}.{name} = {value}: must divide osts = {file_system.osts}"
    yield from _beyond(path, file_system, _FILE_SYSTEM_BOUNDS)
    if file_system.default_stripe_size_bytes % 65_536:
        yield (
            f"{path}.default_stripe_size_bytes = {file_system.default_stripe_size_bytes}: must be a multiple of "
            "65,536, as Lustre demands"
        )
    yield from _guide_rules(path, file_system)
    if file_system.default_layout:
        try:
            parse_layout(file_system.default_layout)
        except InputError as error:
            yield f"{path}.default_layout: {error.message}"


def _guide_rules(path: str, file_system: FileSystem) -> Iterator[str]:
    """Rules for a site's recommendations by size."""
    sizes, counts = file_system.guide_from_gb, file_system.guide_stripe_counts
    for name in ("guide_stripe_counts", "guide_words"):
        values = getattr(file_system, name)
        if values and len(values) != len(sizes):
            yield f"{path}.{name}: has {len(values)} entries, and guide_from_gb has {len(sizes)}; give one a size"
    if list(sizes) != sorted(sizes):
        yield f"{path}.guide_from_gb: must grow"
    if max(counts, default=0) > file_system.max_stripe_count:
        rule = f"must not exceed max_stripe_count = {file_system.max_stripe_count}"
        yield f"{path}.guide_stripe_counts = {max(counts)}: {rule}"


def launcher_rules(launcher: Launcher, facts: Container[str]) -> Iterator[str]:
    """Required and allowed keys of a launcher; `facts` are the keys in the file."""
    path = f"launcher.{launcher.kind}"
    dash = "-n" if launcher.kind == "aprun" else "--ntasks"
    if launcher.options and dash not in launcher.options:
        yield f"{path}.options: lacks {dash}, without which no line can be read"
    if launcher.kind == "srun":
        yield from (
            f"{path}.{name}: is missing; {why}" for name, why in _OF_SRUN.items() if f"{path}.{name}" not in facts
        )
