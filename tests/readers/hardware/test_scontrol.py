"""``scontrol show node`` as text, one line a node, and JSON."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware._scontrol import read_scontrol

SAMPLES = Path(__file__).parents[1] / "samples" / "hardware"


def sample(name):
    return (SAMPLES / name).read_text(encoding="utf-8")


def line(name, *, sockets=2, cores=8, threads=1, memory=64_000, more=""):
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket={cores} Version=23.11.1 RealMemory={memory} Sockets={sockets} "
        f"Boards=1 ThreadsPerCore={threads} {more}"
    )


def summary(records):
    return [
        (
            record.facts["count"].value,
            record.sockets,
            record.cores,
            record.threads_per_core,
            record.facts["memory_gb"].value,
            record.facts["usable_memory_gb"].value,
        )
        for record in records
    ]


def test_one_node_on_several_lines():
    (record,) = read_scontrol(sample("scontrol-one-node.txt"))
    # RealMemory 515,072 less MemSpecLimit 15,000 = 500,072 MB / 1,024 = 488.35 GB, of 512 installed.
    # The comment at the end says Sockets=9, which does not count.
    assert summary([record]) == [(1, 2, 128, 2, 512, 488.35)]
    assert record.slurm_version == "23.02.7"
    assert record.facts["count"].at == "nodes alike: node001"


def test_nodes_parted_by_empty_lines():
    node = sample("scontrol-one-node.txt")
    (record,) = read_scontrol("\n\n" + node + "\n\n" + node.replace("node001", "node002") + "\n")
    assert summary([record]) == [(2, 2, 128, 2, 512, 488.35)]


def test_a_cluster_of_three_kinds():
    # 31,750 MB / 1,024 = 31.0 GB, the least of four nodes; 385,000 / 1,024 = 375.98; 64,000 / 1,024 = 62.5
    records = read_scontrol(sample("scontrol-cluster.txt"))
    assert summary(records) == [
        (4, 4, 24, 1, 32, 31.01),
        (2, 2, 40, 2, 384, 375.98),
        (1, 4, 24, 1, 64, 62.5),
    ]
    assert {record.slurm_version for record in records} == {"21.08.8"}
    assert records[0].facts["count"].at == "nodes alike: c1 and 3 more"


def test_numa_nodes_are_assumed():
    (record,) = read_scontrol(line("a"))
    assert record.facts["numa_nodes_per_socket"].badge == "assumed"
    assert record.numa_nodes is None


def test_thousands_of_nodes():
    records = read_scontrol("\n".join(line(f"n{n}", memory=64_000 - n % 7) for n in range(1500)))
    assert summary(records) == [(1500, 2, 16, 1, 64, 62.49)]


def test_the_kind_with_most_nodes_comes_first():
    text = "\n".join([line("a", cores=4), line("b"), line("c")])
    assert [record.cores for record in read_scontrol(text)] == [16, 8]


def test_a_reason_may_hold_anything():
    (record,) = read_scontrol(line("a", more="Reason=NodeName=b Sockets=4 [root]"))
    assert record.sockets == 2


def test_memory_kept_from_jobs_cannot_exceed_all():
    (record,) = read_scontrol(line("a", memory=2048, more="MemSpecLimit=4096"))
    assert record.facts["usable_memory_gb"].value == 2


def test_a_release_that_is_not_told():
    (record,) = read_scontrol(line("a").replace("Version=23.11.1 ", ""))
    assert record.slurm_version is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scontrol: the output shows no node"),
        ("Node nope not found", "scontrol: the output shows no node"),
        (line("a") + "\n" + line("a"), "scontrol: node a occurs twice"),
        (line("a").replace("Sockets=2", ""), "scontrol: node a: 'Sockets' is missing"),
        (line("a", cores=0), "scontrol: node a: 'CoresPerSocket' = '0' must be a whole number of at least 1"),
        (line("a", memory="much"), "scontrol: node a: 'RealMemory' = 'much' must be a whole number of at least 1"),
        (line("a", sockets=9999, cores=9999), "scontrol: node a: 9999 x 9999 x 1 CPUs exceed 65,536"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(ValueError) as error:
        read_scontrol(text)
    assert str(error.value) == message


kinds = st.tuples(st.integers(1, 8), st.integers(1, 64), st.integers(1, 4), st.sampled_from([31_000, 64_000, 515_000]))


@given(st.lists(kinds, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_every_node_is_in_one_kind_whatever_the_order(nodes, rng):
    lines = [
        line(f"n{n}", sockets=sockets, cores=cores, threads=threads, memory=memory)
        for n, (sockets, cores, threads, memory) in enumerate(nodes)
    ]
    records = read_scontrol("\n".join(lines))
    assert sum(record.facts["count"].value for record in records) == len(nodes)
    assert len(records) == len(set(nodes))
    rng.shuffle(lines)
    assert summary(read_scontrol("\n".join(lines))) == summary(records)


@given(
    st.lists(st.sampled_from(["NodeName=", "NodeName=a", "\n", " ", "Sockets=2", "CoresPerSocket=", "4"]) | st.text())
)
def test_any_text_is_read_or_refused(parts):
    try:
        read_scontrol("".join(parts))
    except ValueError:
        return
