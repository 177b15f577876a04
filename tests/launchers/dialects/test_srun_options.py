"""Values of --distribution, --cpu-bind and --hint."""

import pytest

from hopperkit.launchers.dialects._srun_options import (
    CpuBind,
    Hint,
    bind_options,
    read_cpu_bind,
    read_distribution,
    read_hint,
)
from hopperkit.launchers.dialects.slurm import SlurmNode
from hopperkit.launchers.options import Given
from hopperlib.machine import Launcher
from hopperlib.placement.components import LaunchError

PLAIN = SlurmNode(sockets=2, cores_per_socket=4, threads_per_core=1)
SMT = SlurmNode(sockets=2, cores_per_socket=4, threads_per_core=2)
CYCLIC = Launcher(kind="srun", options=(), default_distribution="block:cyclic")
BLOCK = Launcher(kind="srun", options=(), default_distribution="block:block")
NO_HINT = Hint(None, None)


def option(name: str, value: str, typed: str = "") -> Given:
    return Given(name, typed or name, value, True)


def bound(value: str, **others: str) -> CpuBind:
    options = {"--cpu-bind": option("--cpu-bind", value)} if value else {}
    options |= {
        f"--{name.replace('_', '-')}": option(f"--{name.replace('_', '-')}", text) for name, text in others.items()
    }
    return read_cpu_bind(options, NO_HINT, (23, 11))


@pytest.mark.parametrize(
    ("value", "methods"),
    [
        ("block", ("block", "cyclic", "cyclic")),
        ("cyclic", ("cyclic", "cyclic", "cyclic")),
        ("block:block", ("block", "block", "block")),
        ("cyclic:fcyclic", ("cyclic", "fcyclic", "fcyclic")),
        ("*:block:*", ("block", "block", "block")),
        ("block:*:block", ("block", "cyclic", "block")),
        ("Block:Cyclic", ("block", "cyclic", "cyclic")),
        ("plane=4", ("plane", "block", "block")),
    ],
)
def test_methods_of_the_levels(value: str, methods: tuple[str, ...]) -> None:
    assert read_distribution(option("-m", value), CYCLIC, PLAIN, None).methods == methods


def test_the_launchers_default_stands_in() -> None:
    assert read_distribution(None, BLOCK, PLAIN, None).methods == ("block", "block", "block")
    assert read_distribution(option("-m", "cyclic"), BLOCK, PLAIN, None).methods[1] == "block"
    # An asterisk stands for Slurm's default, cyclic (srun man page).
    assert read_distribution(option("-m", "block:*"), BLOCK, PLAIN, None).methods[1] == "cyclic"


def test_planes_and_packing() -> None:
    assert read_distribution(option("-m", "plane=4"), CYCLIC, PLAIN, None).plane_size == 4
    assert read_distribution(option("-m", "block,Pack"), CYCLIC, PLAIN, None).pack_nodes
    assert not read_distribution(option("-m", "block,NoPack"), CYCLIC, PLAIN, None).pack_nodes


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("plane", "needs the size of a plane, as in plane=4"),
        ("plane=0", "must be at least 1"),
        ("arbitrary", "takes the nodes of the tasks from a file, which is not part of this text"),
        ("fcyclic", "has fcyclic for the nodes; allowed here: block or cyclic, or *"),
        ("block:random", "has random for the sockets; allowed here: block or cyclic or fcyclic, or *"),
        ("block:", "has nothing for the sockets; allowed here: block or cyclic or fcyclic, or *"),
        ("block:block:block:block", "has at most three levels: nodes, sockets, cores"),
        ("block,Tight", "allows only Pack or NoPack after a comma"),
    ],
)
def test_methods_that_are_refused(value: str, rule: str) -> None:
    with pytest.raises(LaunchError) as caught:
        read_distribution(option("-m", value), CYCLIC, PLAIN, None)
    assert caught.value.rule == rule


def test_the_level_of_cores_has_no_effect() -> None:
    # With one thread per core there is nothing to choose.
    assert read_distribution(option("-m", "block:cyclic:block"), CYCLIC, PLAIN, None).note == ""
    note = read_distribution(option("-m", "block:cyclic:fcyclic"), CYCLIC, SMT, None).note
    assert note == "The third part of -m block:cyclic:fcyclic, for cores, has no effect."


@pytest.mark.parametrize(
    ("release", "value", "step_method"),
    [
        ((20, 11), "block:cyclic", "block"),
        ((21, 8), "block:cyclic", "fcyclic"),
        ((21, 8), "block:block", "block"),
        ((22, 5), "block:cyclic", "cyclic"),
    ],
)
def test_how_the_cores_of_a_step_are_picked(release: tuple[int, ...], value: str, step_method: str) -> None:
    node = PLAIN._replace(release=release)
    assert read_distribution(option("-m", value), CYCLIC, node, None).step_method == step_method


@pytest.mark.parametrize(
    ("value", "keyword"),
    [
        ("cores", "cores"),
        ("core", "cores"),
        ("verbose,threads", "threads"),
        ("quiet,socket", "sockets"),
        ("ldoms,v", "ldoms"),
        ("no", "none"),
        ("none", "none"),
        ("rank", "rank"),
        ("q,rank_ldom", "rank_ldom"),
        ("verbose", None),
        ("Cores", "cores"),
        # A way of binding goes before a unit.
        ("cores,none", "none"),
    ],
)
def test_keywords(value: str, keyword: str | None) -> None:
    assert bound(value) == CpuBind(keyword, None)


