"""Documented values: contents, tolerances, and refusals."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.documented import (
    DocumentedValue,
    all_values,
    by_study,
    documented,
    errata,
    erratum,
    printed,
    printed_number,
)

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Rows that print neither a number nor a shape nor a date say what they print in the unit.
WORDED_UNITS = {
    *("AIX version", "address", "calls", "chart", "cname", "code", "codes", "command", "cube", "flag", "flags", "grid"),
    *("label", "launch line", "legend", "machine", "message", "messages", "metrics", "model", "module", "modules"),
    *("molecule", "name", "network", "nid", "nucleus", "option", "options", "project codes", "properties", "setting"),
    *("tests", "variable", "variables", "version", "words"),
}


def _value(text, qualifier, **fields):
    empty = dict.fromkeys(("id", "study", "quantity", "unit", "source", "locator", "errata", "note"), "")
    return DocumentedValue(**{**empty, "id": "toy.row", "value": text, "qualifier": qualifier, **fields})


@pytest.mark.parametrize(
    ("id", "number"),
    [
        ("machines.hopper-nodes-byna2013", 6384),
        ("machines.hopper-peak-he2012", 1.28),
        ("machines.franklin-mpi-latency", 6.5),
        ("memory.hopper-per-task-packed", 1.29),
        ("memory.hopper-per-task-half-packed", 2.58),
        ("memory.franklin-per-task-packed", 1.88),
        ("memory.franklin-per-task-half-packed", 3.77),
        ("placement.vasp-tasks", 384),
        ("hybrid.gtc-best-threads", 3),
        ("pages-and-libraries.small-page-bandwidth", 3.5),
        ("torus.slowdown", 30),
        ("torus.y-bandwidth-share", 0.5),
        ("fragmentation.early-bound-65536", 65536),
        ("scheduling-trouble.utilization", 81.7),
        ("scheduling-trouble.orphans-bug", 770068),
        ("variability.blue", 887.12),
        ("variability.orange", 1298.88),
        ("variability.red", 2462.33),
        ("variability.table-difference-minimum", -16.9),
        ("rank-order.s3d-without", 176.2),
        ("rank-order.s3d-with", 165.7),
        ("overlap-and-tuning.qla-fusing-speedup", 1.6),
        ("io-node.hopper-ceiling", 1700),
        ("iobuf.write-gain-high", 11),
        ("striping.mfdn-blocks", 250_000),
        ("trillion.fpp-rate", 27_007),
        ("trillion.shared-rate", 27_035),
        ("trillion.shared-size", 31.3),
        ("slow-ost.minutes-first", 35),
        ("diagnosis.control-message-port", 607),
        ("bad-nodes.hung-core-hours", 13.5),
        ("acceptance.ssp-gtc-seaborg", 5.19),
        ("benchmark-history.triad", 7200),
        ("context.projects-on-hopper", 280),
    ],
)
def test_key_numbers(id, number):
    assert documented(id).number == number


def test_every_row_without_a_number_says_what_it_prints():
    garbled = {"7x108", "ss9", "tens of", "1000s"}  # a lost exponent, two misread eights, and round words
    for value in all_values():
        if value.number is None and value.qualifier not in ("shape", "date") and "; " not in value.value:
            assert value.unit in WORDED_UNITS or value.value in garbled, value.id


def test_shapes_are_claims():
    assert all((value.value == "true") == (value.qualifier == "shape") for value in all_values())


def test_ends_of_a_range_are_in_order():
    for value in all_values():
        if value.qualifier == "range low":
            partner = re.sub(r"-low\b", "-high", value.id).replace("gain-from", "gain-to")
            assert documented(partner).qualifier == "range high"
            # The stripe sizes of a scan go from 1 MB to 1 GB.
            assert documented(partner).number > value.number or documented(partner).unit != value.unit


def test_dates_agree_with_their_iso_form():
    for value in all_values():
        if value.qualifier != "date":
            continue
        iso_date = value.note.split()[0]
        assert re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", iso_date), value.id
        year, month, day = (*iso_date.split("-"), "", "")[:3]
        printed_year = re.search(r"\b(19|20)\d\d\b", value.value)
        assert not printed_year or printed_year[0] == year, value.id
        named = [number for number, name in enumerate(MONTHS, start=1) if re.search(rf"\b{name}", value.value.lower())]
        assert not named or named == [int(month)], value.id
        assert not day or re.search(rf"(?<!\d)0?{int(day)}(?!\d)", value.value), value.id


def test_printed_weekday_is_right():
    # The only date that comes with its weekday.
    time = documented("diagnosis.gni-time")
    assert time.value.startswith("Mon")
    assert date.fromisoformat(time.note.split()[0]).weekday() == 0


def test_bug_numbers_rise_with_the_day_of_their_report():
    topics = ("libsci", "openmp", "gnu")
    reports = [(f"build-and-link.{topic}-reported", f"build-and-link.{topic}-bug") for topic in topics]
    reports.append(("scheduling-trouble.orphans-reported", "scheduling-trouble.orphans-bug"))
    dated = [(documented(day).note.split()[0], documented(bug).number) for day, bug in reports]
    assert dated == sorted(dated)
    assert [bug for _, bug in dated] == sorted(bug for _, bug in dated)


AXES = [slip for slip in errata() if slip.id.startswith("axis-") or slip.id.endswith("-axis")]


@pytest.mark.parametrize("slip", AXES, ids=lambda slip: slip.id)
def test_adopted_axis_ticks_are_evenly_spaced(slip):
    ticks = [printed_number(tick) for tick in slip.adopted.split("; ")]
    assert len({above - below for above, below in pairwise(ticks)}) == 1


def test_adopted_date_ticks_are_fifty_days_apart():
    days = [tuple(map(int, tick.split("/"))) for tick in erratum("chart-dates").adopted.split("; ")]
    ticks = [date(2005 if month >= 10 else 2006, month, day) for month, day in days]
    assert {later - earlier for earlier, later in pairwise(ticks)} == {timedelta(days=50)}


@pytest.mark.parametrize("name", ["dm", "bdm", "bcm"])
def test_rank_grids_hold_each_rank_once_and_each_pair_of_groups_once(name):
    rows = [row.split() for row in documented(f"rank-order.mfdn-{name}").value.split(" / ")]
    assert [len(row) for row in rows] == [5] * 5
    placed = {(i, j): int(cell) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell != "."}
    assert sorted(placed.values()) == list(range(1, 16))
    # The matrix is symmetric: of (i, j) and (j, i) one has a rank.
    assert len({frozenset(place) for place in placed}) == 15


@pytest.mark.parametrize(
    ("text", "qualifier", "low", "high"),
    [
        # Half a unit of the last printed place.
        ("1.29", "rounded", 1.285, 1.295),
        ("6.0", "rounded", 5.95, 6.05),
        ("7200", "rounded", 7199.5, 7200.5),
        ("-16.9", "rounded", -16.95, -16.85),
        ("2.5x10⁵", "rounded", 245_000, 255_000),
        ("3,072", "exact", 3071.5, 3072.5),
        # The source cut off: the true value may be a whole unit above.
        ("1.28", "truncated", 1.28, 1.29),
        ("3.6", "truncated", 3.6, 3.7),
        ("217", "at least", 217, math.inf),
        ("30", "range low", 30, math.inf),
        ("30", "at most", -math.inf, 30),
        ("40", "range high", -math.inf, 40),
    ],
)
def test_bounds(text, qualifier, low, high):
    assert _value(text, qualifier).bounds() == (low, high)


@pytest.mark.parametrize(
    ("text", "qualifier", "tolerance", "low", "high"),
    [
        ("~1700", "about", 50, 1650, 1750),
        ("1/3", "about", 0, 1 / 3, 1 / 3),
        ("1.29", "rounded", 0.1, 1.19, 1.39),
        ("1.28", "truncated", 0.005, 1.275, 1.285),
        ("217", "at least", 1, 216, math.inf),
        ("40", "range high", 2, -math.inf, 42),
    ],
)
def test_bounds_with_a_tolerance(text, qualifier, tolerance, low, high):
    assert _value(text, qualifier).bounds(tolerance) == (low, high)


def test_truncated_agrees_below_the_next_unit_only():
    peak = _value("1.28", "truncated")
    assert peak.agrees(1.28)
    assert peak.agrees(1.2899999)
    assert not peak.agrees(1.29)
    assert not peak.agrees(1.2799999)


def test_rounded_agrees_at_both_ends():
    packed = _value("1.29", "rounded")
    assert packed.agrees(1.285)
    assert packed.agrees(1.295)
    assert not packed.agrees(1.2849)
    assert not packed.agrees(1.2951)


@pytest.mark.parametrize(
    ("text", "qualifier", "tolerance"),
    [
        ("1.29", "rounded", 0.005),
        ("24", "exact", 0.5),
        ("1.28", "truncated", 0.01),
        ("35", "about", None),
        ("217", "at least", None),
        ("true", "shape", None),
        ("12/20", "date", None),
        ("10.4.8", "exact", None),
    ],
)
def test_tolerance_of_the_text(text, qualifier, tolerance):
    assert _value(text, qualifier, note="2005-12-20").tolerance == tolerance


def test_misprint_is_compared_in_its_adopted_reading():
    nodes = documented("machines.hopper-nodes-antypas2011")
    assert (nodes.number, nodes.adopted_number) == (3284, 6384)
    assert nodes.agrees(6384)
    assert not nodes.agrees(3284)


def test_a_number_as_adopted_or_a_refusal():
    assert printed("machines.hopper-nodes-antypas2011") == 6384
    with pytest.raises(ValueError, match=r"machines.hopper-model: 'XE6' is no number"):
        printed("machines.hopper-model")


def test_tension_leaves_the_printed_reading():
    share = documented("trillion.file-system-share")
    assert share.errata
    assert share.adopted == share.value == "50"


def test_number_of_an_adopted_reading_with_words():
    assert documented("machines.franklin-processors").adopted == "38,000 cores"
    assert documented("machines.franklin-processors").adopted_number == 38_000


def test_unsettled_reading_compares_with_nothing():
    rate = documented("acceptance.ssp-paratec-delivered")
    assert (rate.adopted, rate.adopted_number, rate.tolerance) == ("", None, None)
    with pytest.raises(ValueError, match=r"acceptance.ssp-paratec-delivered: rounded '' has no number to compare with"):
        rate.bounds()


@pytest.mark.parametrize(
    ("text", "qualifier", "tolerance", "message"),
    [
        ("~1700", "about", None, "toy.row: about '~1700' has no tolerance: give one"),
        ("two-thirds", "exact", None, "toy.row: exact 'two-thirds' has no tolerance: give one"),
        ("true", "shape", None, "toy.row: shape 'true' has no number to compare with"),
        ("4.2.2.1", "exact", 1, "toy.row: exact '4.2.2.1' has no number to compare with"),
        ("6", "rounded", -1, "tolerance=-1 must be 0 or more: it is half the width of a band"),
        ("6", "rounded", math.nan, "tolerance=nan must be 0 or more: it is half the width of a band"),
    ],
)
def test_refused_bounds(text, qualifier, tolerance, message):
    with pytest.raises(ValueError) as error:
        _value(text, qualifier).bounds(tolerance)
    assert str(error.value) == message


@given(st.decimals(-1000, 1000, places=3), st.integers(0, 3))
def test_a_rounded_number_agrees_with_what_it_was_rounded_from(number, places):
    assert _value(f"{round(number, places):f}", "rounded").agrees(float(number))


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_a_number_cut_off_agrees_with_what_it_was_cut_from(thousandths, places):
    whole, rest = divmod(thousandths, 1000)
    printed = f"{whole}.{rest:03}"[: len(str(whole)) + 1 + places]
    assert _value(printed, "truncated").agrees(float(f"{whole}.{rest:03}"))


@given(st.decimals(-1000, 1000, places=2), st.floats(0, 100), st.floats(0, 100))
def test_more_tolerance_never_narrows(number, one, other):
    narrow, wide = sorted((one, other))
    for qualifier in ("rounded", "truncated", "about", "at least", "at most"):
        value = _value(f"{number:f}", qualifier)
        assert value.bounds(wide)[0] <= value.bounds(narrow)[0]
        assert value.bounds(wide)[1] >= value.bounds(narrow)[1]


def test_unknown_id_names_the_nearest():
    with pytest.raises(ValueError) as error:
        documented("memory.hopper-per-task-paked")
    assert str(error.value) == (
        "there is no documented value 'memory.hopper-per-task-paked'; did you mean 'memory.hopper-per-task-packed'?"
    )


def test_unknown_study_names_the_nearest():
    with pytest.raises(ValueError) as error:
        by_study("toruss")
    assert str(error.value) == "no documented value has study='toruss'; did you mean 'torus'?"


def test_studies_part_the_values():
    names = {value.study for value in all_values()}
    assert sorted(v.id for name in names for v in by_study(name)) == sorted(v.id for v in all_values())
