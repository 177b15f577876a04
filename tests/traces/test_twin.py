"""The twin of a log finds planted faults, and none in a clean log."""

import pytest

from hopperkit.traces.capacity.machine import count_of, scheduled_on
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.twin import twin
from hopperlib.scheduling.workload import Workload
from tests.traces.corrupted import CORRUPTIONS, clock_behind, doubled_hour, merged_partitions
from tests.traces.planted import CLOCK, SETTINGS, planted_log

#: Twenty clean logs: and every third of those with planted rules.
CLEAN = SETTINGS[::3]


def named(log: Workload) -> set[str]:
    """Findings on a log: rules that it does not mention, findings of its twin, and whose waits are off."""
    room = scheduled_on(log)
    assert room is not None
    rules, _ = learn(log, room, CLOCK)
    names = {"absent"} if rules.absent else set()
    names |= {"closed"} if rules.closed else set()
    names |= {"limit"} if rules.limits else set()
    for finding in twin(log, room, CLOCK, rules).findings:
        names.add(finding.code)
        if finding.code == "simulation-breaks":
            what, name = finding.evidence["what"], finding.evidence["name"]
            names |= {what, f"{what} {name}"}
    return names


@pytest.mark.parametrize(
    ("make", "structure", "code"),
    [
        (doubled_hour, "one", "repeated-hour"),
        (clock_behind, "one", "starts-before-submission"),
        (merged_partitions, "apart", "hidden-partitions"),
    ],
)
def test_a_corruption_is_named(make, structure, code):
    assert code in named(make(structure, 21))


def test_an_hour_that_is_in_the_log_twice_does_not_enlarge_the_machine():
    assert count_of(scheduled_on(doubled_hour("one", 21))) == 64


def test_nothing_is_named_in_a_clean_log():
    log = planted_log("apart", "jobs of a user", 31)
    room = scheduled_on(log)
    assert twin(log, room, CLOCK, learn(log, room, CLOCK)[0]).findings == ()


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_of_twenty_corruptions_eighteen_are_named():
    missed = [
        (make.__name__, structure, seed)
        for make, structure, seed, codes in CORRUPTIONS
        if not codes & named(make(structure, seed))
    ]
    assert len(missed) <= 2, missed


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("setting", CLEAN, ids=str)
def test_twenty_clean_logs_have_nothing_to_name(setting):
    structure, rule, seed = setting
    log = planted_log(structure, rule, seed + 20)
    room = scheduled_on(log)
    assert twin(log, room, CLOCK, learn(log, room, CLOCK)[0]).findings == ()
