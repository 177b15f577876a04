"""Of sixty logs with planted rules and partitions all are found, and nothing is invented in the first sentence."""

import pytest

from hopperkit.questions.network.traces.rules import learned_result
from hopperkit.traces.capacity.machine import scheduled_on
from hopperkit.traces.rules.evidence import learned_from
from hopperkit.traces.rules.learn import learn
from tests.traces.planted import CLOCK, SETTINGS, Verdict, planted_log, verdict

FOUND = Verdict(rule=True, partitions=True, invented=[])
#: Some in every run; all sixty by night.
FEW = [("one", "jobs of an account", 11), ("apart", "shortest first", 11)]


@pytest.mark.parametrize("setting", FEW, ids=str)
def test_a_planted_rule_and_its_partitions_are_found(setting):
    assert verdict(*setting) == FOUND


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_sixty_planted_rules_are_found(setting):
    assert verdict(*setting) == FOUND


def test_the_first_sentence_names_the_planted_rule():
    log = planted_log("apart", "widest first", 11, jobs=800)
    room = scheduled_on(log)
    result = learned_result(*learn(log, room, CLOCK), learned_from(log, room))
    assert result.summary.startswith("The widest jobs go first")
    assert "no closed hours and no limits show" in result.summary.split(".")[0]
