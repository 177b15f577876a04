"""GPUs, network interfaces, caches and kept cores: ``nvidia-smi topo -m``, ``rocm-smi --showtopo``, hwloc's XML, Gres."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopperlib.errors import InputError
from hopperlib.machine import Quantity
from hopperlib.readers.hardware._record import Hardware

__all__ = ["gpu_facts", "kept_facts", "read_nvidia_topo", "read_rocm_topo", "xml_device_facts"]

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
        near.append(words[0])
    return Hardware(tool="nvidia-smi", facts={}, gpu_cpus=tuple(near))


def read_rocm_topo(text: str) -> Hardware:
    r"""Read ``rocm-smi --showtopo`` or ``--showtoponuma``: the NUMA node of each GPU.

    Examples
    --------
    >>> read_rocm_topo("GPU[0] : (Topology) Numa Node: 3\nGPU[1] : (Topology) Numa Node: 1").gpu_numa_nodes
    (3, 1)
    """
    nodes = dict(re.findall(r"GPU\[(\d+)\]\s*:\s*\(Topology\) Numa Node:\s*(\d+)", text))
    if not nodes:
        raise InputError("rocm-smi: no line says 'Numa Node', as those of --showtopo do")
    return Hardware(tool="rocm-smi", facts={}, gpu_numa_nodes=tuple(int(nodes[gpu]) for gpu in sorted(nodes, key=int)))


def gpu_facts(local: Hardware, sockets: int, numa_nodes: int, cores: int) -> dict[str, Quantity]:
    """Return the cores near each GPU of a node with so many cores, out of what the tools said of CPUs and NUMA nodes."""
    if local.gpu_cpus:
        listed = [
            ",".join(part for part in cpus.split(",") if int(part.partition("-")[0]) < cores) for cpus in local.gpu_cpus
        ]
        return {"gpu_cores": Quantity(value=tuple(listed), source="nvidia-smi", at="topo -m, CPU Affinity")}
    if local.gpu_numa_nodes and max(local.gpu_numa_nodes) < numa_nodes:
        width = cores // numa_nodes
        near = tuple(f"{node * width}-{node * width + width - 1}" for node in local.gpu_numa_nodes)
        return {"gpu_cores": Quantity(value=near, source="rocm-smi", at="Numa Node; the cores of it")}
    if local.gpu_count:
        width = cores // sockets
        near = tuple(
            f"{gpu * sockets // local.gpu_count * width}-{gpu * sockets // local.gpu_count * width + width - 1}"
            for gpu in range(local.gpu_count)
        )
        return {
            "gpu_cores": Quantity(
                value=near, assumed="Gres counts the GPUs, not where they are; dealt out over the sockets"
            )
        }
    return {}


def kept_facts(specialised: str, count: str, cores: int) -> dict[str, Quantity]:
    """Return the cores that Slurm keeps for the system: CPUSpecList, or CoreSpecCount without saying which."""
    if _RANGES.fullmatch(specialised):
        parts = (part.partition("-") for part in specialised.split(","))
        kept = sorted({cpu % cores for low, _, high in parts for cpu in range(int(low), int(high or low) + 1)})
        return {"reserved_cores": Quantity(value=tuple(kept), source="scontrol", at="CPUSpecList")}
    if count.isdigit() and 0 < int(count) < cores:
        last = tuple(range(cores - int(count), cores))
        return {
            "reserved_cores": Quantity(
                value=last, assumed=f"CoreSpecCount={count} does not say which; the last ones, Slurm's own choice"
            )
        }
    return {}


def xml_device_facts(
    objects: Sequence[tuple[str, int, str]], cores: Sequence[int], numa_nodes: Sequence[int]
) -> dict[str, Quantity]:
    """Return caches, GPUs and network interfaces out of an XML's objects: type or depth, CPUs as bits, name."""
    facts: dict[str, Quantity] = {}
    widths = {sum(1 for core in cores if core & cpus) for kind, cpus, _ in objects if kind == "L3Cache"}
    if len(widths) == 1 and (width := widths.pop()) and len(cores) % width == 0:
        facts["cores_per_l3"] = Quantity(value=width, source="lstopo", at="cores of an L3 cache")
    gpus: list[str] = []
    nics: list[int] = []
    for kind, cpus, name in objects:
        # Of the several faces of one device: CUDA's, ROCm's and Level Zero's for GPUs, the fabric's for interfaces.
        if kind == "OSDev" and re.match(r"(cuda|rsmi|ze|nvml)\d+", name):
            near = [index for index, core in enumerate(cores) if core & cpus]
            gpus += [f"{near[0]}-{near[-1]}"] if near else []
        elif kind == "OSDev" and re.match(r"(mlx\d_|hfi\d_|cxi|hsn)\d+", name):
            nics += [index for index, own in enumerate(numa_nodes) if own & cpus][:1]
    if gpus:
        facts["gpu_cores"] = Quantity(value=tuple(gpus), source="lstopo", at="OSDev of a GPU, and the CPUs above it")
    if nics:
        at = "OSDev of an interface, and the CPUs above it"
        facts["nic_numa_nodes"] = Quantity(value=tuple(nics), source="lstopo", at=at)
    return facts
