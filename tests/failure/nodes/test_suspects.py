"""Nodes that fail more often than chance allows: exact odds, and few false alarms."""

import random
from fractions import Fraction
from itertools import product
from math import comb

import pytest

from hopperkit.failures.outputs import row_of
from hopperkit.failures.suspects import Job, at_least, suspects
from hopperkit.questions.failure._many_outputs import many_outputs
from hopperlib.failure.diagnosis.diagnosis import diagnose


def folder(rng, *, bad=None, listed, jobs=2000, nodes=500):
    """Outputs of jobs on one to eight nodes: one in seven fails on a random node, and all jobs on a bad node fail."""
    made = []
    for _ in range(jobs):
        own = rng.sample(range(nodes), rng.randint(1, 8))
        blamed = bad if bad in own else rng.choice(own) if rng.random() < 1 / 7 else None
        names = frozenset(f"n{node}" for node in own) if listed else frozenset()
        made.append(Job(f"n{blamed}" if blamed is not None else None, names))
    return made


@pytest.mark.parametrize("listed", [True, False])
def test_a_seeded_bad_node_is_named_and_no_other(listed):
    rng = random.Random(1)
    for bad in (3, 17, 401):
        assert [suspect.node for suspect in suspects(folder(rng, bad=bad, listed=listed))] == [f"n{bad}"]


def test_folders_without_a_bad_node_name_none():
    """At a level of 0.003 per folder, two hundred folders name at most 0.6 nodes on average; two are allowed."""
    rng = random.Random(2)
    named = sum(bool(suspects(folder(rng, listed=number % 2 == 0, jobs=300, nodes=60))) for number in range(200))
    assert named <= 2


def test_the_odds_are_those_of_the_binomial():
    """By hand: at least k of n draws with p = 1/4 is the sum of comb(n, j) p^j (1 - p)^(n - j)."""
    p = Fraction(1, 4)
    for k in range(1, 12):
        by_hand = sum(comb(12, j) * p**j * (1 - p) ** (12 - j) for j in range(k, 13))
        assert at_least(k, [(12, 0.25)]) == pytest.approx(float(by_hand), rel=1e-12)


def test_draws_of_different_odds_are_those_of_all_outcomes():
    odds = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 3), Fraction(1, 7)]
    for k in range(5):
        by_hand = Fraction(0)
        for outcome in product((0, 1), repeat=4):
            chance = Fraction(1)
            for success, p in zip(outcome, odds, strict=True):
                chance *= p if success else 1 - p
            by_hand += chance * (sum(outcome) >= k)
        assert at_least(k, [(1, 1 / 2), (2, 1 / 3), (1, 1 / 7)]) == pytest.approx(float(by_hand), rel=1e-12)


def test_small_odds_are_not_lost_in_rounding():
    assert at_least(10, [(2000, 1e-6)]) == pytest.approx(comb(2000, 10) * 1e-60, rel=0.01)


def test_one_node_has_nobody_to_compare_with():
    assert suspects([Job("n1")] * 50) == []
    assert suspects([]) == []


def row(number, node, *, ending):
    """One output of many: the same lines except for its node, with the time and number of different jobs or of the same
    one.
    """
    mark = number if ending == "own" else 4711
    text = f"slurmstepd: error: *** JOB {mark:06d} ON {node} CANCELLED AT 2024-03-04T10:00:00 ***\n"
    return row_of(f"{number}.out", diagnose([("a.out", text)]))


@pytest.mark.parametrize(
    ("planted", "others", "named"),
    [
        # A bad node among jobs with numbers of their own; twelve copies of one output; and lines that are alike for all
        # nodes.
        ("own", "own", ["bad"]),
        ("one", "own", []),
        ("one", "one", ["bad"]),
    ],
)
def test_copies_of_one_output_make_no_bad_node(planted, others, named):
    rows = [row(number, f"n{number}", ending=others) for number in range(100, 160)]
    rows += [row(number, "bad", ending=planted) for number in range(12)]
    assert [suspect["node"] for suspect in many_outputs(rows).facts["suspects"]] == named
