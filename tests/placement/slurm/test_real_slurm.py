"""Placements compared with the stored answers of Slurm 20.11, 22.05, 24.11 and 26.05 (scripts/ask_slurm.py runs them again)."""

import csv
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tests.placement.slurm.compare import Answer, answers, counted, packaged, summary, verdict

RELEASES = ("20.11", "22.05", "24.11", "26.05")


EVERY = 16
"""Of so many answers one is held in each run of the tests, all of them nightly."""


@cache
def of_release(release: str, every: int) -> dict[tuple[str, str], Counter[str]]:
    return counted(islice((answer for answer in answers() if answer.release == release), 0, None, every))


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("release", RELEASES)
def test_placed_as_slurm_does(release: str, every: int) -> None:
    total = sum(of_release(release, every).values(), Counter())
    answered = total.total() - total["cannot tell"]
    assert total.total() >= 2500 // every
    assert total["wrong"] <= 0.001 * answered
    assert total["equal"] >= 0.995 * answered
    # The share of few answers is less certain.
    assert total["cannot tell"] <= (0.03 if every == 1 else 0.06) * total.total()


@pytest.mark.nightly
def test_the_published_counts_are_those_of_the_table() -> None:
    counts = {key: count for release in RELEASES for key, count in of_release(release, 1).items()}
    with Path("data/asked-slurm.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    assert published == [{key: str(value) for key, value in row.items()} for row in summary(counts)]


def test_a_difference_is_seen() -> None:
    answer = Answer("2x1x1x28x1 CR_Core - -", "-N1", "srun -n 2 --cpu-bind=cores", "24.11", "0 28")
    assert verdict(answer.answer, packaged(answer)) == "equal"
    assert verdict("0 1", packaged(answer)) == "wrong"
    assert verdict("! no", packaged(answer)) == "taken wrongly"
    assert verdict("0 28", "! no") == "refused wrongly"
