"""``lscpu`` (util-linux) and ``/proc/meminfo``."""

import re

from hopperkit.readers.hardware._devices import cpu_list
from hopperkit.readers.hardware._record import (
    MOST_CPUS,
    Hardware,
    counted,
    guessed,
    local_node,
    memory_facts,
    numbering_of,
    reported,
)
from hopperlib.errors import InputError
from hopperlib.machine import Quantity

_MISSING = "is missing; run it in English: LC_ALL=C lscpu"
# Processor flags with double-precision operations per cycle and the reason; widest first.
_VECTORS = (
    ({"avx512f"}, 32, "the flag avx512f: two fused multiply-adds on 8 numbers per cycle"),
    ({"avx2", "fma"}, 16, "the flags avx2 and fma: two fused multiply-adds on 4 numbers per cycle"),
    ({"avx"}, 8, "the flag avx: an add and a multiply on 4 numbers per cycle"),
    ({"asimd"}, 8, "the flag asimd: two fused multiply-adds on 2 numbers per cycle"),
    ({"sse2"}, 4, "the flag sse2: an add and a multiply on 2 numbers per cycle"),
)


def read_lscpu(text: str) -> Hardware:
    """Read the output of ``lscpu``.

    Examples
    --------
    >>> node = read_lscpu('''CPU(s): 24
    ... Thread(s) per core: 1
    ... Core(s) per socket: 12
    ... Socket(s): 2
    ... NUMA node(s): 4''')
    >>> node.cores, node.numa_nodes
    (24, 4)
    """
    values = _fields(text)
    # If the firmware reports no sockets, lscpu counts clusters (Arm).
    unit = "Cluster" if values.get("Socket(s)", "-") == "-" and "Cluster(s)" in values else "Socket"
    names = (f"{unit}(s)", f"Core(s) per {unit.lower()}", "Thread(s) per core")
    sockets, per_socket, threads = (counted("lscpu", name, values.get(name), _MISSING) for name in names)
    cores = sockets * per_socket
    if cores * threads > MOST_CPUS:
        raise InputError(f"lscpu: {sockets} sockets x {per_socket} cores x {threads} threads exceed {MOST_CPUS:,} CPUs")
    cpus = counted("lscpu", "CPU(s)", values.get("CPU(s)"), _MISSING)
    made = f"{sockets} sockets x {per_socket} cores x {threads} threads make {cores * threads}"
    off_line = f"lscpu counts {cpus} CPUs, but {made}; some may be off line"
    notes = [off_line] if cpus != cores * threads else []
    numa_cpus = _numa_cpus(values)
    numa_nodes = len(numa_cpus) or counted("lscpu", "NUMA node(s)", values.get("NUMA node(s)", 1))
    alike = len({len(numbers) for numbers in numa_cpus}) <= 1
    model = values.get("Model name") or None
    facts = _measured_clock(values) | _guessed_flops(values)
    at = ("Socket(s), Core(s) per socket, NUMA node(s)", "Thread(s) per core", "Model name")
    counts = (sockets, numa_nodes, cores, threads)
    return local_node(
        "lscpu",
        at,
        counts,
        facts,
        model,
        notes,
        alike=alike,
        numbering=numbering_of_numa_nodes(numa_cpus, cores, threads),
    )


def _fields(text: str) -> dict[str, str]:
    """Return the values by name; a name must not occur twice, as it does for two kinds of cores."""
    values: dict[str, str] = {}
    for typed, colon, value in (line.partition(":") for line in text.splitlines()):
        name = typed.strip()
        if not colon:
            continue
        if name in values and name in ("Core(s) per socket", "Thread(s) per core"):
            raise InputError(
                f"lscpu prints '{name}' twice: the node has two kinds of cores, but a machine file supports only one"
            )
        values.setdefault(name, value.strip())
    return values


def _numa_cpus(values: dict[str, str]) -> list[list[int]]:
    """Return the CPUs of each NUMA node; memory-only nodes (CXL, high-bandwidth memory) have none and are left out."""
    lists = (cpu_list(value, name) for name, value in values.items() if re.fullmatch(r"NUMA node\d+ CPU\(s\)", name))
    return [numbers for numbers in lists if numbers]


