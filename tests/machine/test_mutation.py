"""A sourced constant of Hopper's file that a study uses cannot change unnoticed: some check fails."""

from __future__ import annotations

import pytest

from hopperbook import score, studies
from hopperbook.documented import by_study
from hopperlib.machine import Machine

# Words have no tenth to add.
OTHER_WORDS = {
    "2011-05-01": "2012-05-01",
    "block": "cyclic",
    "block:cyclic": "block:block",
    "numa_node": "socket",
}

# Sourced, but not used by any check of a study, with the reason or the future use.
NOT_USED_YET = {
    "node.large-memory.numa_bandwidth_gb_s": "no documented line runs on the larger nodes",
    "node.standard.numa_link_gb_s": "the cores and channels bind before the link does",
    "node.large-memory.numa_link_gb_s": "no documented line runs on the larger nodes",
    "network.link_bandwidth_gb_s.x": "the torus study",
    "network.link_bandwidth_gb_s.y_within_blade": "the torus study",
    "network.link_bandwidth_gb_s.y_between_blades": "the torus study",
    "network.link_bandwidth_gb_s.z_within_cage": "the torus study",
    "network.link_bandwidth_gb_s.z_between_cages": "the torus study",
    "launcher.srun.slurm_socket": "Hopper ran no srun, so no source prints such a line",
}

# Sourced, but too uncertain for any check: a tenth more changes results, but no verdict.
TOO_LITTLE = {
    "node.standard.numa_bandwidth_gb_s": "measured on processors of its kind; the run times that would test it are lost",
}

SYNOPSIS = "-a -b -B -cc -cp -d -D -F -L -m -n -N -q -r -S -sl -sn -ss -t -T"

# Printed, and reproduced by every model by construction: no check of a study can fail because of them, so they are
# checked here.
PRINTED = {
    # NERSC's page on Hopper's memory: 1 GB of the 64 is the system's.
    "node.large-memory.usable_memory_gb": 63,
    # Byna and others 2013, sec. III-B: 144 OSTs of 64 MB, and nothing gained above 144.
    "file_system.scratch.largest_stripe_size_bytes": 64 * 2**20,
    "file_system.scratch.useful_stripe_count": 144,
    # Antypas and He 2011, sec. 1: a server failed, and the file system recovered by itself.
    "file_system.scratch.server_failover": True,
    # NERSC's page on Hopper's aprun, synopsis of the man page: the tool refuses other options, the models know five.
    "launcher.aprun.options": tuple(SYNOPSIS.split()),
}

HOPPER = Machine.load("hopper")
SOURCED = tuple(path for path, quantity in HOPPER.provenance.items() if quantity.source is not None)


def _changed(path, value):
    """Another value of the same kind: a tenth more, at least one more; a flag inverted, a list cut to its first
    word.
    """
    if path.endswith("stripe_size_bytes"):
        return 2 * value
    match value:
        case bool():
            return not value
        case int():
            return value + max(1, value // 10)
        case float():
            return 1.1 * value
        case str():
            return OTHER_WORDS[value]
        case (*rest, int(last)):
            return (*rest, last + 1)
        case _:
            return value[:1]


def _results(name):
    """Result and verdict of each check of a study by id, including those by construction; a model that raises has
    missed.
    """
    try:
        return {row.id: (row.reproduced, row.verdict) for row in score.all_rows(name)}
    except ValueError as error:
        return {value.id: (str(error), "missed") for value in by_study(name)}


@pytest.fixture(scope="module")
def before():
    """The results with the unchanged Hopper of the studies that read its file."""
    found, load, read = {}, Machine.load, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "load", staticmethod(lambda name: read.append(name) or load(name)))
        for name in studies.built():
            read.clear()
            results = _results(name)
            if "hopper" in read:
                found[name] = results
    return found


@pytest.fixture
def changed_hopper(path, monkeypatch):
    """One constant of Hopper changed without validation: only the checks must notice."""
    with monkeypatch.context() as patch:
        patch.setattr(Machine, "broken_rules", lambda machine: [])
        value = _changed(path, HOPPER.provenance[path].value)
        changed = HOPPER.with_value(path, value, assumed="a test")
    load = Machine.load
    monkeypatch.setattr(Machine, "load", staticmethod(lambda name: changed if name == "hopper" else load(name)))


def test_what_is_printed_stands_in_the_file():
    assert {path: HOPPER.provenance[path].value for path in PRINTED} == PRINTED


def test_both_scratch_file_systems_are_alike():
    first, second = (
        {path.rpartition(".")[2]: q.value for path, q in HOPPER.provenance.items() if f"file_system.{name}." in path}
        for name in ("scratch", "scratch2")
    )
    assert first == second


@pytest.mark.nightly
def test_nothing_is_missed_before(before):
    assert set(before) >= {"machines", "placement", "memory"}
    assert not [id for results in before.values() for id, (_, verdict) in results.items() if verdict == "missed"]


@pytest.mark.usefixtures("changed_hopper")
@pytest.mark.parametrize(
    ("path", "study"),
    [("node.standard.cores_per_numa_node", "placement"), ("node.standard.usable_memory_gb", "memory")],
)
def test_a_changed_constant_fails_a_check_of_its_study(path, study):
    assert any(verdict == "missed" for _, verdict in _results(study).values())


@pytest.mark.nightly
@pytest.mark.usefixtures("changed_hopper")
@pytest.mark.parametrize(
    "path", [path for path in SOURCED if path not in NOT_USED_YET | TOO_LITTLE | PRINTED and "scratch2." not in path]
)
def test_a_changed_constant_fails_a_check(path, before):
    # The first study in which a check fails is enough.
    noticed = any(verdict == "missed" for name in before for _, verdict in _results(name).values())
    assert noticed, f"{path} can change, and every check still agrees"


@pytest.mark.nightly
@pytest.mark.usefixtures("changed_hopper")
@pytest.mark.parametrize("path", TOO_LITTLE)
def test_a_constant_moves_results_and_no_verdict(path, before):
    after = {name: _results(name) for name in before}
    assert after != before, f"{path} moves nothing; list it as unused"
    assert not [id for results in after.values() for id, (_, verdict) in results.items() if verdict == "missed"]


@pytest.mark.nightly
def test_constants_said_to_be_unused_are(before, monkeypatch):
    """Changing all of them at once changes no result, so none of them alone does."""
    assert set(NOT_USED_YET) <= set(SOURCED), "a line here is no sourced constant of Hopper's file; take it out"
    changed = HOPPER
    with monkeypatch.context() as patch:
        patch.setattr(Machine, "broken_rules", lambda machine: [])
        for path in NOT_USED_YET:
            changed = changed.with_value(path, _changed(path, HOPPER.provenance[path].value), assumed="a test")
    load = Machine.load
    monkeypatch.setattr(Machine, "load", staticmethod(lambda name: changed if name == "hopper" else load(name)))
    for name, results in before.items():
        assert _results(name) == results, f"one of {', '.join(NOT_USED_YET)} moves a check of {name}; take its line out"
