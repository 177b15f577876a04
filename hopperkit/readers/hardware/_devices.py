"""GPUs, caches and reserved cores from ``nvidia-smi topo -m``, ``rocm-smi --showtopo``, hwloc's XML, and Gres."""

import re
from collections.abc import Mapping, Sequence

from hopperkit.readers.hardware._record import MOST_CPUS, Hardware, guessed, reported
from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.machine.cpu_numbers import written

_LINKS = re.compile(r"X|NV\d+|SYS|NODE|PHB|PXB|PIX")
_RANGES = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")


def read_nvidia_topo(text: str) -> Hardware:
    r"""Read ``nvidia-smi topo -m``: the CPUs near each GPU.

    Examples
    --------
    >>> read_nvidia_topo("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7,32-39\t0\n").gpu_cpus
    ('0-7,32-39',)
    """
    near = []
    for line in re.findall(r"^GPU\d+[ \t](?!.*Affinity).*$", text, re.MULTILINE):
        words = [word for word in line.split()[1:] if not _LINKS.fullmatch(word)]
        if not words or not _RANGES.fullmatch(words[0]):
            raise InputError(f"nvidia-smi: the row {line[:30]!r} names no CPUs near the GPU")
        cpu_list(words[0], "nvidia-smi: CPU Affinity")
        near.append(words[0])
    return Hardware("nvidia-smi", {}, gpu_cpus=tuple(near))


def read_rocm_topo(text: str) -> Hardware:
    r"""Read ``rocm-smi --showtopo`` or ``--showtoponuma``: the NUMA node of each GPU.

    Examples
    --------
    >>> read_rocm_topo("GPU[0] : (Topology) Numa Node: 3\nGPU[1] : (Topology) Numa Node: 1").gpu_numa_nodes
    (3, 1)
    """
    nodes = dict(re.findall(r"GPU\[(\d+)\]\s*:\s*\(Topology\) Numa Node:\s*(\d+)", text))
    if not nodes:
        raise InputError("rocm-smi: no line contains 'Numa Node', as in the output of --showtopo")
    return Hardware("rocm-smi", {}, gpu_numa_nodes=tuple(int(nodes[gpu]) for gpu in sorted(nodes, key=int)))


def read_amd_smi(text: str) -> Hardware:
    r"""Read ``amd-smi static --numa``: the NUMA node of each GPU.

    Examples
    --------
    >>> read_amd_smi("GPU: 0\n    NUMA:\n        NODE: 3\n        AFFINITY: 3\n\nGPU: 1\n    NUMA:\n        NODE: 1\n").gpu_numa_nodes
    (3, 1)
    """
    nodes = dict(
        re.findall(r"^GPU:[ \t]*(\d{1,4})[ \t]*\n(?:(?!^GPU:).*\n)*?[ \t]+NODE:[ \t]*(\d{1,4})", text, re.MULTILINE)
    )
    if not nodes:
        raise InputError("amd-smi: no GPU has a line 'NODE:', as in the output of amd-smi static --numa")
    return Hardware("amd-smi", {}, gpu_numa_nodes=tuple(int(nodes[gpu]) for gpu in sorted(nodes, key=int)))


def gpu_facts(
    local: Hardware, sockets: int, numa_nodes: int, cores: int, core_of: Mapping[int, int]
) -> dict[str, Quantity]:
    """Return the cores near each GPU of a node of this shape, from the CPUs and NUMA nodes that the tools reported.

    `core_of` has the core of each CPU of the node.
    """

    def cores_of(part: int, parts: int) -> str:
        """Return the cores of one part of a node that is split into equal parts."""
        width = cores // parts
        return f"{part * width}-{part * width + width - 1}"

    if local.gpu_cpus:
        near_each = [cpu_list(cpus, "nvidia-smi: CPU Affinity") for cpus in local.gpu_cpus]
        if unknown := {cpu for cpus in near_each for cpu in cpus} - set(core_of):
            has = f"{len(core_of)} CPUs, counted from 0"
            raise InputError(f"nvidia-smi: CPU Affinity names CPU {max(unknown)}; the node has {has}")
        listed = (written(tuple(sorted({core_of[cpu] for cpu in cpus})), strides=False) for cpus in near_each)
        return reported("nvidia-smi", "topo -m, CPU Affinity", gpu_cores=tuple(listed))
    if local.gpu_numa_nodes and max(local.gpu_numa_nodes) < numa_nodes:
        near = tuple(cores_of(node, numa_nodes) for node in local.gpu_numa_nodes)
        return reported(local.gpu_tool or "rocm-smi", "NUMA node of each GPU, with its cores", gpu_cores=near)
    count = local.gpu_count
    dealt = tuple(cores_of(gpu * sockets // count, sockets) for gpu in range(count))
    why = "Gres gives only the number of GPUs, not their position; distributed over the sockets"
    return guessed(why, gpu_cores=dealt) if count else {}


def cpu_list(text: str, name: str) -> list[int]:
    """Return the CPUs of a list such as ``0-5,12``.

    Examples
    --------
    >>> cpu_list("0-3,8", "NUMA node0 CPU(s)")
    [0, 1, 2, 3, 8]
    """
    cpus: list[int] = []
    for part in text.replace(" ", "").split(","):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part)
        if not match:
            if part in ("", "-"):
                continue
            raise InputError(f"{name} = {text[:40]!r}: '{part[:20]}' is not a CPU or a range of CPUs")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < MOST_CPUS:
            raise InputError(f"{name} = {text[:40]!r}: '{part}' is not a range of CPUs below {MOST_CPUS:,}")
        cpus += range(first, last + 1)
        if len(cpus) > MOST_CPUS:
            raise InputError(f"{name} = {text[:40]!r}... lists more than {MOST_CPUS:,} CPUs, the most of a node")
    return cpus


def kept_facts(specialised: str, count: str, cores: int) -> dict[str, Quantity]:
    """Return the cores that Slurm reserves for the system: CPUSpecList, or CoreSpecCount without their numbers."""
    if _RANGES.fullmatch(specialised):
        kept = {cpu % cores for cpu in cpu_list(specialised, "CPUSpecList")}
        return reported("scontrol", "CPUSpecList", reserved_cores=tuple(sorted(kept)))
    if count.isdigit() and 0 < int(count) < cores:
        why = f"CoreSpecCount={count} does not name the cores; Slurm reserves the last ones"
        return guessed(why, reserved_cores=tuple(range(cores - int(count), cores)))
    return {}


def xml_device_facts(objects: Sequence[tuple[str, int, str]], cores: Sequence[int]) -> dict[str, Quantity]:
    """Return caches and GPUs from the objects of the XML: type or depth, CPUs as bits, name."""
    facts: dict[str, Quantity] = {}
    widths = {sum(1 for core in cores if core & cpus) for kind, cpus, _ in objects if kind == "L3Cache"}
    if len(widths) == 1 and (width := widths.pop()) and len(cores) % width == 0:
        facts |= reported("lstopo", "cores of an L3 cache", cores_per_l3=width)
    gpus = []
    for kind, cpus, name in objects:
        near = [index for index, near_cpus in enumerate(cores) if near_cpus & cpus]
        # One device can appear several times: for CUDA, ROCm and Level Zero.
        if near and kind == "OSDev" and re.match(r"(cuda|rsmi|ze|nvml)\d+", name):
            gpus.append(f"{near[0]}-{near[-1]}")
    return facts | (
        reported("lstopo", "OSDev of a GPU, and the CPUs of its parent", gpu_cores=tuple(gpus)) if gpus else {}
    )
