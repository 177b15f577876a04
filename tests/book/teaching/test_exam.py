"""The test of the workshop: twelve aims, two variants, answers that the models give."""

from __future__ import annotations

import pytest

from hopperbook.self_checks import ChoiceCheck, NumberCheck
from hopperbook.teaching.exam import AIMS, VARIANTS, exam, exam_data
from hopperbook.teaching.sheet import answer_of, mistakes_of, needs_page


@pytest.fixture(scope="module")
def variants():
    """Both variants."""
    return {variant: exam(variant) for variant in VARIANTS}


def test_both_variants_have_the_same_twelve_aims(variants):
    assert [list(questions) for questions in variants.values()] == [list(AIMS), list(AIMS)]
    assert len(AIMS) == 12
    assert [one["key"] for one in exam_data()] == list(AIMS)


def test_the_questions_differ_and_a_number_learned_by_heart_is_wrong(variants):
    for aim in AIMS:
        before, after = (variants[variant][aim] for variant in VARIANTS)
        assert type(before) is type(after)
        assert before.question != after.question or aim == "cause"
        if isinstance(before, NumberCheck) and isinstance(after, NumberCheck):
            assert not after.grade(before.answer).right, aim
            assert not before.grade(after.answer).right, aim


def test_every_question_has_an_answer_and_needs_no_page(variants):
    for variant, questions in variants.items():
        for aim, check in questions.items():
            data = check.to_dict()
            assert check.name == f"test-{variant}-{aim}"
            assert answer_of(data)
            assert not needs_page(check.question)
            assert len({one.say for one in mistakes_of(data)}) == len(mistakes_of(data))
            if isinstance(check, ChoiceCheck):
                assert check.several == (sum(option.right for option in check.options) > 1) or check.node


def test_answers_worked_out_by_hand(variants):
    before, after = ({aim: answer_of(check.to_dict()) for aim, check in variants[name].items()} for name in VARIANTS)
    # 31 GB for 16 and for 20 tasks.
    assert (before["share"], after["share"]) == ("1.94 GB", "1.55 GB")
    # Ten tasks fill six cores and four of the next, fourteen six, six and two.
    assert before["fill"] == "NUMA node 0, NUMA node 1"
    assert after["fill"] == "NUMA node 0, NUMA node 1, NUMA node 2"
    # 80 nodes for 3 hours and 48 for 4, 24 cores each.
    assert (before["charge"], after["charge"]) == ("5,760 core-hours", "4,608 core-hours")
    # Around a ring of 17: 1 to 15 is three the other way, 2 to 13 six.
    assert (before["hops"], after["hops"]) == ("3", "6")
    # Job 3 fits beside job 1 and ends before hour 4; with five hours it would delay job 2, which ends at 6.
    assert (before["backfill"], after["backfill"]) == ("0 h", "6 h")
    assert after["cause"] == "`forrtl: No space left on device`"
    # One minus 0.98 to the 30th, and 0.99 to the 90th.
    assert (before["alarms"].split()[0], after["alarms"].split()[0]) == ("45", "60")


def test_a_variant_that_is_none():
    with pytest.raises(ValueError, match="variant='during' must be one of: before, after"):
        exam("during")
