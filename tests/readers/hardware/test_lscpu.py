"""``lscpu`` as text and JSON, and ``/proc/meminfo``."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware._lscpu import read_lscpu, read_meminfo
from hopperkit.readers.hardware._record import NUMBERING

SAMPLES = Path(__file__).parents[1] / "samples" / "hardware"


def sample(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def geometry(record):
    return tuple(
        record.facts[key].value
        for key in ("sockets", "numa_nodes_per_socket", "cores_per_numa_node", "threads_per_core")
    )


def lscpu(**changes):
    """Text of a node of 2 sockets x 2 NUMA nodes x 3 cores x 2 threads."""
    fields = {
        "Architecture": "x86_64",
        "CPU(s)": "24",
        "Thread(s) per core": "2",
        "Core(s) per socket": "6",
        "Socket(s)": "2",
        "NUMA node(s)": "4",
        "Model name": "Test CPU",
        "NUMA node0 CPU(s)": "0-2,12-14",
        "NUMA node1 CPU(s)": "3-5,15-17",
        "NUMA node2 CPU(s)": "6-8,18-20",
        "NUMA node3 CPU(s)": "9-11,21-23",
    } | {name.replace("_", " "): value for name, value in changes.items()}
    return "\n".join(f"{name}:   {value}" for name, value in fields.items() if value is not None)


def test_a_plain_node():
    record = read_lscpu(lscpu())
    assert geometry(record) == (2, 2, 3, 2)
    assert (record.cores, record.sockets, record.numa_nodes) == (12, 2, 4)
    assert record.notes == ()
    assert record.facts["sockets"].source == "lscpu"
    assert "memory_gb" not in record.facts


@pytest.mark.parametrize(
    ("name", "expected", "model", "clock", "flops"),
    [
        ("lscpu-virtual-machine.txt", (1, 1, 2, 1), "Intel(R) Xeon(R) Processor @ 2.50GHz", 2.5, 32),
        # BogoMIPS 4900 / 2 = 2.45 GHz, which is this processor's base clock; its highest is 3.529
        ("lscpu-two-sockets-eight-numa.txt", (2, 4, 16, 2), "AMD EPYC 7763 64-Core Processor", 2.45, 16),
        ("lscpu-interleaved.txt", (2, 1, 12, 1), "Intel(R) Xeon(R) CPU E5-2650 v4 @ 2.20GHz", 2.2, 8),
        ("lscpu-arm-clusters.txt", (1, 1, 64, 1), "Neoverse-N1", None, 8),
    ],
)
def test_samples(name, expected, model, clock, flops):
    record = read_lscpu(sample(name))
    assert geometry(record) == expected
    assert record.model == model
    assert (record.facts["clock_ghz"].value if clock else record.facts.get("clock_ghz")) == clock
    assert record.facts["flops_per_cycle"].value == flops
    assert record.facts["flops_per_cycle"].badge == "assumed"


def test_cpus_dealt_out_in_turn():
    record = read_lscpu(sample("lscpu-interleaved.txt"))
    lists = record.facts["cpu_numbers"].value
    assert record.notes == ()
    # Socket 0 has the even numbers, socket 1 the odd ones; the second hardware threads follow.
    cores = record.cores
    assert lists[0] == f"0-{cores - 2}:2,1-{cores - 1}:2"
    assert [text.partition("-")[0] for text in lists] == [str(cores * thread) for thread in range(len(lists))]


def test_neighboring_hardware_threads():
    # the two threads of core 0 are CPUs 0 and 1, as on some POWER and Arm machines
    changes = {f"NUMA_node{k}_CPU(s)": f"{6 * k}-{6 * k + 5}" for k in range(4)}
    record = read_lscpu(lscpu(**changes))
    assert record.notes == ()
    assert record.facts["cpu_numbering"].value == "threads"
    assert record.facts["cpu_numbering"].badge == "assumed"


def test_numbers_that_the_lists_do_not_settle_are_noted():
    cpus = ("0-2,4,6,8", "3,5,7,9-11", "12-17", "18-23")
    changes = {f"NUMA_node{k}_CPU(s)": cpus[k] for k in range(4)}
    assert read_lscpu(lscpu(**changes)).notes == (NUMBERING,)


def test_cpus_off_line_keep_the_numbers_of_the_others():
    text = """CPU(s): 12