def read_meminfo(text: str) -> Hardware:
    """Read ``/proc/meminfo``: the memory available to the kernel and to jobs.

    Examples
    --------
    >>> read_meminfo("MemTotal:       32819200 kB").facts["memory_gb"].value
    32
    """
    match = re.search(r"^MemTotal:\s+(\d{1,15})\s*kB", text, re.MULTILINE)
    if not match or not int(match[1]):
        raise InputError("/proc/meminfo: 'MemTotal' is missing, or is not a number of kB")
    return Hardware("meminfo", memory_facts("meminfo", "MemTotal", int(match[1]) / 1024**2))


def numbering_of_numa_nodes(
    numa_cpus: list[list[int]],
    cores: int,
    threads: int,
    *,
    tool: str = "lscpu",
    at: str = "NUMA node0 CPU(s) and so on",
) -> dict[str, Quantity] | None:
    """Return Linux's CPU numbering, as far as the NUMA nodes show it; None if unknown.

    It does not show which CPUs are hardware threads of one core.
    """
    # In one piece: the hypotheses about the numbering are tried in this order, over the same lists of CPUs.
    each, rest = divmod(cores, max(1, len(numa_cpus)))
    if not numa_cpus:
        return {}
    if rest or any(len(numbers) != each * threads for numbers in numa_cpus):
        return None
    lists = [sorted(numbers) for numbers in numa_cpus]
    distant = [[cpu for numbers in lists for cpu in numbers[t * each : (t + 1) * each]] for t in range(threads)]
    if threads == 1:
        return reported(tool, at, **numbering_of(distant))
    if all(
        cpu + t * cores == other
        for t, numbers in enumerate(distant)
        for cpu, other in zip(distant[0], numbers, strict=True)
    ):
        why = f"{tool} does not show which CPUs share a core; second threads are assumed to follow all first ones"
        return guessed(why, **numbering_of(distant))
    if all(numbers == list(range(numbers[0], numbers[0] + each * threads)) for numbers in lists):
        why = f"{tool} does not show which CPUs share a core; NUMA nodes of consecutive CPUs suggest neighbors"
        adjacent = [[cpu for numbers in lists for cpu in numbers[t::threads]] for t in range(threads)]
        return guessed(why, **numbering_of(adjacent))
    return None


def _guessed_flops(values: dict[str, str]) -> dict[str, Quantity]:
    """Return the operations per cycle implied by the processor's flags, if any."""
    flags = set(values.get("Flags", "").split())
    if "avx512f" in flags and values.get("Vendor ID") == "AuthenticAMD":
        return guessed("the flag avx512f on an AMD processor: executed in two halves, as on Zen 4", flops_per_cycle=16)
    for needed, flops_per_cycle, why in _VECTORS:
        if needed <= flags:
            return guessed(why, flops_per_cycle=flops_per_cycle)
    return {}


def _measured_clock(values: dict[str, str]) -> dict[str, Quantity]:
    """Return the nominal clock if the kernel's loop count shows it, otherwise the highest or the current one."""
    # On x86 the kernel's loop takes two cycles of the time stamp counter, which runs at the nominal clock.
    for name, cycles, at in (
        ("BogoMIPS", 2, "BogoMIPS / 2, the clock of the time stamp counter"),
        ("CPU max MHz", 1, "CPU max MHz, the highest clock"),
        ("CPU MHz", 1, "CPU MHz, the clock when lscpu ran"),
    ):
        mhz = values.get(name, "").replace(",", ".")
        counts = name != "BogoMIPS" or values.get("Architecture") == "x86_64"
        if counts and re.fullmatch(r"\d{2,5}(\.\d+)?", mhz) and 10 <= float(mhz) <= 10_000 * cycles:
            return reported("lscpu", at, clock_ghz=round(float(mhz) / cycles / 1000, 3))
    return {}