@pytest.mark.parametrize(
    ("value", "keyword", "entries"),
    [
        ("map_cpu:0,6,12,18", "map_cpu", ((0,), (6,), (12,), (18,))),
        ("verbose,map_cpu:0*2,3*2", "map_cpu", ((0,), (0,), (3,), (3,))),
        ("map_cpu:0,1,verbose", "map_cpu", ((0,), (1,))),
        ("map_cpu:0x10", "map_cpu", ((16,),)),
        ("mask_cpu:0x3f,fc0", "mask_cpu", (tuple(range(6)), tuple(range(6, 12)))),
        ("mask_cpu:0x55*2", "mask_cpu", ((0, 2, 4, 6), (0, 2, 4, 6))),
        ("map_ldom:3,1", "map_ldom", ((3,), (1,))),
        ("mask_ldom:0x3", "mask_ldom", ((0, 1),)),
        ("maskcpu=f", "mask_cpu", ((0, 1, 2, 3),)),
    ],
)
def test_lists(value: str, keyword: str, entries: tuple[tuple[int, ...], ...]) -> None:
    assert bound(value) == CpuBind(keyword, entries)


@pytest.mark.parametrize("value", ["nodes", "map_cpu:", "map_cpu:0.5", "cores;threads", "boards", ""])
def test_bindings_that_are_refused(value: str) -> None:
    with pytest.raises(LaunchError, match="must be cores, threads, sockets, ldoms, rank, rank_ldom, none, or map_cpu:"):
        bound(value or "x")


def test_what_other_options_imply() -> None:
    assert bound("", threads_per_core="1").keyword == "threads"
    assert bound("", ntasks_per_core="1").keyword == "cores"
    assert bound("", ntasks_per_core="2").keyword == "threads"
    assert bound("", ntasks_per_socket="3").keyword == "sockets"
    assert bound("none", ntasks_per_socket="3").keyword == "none"
    assert bound("verbose", threads_per_core="1").keyword == "threads"
    # Before 21.08 the last of the two held; 20.11.4 so binds to threads.
    threads, sockets = option("--threads-per-core", "1"), option("--cpu-bind", "sockets")
    first_sockets = {"--cpu-bind": sockets, "--threads-per-core": threads}
    first_threads = {"--threads-per-core": threads, "--cpu-bind": sockets}
    assert read_cpu_bind(first_sockets, NO_HINT, (20, 11)).keyword == "threads"
    assert read_cpu_bind(first_threads, NO_HINT, (20, 11)).keyword == "sockets"
    assert read_cpu_bind(first_sockets, NO_HINT, (21, 8)).keyword == "sockets"
    # srun reads the job's --ntasks-per-core only from 23.02 on, and bound two of them to cores before.
    inherited = {"--ntasks-per-core": option("--ntasks-per-core", "2", "SLURM_NTASKS_PER_CORE")}
    assert read_cpu_bind(inherited, NO_HINT, (22, 5)).keyword is None
    assert read_cpu_bind(inherited, NO_HINT, (23, 2)).keyword == "threads"
    assert read_cpu_bind({"--ntasks-per-core": option("--ntasks-per-core", "2")}, NO_HINT, (22, 5)).keyword == "cores"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("compute_bound", Hint(1, "cores")),
        ("memory_bound", Hint(1, "cores")),
        ("nomultithread", Hint(1, "threads")),
        ("multithread", Hint(None, "threads")),
    ],
)
def test_hints(value: str, hint: Hint) -> None:
    assert read_hint(option("--hint", value)) == hint


def test_a_hint_that_is_none_is_refused() -> None:
    with pytest.raises(LaunchError, match="must be compute_bound, memory_bound, multithread or nomultithread"):
        read_hint(option("--hint", "fast"))
    assert read_hint(None) == NO_HINT


def test_on_the_line_others_win_over_a_hint() -> None:
    notes: list[str] = []
    options = {"--hint": option("--hint", "nomultithread"), "--cpu-bind": option("--cpu-bind", "cores")}
    bind_options(options, (23, 11), notes)
    assert set(options) == {"--cpu-bind"}
    assert notes == ["--hint=nomultithread is ignored with --cpu-bind."]
    # verbose alone is no binding and does not count.
    options = {"--hint": option("--hint", "nomultithread"), "--cpu-bind": option("--cpu-bind", "verbose")}
    bind_options(options, (23, 11), notes)
    assert "--hint" in options


def test_a_hint_on_the_line_wins_over_the_environment() -> None:
    options = {
        "--hint": option("--hint", "nomultithread"),
        "--threads-per-core": option("--threads-per-core", "2", typed="SLURM_THREADS_PER_CORE"),
    }
    bind_options(options, (23, 11), [])
    assert set(options) == {"--hint"}


def test_rank_is_gone_from_24_11() -> None:
    notes: list[str] = []
    options = {"--cpu-bind": option("--cpu-bind", "v,rank")}
    bind_options(options, (24, 11), notes)
    assert options["--cpu-bind"].value == "v"
    assert notes == ["--cpu-bind=rank is ignored from Slurm 24.11 on."]
    options = {"--cpu-bind": option("--cpu-bind", "rank")}
    bind_options(options, (24, 5), notes)
    assert options["--cpu-bind"].value == "rank"