On-line CPU(s) list: 0-2,6-8
Off-line CPU(s) list: 3-5,9-11
Thread(s) per core: 1
Core(s) per socket: 3
Socket(s): 2
NUMA node(s): 2
NUMA node0 CPU(s): 0-2
NUMA node1 CPU(s): 6-8
"""
    record = read_lscpu(text)
    assert record.facts["cpu_numbers"].value == ("0-2,6-8",)
    assert "off line" in record.notes[0]


def test_a_numa_node_of_memory_alone_does_not_count():
    record = read_lscpu(lscpu(**{"NUMA_node(s)": "5", "NUMA_node4_CPU(s)": ""}))
    assert record.numa_nodes == 4
    assert geometry(record) == (2, 2, 3, 2)


def test_sockets_that_share_a_numa_node():
    numa = {f"NUMA_node{k}_CPU(s)": None for k in range(1, 4)}
    record = read_lscpu(lscpu(**{"NUMA_node(s)": "1", "NUMA_node0_CPU(s)": "0-23"}, **numa))
    assert geometry(record) == (2, 1, 12, 2)
    assert record.notes == ()
    assert record.facts["sockets_per_numa_node"].value == 2
    assert record.facts["sockets"].badge == "documented"


@pytest.mark.parametrize(
    ("changes", "numa_nodes"),
    [({"NUMA_node3_CPU(s)": None}, 3), ({"NUMA_node0_CPU(s)": "0-1,12-13", "NUMA_node1_CPU(s)": "2-5,14-17"}, 4)],
)
def test_numa_nodes_that_are_not_alike(changes, numa_nodes):
    record = read_lscpu(lscpu(**changes))
    assert geometry(record) == (2, 1, 6, 2)
    assert record.notes == (
        f"the NUMA nodes differ, or are split across sockets (cores 12, NUMA nodes {numa_nodes}, sockets 2); each "
        "socket is treated as one NUMA node",
    )


def test_cpus_off_line_are_noted():
    (note,) = read_lscpu(lscpu(**{"CPU(s)": "22"})).notes
    assert note == "lscpu counts 22 CPUs, but 2 sockets x 6 cores x 2 threads make 24; some may be off line"


@pytest.mark.parametrize(
    ("changes", "clock", "at"),
    [
        ({"Model_name": "X @ 3.10GHz", "BogoMIPS": "5000"}, 3.1, "Model name"),
        ({"BogoMIPS": "5000.12"}, 2.5, "BogoMIPS / 2, the clock of the time stamp counter"),
        ({"Architecture": "aarch64", "BogoMIPS": "50", "CPU_max_MHz": "2600,0000"}, 2.6, "CPU max MHz, the highest clock"),
        ({"CPU_MHz": "1999.5"}, 2.0, "CPU MHz, the clock when lscpu ran"),
    ],
)  # fmt: skip
def test_clock(changes, clock, at):
    quantity = read_lscpu(lscpu(**changes)).facts["clock_ghz"]
    assert (quantity.value, quantity.at) == (clock, at)


@pytest.mark.parametrize("mhz", ["", "-", "0.000", "99999", "fast"])
def test_no_clock(mhz):
    assert "clock_ghz" not in read_lscpu(lscpu(**{"CPU_max_MHz": mhz})).facts


@pytest.mark.parametrize(
    ("flags", "vendor", "flops"),
    [
        ("sse2", "GenuineIntel", 4),
        ("sse2 avx", "GenuineIntel", 8),
        ("sse2 avx avx2", "GenuineIntel", 8),
        ("sse2 avx avx2 fma", "GenuineIntel", 16),
        ("sse2 avx avx2 fma avx512f", "GenuineIntel", 32),
        ("sse2 avx avx2 fma avx512f", "AuthenticAMD", 16),
        ("fp asimd", "ARM", 8),
    ],
)
def test_operations_a_cycle(flags, vendor, flops):
    record = read_lscpu(lscpu(Flags=flags, Vendor_ID=vendor))
    assert record.facts["flops_per_cycle"].value == flops


def test_unknown_flags_tell_nothing():
    assert "flops_per_cycle" not in read_lscpu(lscpu(Flags="altivec")).facts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lscpu(**{"Socket(s)": None}), "lscpu: 'Socket(s)' is missing; run it in English: LC_ALL=C lscpu"),
        (lscpu(**{"Socket(s)": "two"}), "lscpu: 'Socket(s)' = 'two' must be a whole number of at least 1"),
        (lscpu(**{"Thread(s) per core": "0"}), "lscpu: 'Thread(s) per core' = '0' must be a whole number of at least 1"),
        (
            lscpu() + "\nCore(s) per socket: 4",
            "lscpu prints 'Core(s) per socket' twice: the node has two kinds of cores, but a machine file supports only one",
        ),
        (
            lscpu(**{"NUMA node0 CPU(s)": "0-2,x"}),
            "NUMA node0 CPU(s) = '0-2,x': 'x' is not a CPU or a range of CPUs",
        ),
        (
            lscpu(**{"NUMA node0 CPU(s)": "0-99999"}),
            "NUMA node0 CPU(s) = '0-99999': '0-99999' is not a range of CPUs below 65,536",
        ),
        (
            lscpu(**{"NUMA node0 CPU(s)": "5-3"}),
            "NUMA node0 CPU(s) = '5-3': '5-3' is not a range of CPUs below 65,536",
        ),
        (
            lscpu(**{"Socket(s)": "999999"}),
            "lscpu: 999999 sockets x 6 cores x 2 threads exceed 65,536 CPUs",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read(text, message):
    with pytest.raises(ValueError) as error:
        read_lscpu(text)
    assert str(error.value) == message


def test_meminfo():
    # 32,819,200 kB / 1,024 / 1,024 = 31.3 GB, of 32 installed
    facts = read_meminfo(sample("meminfo.txt")).facts
    assert facts["usable_memory_gb"].value == 31.3
    assert facts["usable_memory_gb"].at == "MemTotal"
    assert facts["memory_gb"].value == 32
    assert facts["memory_gb"].assumed == "31.30 GB are reported; rounded up to a multiple of the memory module size"


@pytest.mark.parametrize("text", ["", "MemTotal: 0 kB", "MemTotal: many kB", "MemTotal: 5 MB"])
def test_meminfo_that_cannot_be_read(text):
    with pytest.raises(ValueError, match="'MemTotal' is missing, or is not a number of kB"):
        read_meminfo(text)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        read_lscpu(text)
    except ValueError:
        return


@given(st.lists(st.sampled_from(lscpu().splitlines()), unique=True), st.text("0123456789,-.x ", max_size=8))
def test_lines_in_any_order_are_read_or_refused(lines, noise):
    try:
        record = read_lscpu("\n".join(line.replace("2", noise, 1) for line in lines))
    except ValueError:
        return
    assert record.cores >= 1
