"""The errata: every proof is true, and every correction can be worked with."""

from __future__ import annotations

import re

import pytest

from hopperbook.documented import CORRECTING, all_values, errata, erratum
from hopperbook.proofs import evaluate_proof

ALL = errata()


@pytest.mark.parametrize("slip", [slip for slip in ALL if slip.proof], ids=lambda slip: slip.id)
def test_proof_is_true(slip):
    assert evaluate_proof(slip.proof)


@pytest.mark.parametrize("slip", [slip for slip in ALL if not slip.proof], ids=lambda slip: slip.id)
def test_only_a_slip_without_a_wrong_digit_needs_no_proof(slip):
    assert not slip.adopted or re.findall(r"\d", slip.printed) == re.findall(r"\d", slip.adopted)


@pytest.mark.parametrize("value", [v for v in all_values() if v.adopted != v.value], ids=lambda v: v.id)
def test_corrected_numbers_stay_numbers(value):
    slip = erratum(value.errata)
    assert slip.kind in CORRECTING
    if value.number is not None and slip.sure != "open":
        assert value.adopted_number is not None


def test_nothing_settles_an_empty_reading():
    assert all(slip.sure == "open" for slip in ALL if not slip.adopted)


def test_unknown_id_names_the_nearest():
    with pytest.raises(ValueError) as error:
        erratum("table-1165")
    assert str(error.value) == "there is no erratum 'table-1165'; did you mean 'table-1156'?"


@pytest.mark.parametrize(
    ("id", "printed", "adopted"),
    [
        ("nodes-3284", "3,284", "6,384"),
        ("cores-153126", "153,126", "153,216"),
        ("power-of-two", "1,024,576", "1,048,576"),
        ("ceiling-unit", "1700 GB/sec", "1700 MB/sec"),
        ("table-1156", "1156", "1556"),
        ("may-24-aix", "5.3", "5.2"),
    ],
)
def test_key_misprints(id, printed, adopted):
    slip = erratum(id)
    assert (slip.printed, slip.adopted, slip.kind, slip.sure) == (printed, adopted, "misprint", "certain")
