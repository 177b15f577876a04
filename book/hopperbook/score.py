"""The scorecard: every documented value with the result of the models.

Each study computes values (`hopperbook.studies`), and ``data/checks.csv`` defines how each is judged; this module joins
both with ``data/documented.csv``. A documented row without a study is marked as not modeled. Only rows that could not
have had another result are left out (`all_rows` has it).

==================  ===================================================
reproduced          a retrodiction holds the documented interval, and says
                    something
too wide            it holds it, and much else
as fitted           the model returns a calibrated value unchanged
holds               a shape is true, a sum of printed numbers agrees
input               the model works with the printed value
missed, explained   the model does not agree, and the row says why
missed              the model does not agree, and nobody knows why
not modelled        no model here gives it
==================  ===================================================

A retrodiction is reproduced if its interval, including the rounding of the source, contains all numbers that would be
printed like the documented one, and extends at most a quarter of the value to either side, unless the study explains
why a wider one is useful. If only a part of the value is unknown (`out_of` in ``data/studies.toml``), the quarter
refers to that part. A shape that was tried with several seeds holds if it does in nine of ten.

The models of a study may read the documented rows that it declares, and none
that anybody predicts; another read raises.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from functools import partial
from math import isfinite, nan
from string import Formatter
from typing import Any, get_type_hints

from hopperbook import studies
from hopperbook.checks import Check, checks, evaluate_formula
from hopperbook.documented import DocumentedValue, all_values, printed, watched
from hopperbook.studies.study import Prediction, Shares, Study, Value, study_texts, with_numbers
from hopperlib import data_files
from hopperlib.errors import InputError, refusal
from hopperlib.machine import Machine
from hopperlib.text import count, share

# Largest deviation, as a share of the printed number, that is rounding of the machine and not of the model.
_DUST = 1e-9
# Largest extent of an interval to either side, as a share of the documented value.
_WIDEST = 0.25
# Share of the seeds from which on a shape holds.
_MOST_SEEDS = 0.9
# An interval of nine runs in ten pays for each unit by which it misses as for that many units of width.
_PENALTY = 20.0
# Roles for which a model must give a value.
_GIVEN = ("calibrated", "retrodicted", "shape", "arithmetic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the scorecard.

    Attributes
    ----------
    id, study : str
        As in ``data/documented.csv``.
    quantity, unit : str
        The documented value and its unit.
    role : str
        One of `hopperbook.documented.ROLES`.
    documented : str
        The value as printed.
    reproduced : str
        Result of the model, as text; empty if there is none.
    deviation : float or None
        Reproduced less documented, in the unit of the row; of an interval its middle.
    tolerance : float or None
        Largest deviation that counts as reproduced; of an interval half its width.
    verdict : str
        One of `hopperbook.documented.VERDICTS`.
    note : str
        Why, where the row needs a word.
    place : str
        Key of the source, and the position in it.
    low, high, documented_low, documented_high : float or None
        Of a retrodiction: the interval that the model gives, and the numbers that would have been printed as documented.
    score : float or None
        For a retrodiction: width of the interval, and twenty times its miss, relative to the documented number.
    seeds : int or None
        Seeds that were tried, where anything is random.
    rival, rival_value, rival_low, rival_high, rival_verdict, rival_score
        Of a retrodiction: in words what its rival is, and what that gives.
    """

    id: str
    study: str
    quantity: str
    unit: str
    role: str
    documented: str
    reproduced: str
    deviation: float | None
    tolerance: float | None
    verdict: str
    note: str
    place: str
    low: float | None = None
    high: float | None = None
    documented_low: float | None = None
    documented_high: float | None = None
    score: float | None = None
    seeds: int | None = None
    rival: str = ""
    rival_value: float | None = None
    rival_low: float | None = None
    rival_high: float | None = None
    rival_verdict: str = ""
    rival_score: float | None = None


def judge(
    value: DocumentedValue, reproduced: Value, tolerance: float | None = None
) -> tuple[float | None, float | None, bool]:
    """Return deviation, tolerance and whether the model agrees with the document.

    A bound ("at least", "range low") must be satisfied; a number must be within its tolerance; a band must be that
    close; a shape must be true. Where an erratum corrects the printed value, the adopted one counts.

    Parameters
    ----------
    value : DocumentedValue
    reproduced : float, bool, tuple of (float, float) or str
        Result of the model, in the unit of the row.
    tolerance : float or None
        Replaces that of the row.

    Raises
    ------
    ValueError
        If a number is compared with a row that has none, or a row without a tolerance ("about") is not given one either.

    Examples
    --------
    >>> from hopperbook.documented import documented
    >>> deviation, tolerance, agrees = judge(documented("memory.hopper-per-task-packed"), 31 / 24)
    >>> round(deviation, 4), tolerance, agrees
    (0.0017, 0.005, True)
    """
    if isinstance(reproduced, bool):
        return None, None, reproduced
    if isinstance(reproduced, str):
        return None, None, reproduced == value.adopted
    number = value.adopted_number
    if number is None:
        raise InputError(f"check {value.id!r} gives a number, but {value.value!r} is none")
    # The value of a band that comes closest; the printed number itself if the band holds it.
    nearest = min(max(number, reproduced[0]), reproduced[1]) if isinstance(reproduced, tuple) else reproduced
    agrees = nearest == number or value.agrees(nearest, tolerance)
    # Rounding errors of floating point and solvers are not a deviation: no source prints that many places.
    deviation = 0.0 if abs(nearest - number) <= _DUST * abs(number) else nearest - number
    return deviation, value.tolerance if tolerance is None else tolerance, agrees


def interval_verdict(
    interval: tuple[float, float], documented: tuple[float, float], *, wide: bool = False, out_of: float = 0.0
) -> str:
    """Return whether an interval is reproduced, too wide or missed.

    Parameters
    ----------
    interval, documented : tuple of float
        Interval of the model, and the numbers that would be printed like the documented one.
    wide : bool
        Whether it may extend more than a quarter of the documented value.
    out_of : float
        The known part: the quarter refers to the difference.

    Examples
    --------
    >>> interval_verdict((18, 23), (19.5, 20.5)), interval_verdict((20, 23), (19.5, 20.5))
    ('reproduced', 'missed')
    >>> interval_verdict((10, 23), (19.5, 20.5)), interval_verdict((10, 23), (19.5, 20.5), wide=True)
    ('too wide', 'reproduced')
    """
    middle = sum(documented) / 2
    dust = _DUST * abs(middle)
    if documented[0] < interval[0] - dust or documented[1] > interval[1] + dust:
        return "missed"
    extent = max(middle - interval[0], interval[1] - middle)
    return "reproduced" if wide or extent <= _WIDEST * abs(middle - out_of) + dust else "too wide"


def interval_score(interval: tuple[float, float], number: float) -> float:
    """Return the score of an interval that holds nine runs of ten, over the number; less is better.

    Its width, plus twenty times the distance to the number if that is outside: both vague and wrong intervals cost.

    Examples
    --------
    >>> interval_score((15, 25), 20), interval_score((21, 22), 20)
    (0.5, 1.05)
    """
    low, high = interval
    return (high - low + _PENALTY * max(low - number, number - high, 0.0)) / abs(number)


def _predicted(value: DocumentedValue, prediction: Prediction, check: Check, study: Study) -> dict[str, Any]:
    """Return the cells of a retrodiction: the model's, and those of its rival."""
    id = _short(value.id)
    if id not in study.texts.get("rivals", {}):
        raise InputError(f"check {value.id!r}: a retrodiction needs a rival, which data/studies.toml does not name")
    documented = value.interval(check.tolerance)
    number, room = sum(documented) / 2, (documented[1] - documented[0]) / 2

    def printed_as(low: float, high: float) -> tuple[float, float]:
        """Return the printed values of numbers in an interval: the source rounds, but prints none below 0 for positive
        ones.
        """
        return low - room if low < 0 else max(low - room, 0.0), high + room

    interval = printed_as(prediction.low, prediction.high)
    if not all(map(isfinite, interval)):
        raise InputError(f"check {value.id!r}: a retrodiction has two finite ends, not {interval}")
    rival = prediction.rival
    if not isinstance(rival, tuple):
        # As sure of itself as the model: as wide in proportion.
        half, middle = (prediction.high - prediction.low) / 2, (prediction.low + prediction.high) / 2
        width = half * abs(rival / middle) if middle else half
        rival = rival - width, rival + width
    rival = printed_as(*rival)
    wide, known = id in study.texts.get("wide", {}), study.texts.get("out_of", {}).get(id, 0.0)
    verdict = interval_verdict(interval, documented, wide=wide, out_of=known)
    return {
        "deviation": sum(interval) / 2 - number,
        "tolerance": (interval[1] - interval[0]) / 2,
        "verdict": f"{verdict}, explained" if verdict == "missed" and check.explanation else verdict,
        "low": interval[0],
        "high": interval[1],
        "documented_low": documented[0],
        "documented_high": documented[1],
        "score": interval_score(interval, number),
        "rival": study.texts["rivals"][id],
        "rival_value": sum(rival) / 2,
        "rival_low": rival[0],
        "rival_high": rival[1],
        "rival_verdict": interval_verdict(rival, documented, wide=wide, out_of=known),
        "rival_score": interval_score(rival, number),
        "seeds": prediction.seeds,
        "reproduced": f"{interval[0]:.6g} to {interval[1]:.6g}",
    }


def _shown(reproduced: float | bool | str | tuple[float, float]) -> str:
    """Return the model's result as text, with enough digits to show the deviation."""
    if isinstance(reproduced, bool | str):
        return reproduced if isinstance(reproduced, str) else str(reproduced).lower()
    ends = reproduced if isinstance(reproduced, tuple) else (reproduced,)
    return " to ".join(f"{end:.6g}" for end in ends)


def _verdict(check: Check, agrees: bool) -> str:
    """Return the verdict on a check that gives something."""
    if agrees:
        same = {"calibrated": "as fitted", "input": "input", "by construction": "by construction"}
        return same.get(check.role, "holds")
    return "missed, explained" if check.explanation else "missed"


def _short(id: str) -> str:
    """Return the id of a row without its study."""
    return id.partition(".")[2]


def _texts(check: Check) -> tuple[str, ...]:
    """Return the texts of a check, in the order of a note, and why a wide interval is useful."""
    tolerated = f"tolerance: {check.tolerance_reason}" if check.tolerance_reason else ""
    name = check.id.partition(".")[0]
    wide = study_texts().get(name, {}).get("wide", {}).get(_short(check.id), "")
    changed = f"changed {check.changed}" if check.changed else ""
    return tuple(text for text in (check.reason, check.explanation, wide, tolerated, changed) if text)


def _reader(name: str) -> Callable[[str], None]:
    """Return the guard for the models of a study: they may read only the rows that it declares.

    Raises
    ------
    InputError
        If it declares a row that somebody predicts.
    """
    declared = study_texts()[name].get("reads", ())
    for id in declared:
        if (check := checks().get(id)) and check.role in ("retrodicted", "shape"):
            raise InputError(f"data/studies.toml: study {name!r} reads {id!r}, which is a {check.role} value")

    def read(id: str) -> None:
        if id not in declared:
            raise InputError(f"study {name!r} reads {id!r}, which it does not declare in data/studies.toml")

    return read


def _ran(name: str) -> dict[str, Value]:
    """Return the results of a study's models, and results computed from printed numbers alone, which may read all rows."""
    # Values read during import may belong to another study that it builds on.
    study = studies.load(name)
    # A documented row that the models read without declaring it raises.
    with watched(_reader(name)):
        modelled = dict(study.values())
    sums = dict(study.sums())
    for id in (f"{name}.{key}" for names in sums for key in names.split()):
        if id in checks() and checks()[id].role == "retrodicted":
            raise InputError(f"check {id!r}: what is computed from printed numbers is no retrodiction")
    for check in checks().values():
        if check.formula and check.id.startswith(f"{name}."):
            sums[_short(check.id)] = evaluate_formula(check.formula, partial(_named, name))
    return modelled | sums


def _named(study: str, name: str) -> Any:
    """Return the value of a name in a formula: of a machine file, or as printed."""
    machine, _, path = name.partition(".")
    if machine not in ("hopper", "franklin"):
        return printed(name if path else f"{study}.{name}")
    thing: Any = Machine.load(machine)
    for part in path.split("."):
        # Kinds of node and file systems are named individually.
        kinds: tuple[Any, ...] = (*thing.node_kinds, *thing.file_systems) if isinstance(thing, Machine) else ()
        named = next((kind for kind in kinds if kind.name.replace("-", "_") == part), None)
        thing = thing.node() if part == "node" else named or getattr(thing, part)
    return thing


def _given(name: str) -> dict[str, Value]:
    """Return the results of a study's models: by row without the study, and by number that a text refers to."""
    study_checks = [check for check in checks().values() if check.id.startswith(f"{name}.")]
    wanted = {_short(check.id) for check in study_checks}
    wanted |= {
        field for check in study_checks for text in _texts(check) for _, field, _, _ in Formatter().parse(text) if field
    }
    given: dict[str, Value] = {}
    for names, value in _ran(name).items():
        for key in names.split():
            if key in given:
                raise InputError(f"study {name!r} gives {key!r} twice")
            if key not in wanted:
                raise InputError(
                    f"study {name!r} gives {key!r}, which is no row of it in checks.csv and in no text there"
                )
            given[key] = value
    for key in sorted(wanted - given.keys() - {_short(check.id) for check in study_checks}):
        raise InputError(f"a text in checks.csv asks study {name!r} for {key!r}, which it does not give")
    return given


def _fits_role(check: Check, reproduced: Value | None) -> None:
    """Reject a missing or superfluous result for the role of the check."""
    if check.role in _GIVEN and reproduced is None:
        raise InputError(f"check {check.id!r}: role {check.role!r} needs what the model gives")
    if check.role == "not modelled" and reproduced is not None:
        raise InputError(f"check {check.id!r}: role {check.role!r} reproduces nothing")
    if check.role == "shape" and not isinstance(reproduced, bool | Shares):
        raise InputError(f"check {check.id!r}: a shape is true or false, not {reproduced!r}")
    if (check.role == "retrodicted") != isinstance(reproduced, Prediction):
        raise InputError(f"check {check.id!r}: a retrodiction is an interval with a rival, and nothing else is one")


def _row(value: DocumentedValue, given: Mapping[str, Value] | None) -> Row:
    """Return one row from a documented value and its study's result; None if there is no such study."""
    reproduced: Value | None = None
    cells: dict[str, Any] = {"deviation": None, "tolerance": None, "reproduced": ""}
    if given is None:
        role = verdict = "not modelled"
        note = "context: no study models it"
    elif value.id not in checks():
        raise InputError(f"checks.csv has no row for {value.id!r}; give it a role")
    else:
        check, reproduced = checks()[value.id], given.get(_short(value.id))
        if check.role == "input" and reproduced is None and value.id in study_texts()[value.study].get("reads", ()):
            # Values that a model reads from its input data.
            reproduced = value.adopted_number
        _fits_role(check, reproduced)
        role = verdict = check.role
        note = with_numbers("; ".join(_texts(check)), given)
        if isinstance(reproduced, Prediction):
            cells = _predicted(value, reproduced, check, studies.load(value.study))
        elif isinstance(reproduced, Shares):
            agrees = reproduced.holds >= _MOST_SEEDS * reproduced.seeds
            shown = f"{reproduced.holds} of {reproduced.seeds} cases"
            cells |= {"verdict": _verdict(check, agrees), "seeds": reproduced.seeds, "reproduced": shown}
        elif reproduced is not None:
            deviation, tolerance, agrees = judge(value, reproduced, check.tolerance)
            cells = {"deviation": deviation, "tolerance": tolerance, "verdict": _verdict(check, agrees)}
            cells["reproduced"] = _shown(reproduced)
    cells.setdefault("verdict", verdict)
    return Row(
        id=value.id,
        study=value.study,
        quantity=value.quantity,
        unit=value.unit,
        role=role,
        documented=value.value,
        note=note,
        place=f"{value.source}, {value.locator}",
        **cells,
    )


def rows(study: str | None = None) -> tuple[Row, ...]:
    """Return the scorecard, in the order of the data file, without values true by construction.

    Parameters
    ----------
    study : str or None
        Only the rows of this study.

    Raises
    ------
    ValueError
        If there is no study of that name; if ``data/checks.csv`` lacks a row for a documented value of a finished
        study, or has another one; or if the results of a study do not match its checks.

    Examples
    --------
    >>> row = next(row for row in rows("memory") if row.id == "memory.hopper-per-task-packed")
    >>> row.documented, row.reproduced, row.role, row.verdict
    ('1.29', '1.29167', 'arithmetic', 'holds')
    """
    return tuple(row for row in all_rows(study) if row.role != "by construction")


def all_rows(study: str | None = None) -> tuple[Row, ...]:
    """Return a row for each documented value, of one study or of all, including values true by construction.

    Examples
    --------
    >>> {row.role for row in all_rows("memory")} - {row.role for row in rows("memory")}
    {'by construction'}
    """
    values = all_values()
    known = sorted({value.study for value in values})
    if study not in (None, *known):
        raise refusal("study", study, f"has no documented value; there are: {', '.join(known)}")
    checked = {value.id for value in values if value.study in studies.built()}
    for id in checks():
        if id not in checked:
            raise InputError(f"checks.csv has {id!r}, which is no documented value of a study that has been built")
    given = {name: _given(name) for name in studies.built() if study in (None, name)}
    return tuple(_row(value, given.get(value.study)) for value in values if study in (None, value.study))


_FILE = "scorecard.csv"
_READ: dict[Any, Callable[[str], Any]] = {float | None: float, int | None: int}


def kept(study: str) -> tuple[Row, ...]:
    """Return the rows of a study from ``data/scorecard.csv``, which ``make scorecard`` writes: no model is run.

    A test computes all rows and compares them with the file. Numbers have the file's six digits.

    Parameters
    ----------
    study : str

    Raises
    ------
    ValueError
        If the study has no row.

    Examples
    --------
    >>> [row.reproduced for row in kept("memory") if row.id == "memory.hopper-per-task-packed"]
    ['1.29167']
    """
    types = {field: _READ.get(of, str) for field, of in get_type_hints(Row).items()}
    cells = [row for row in data_files.rows(_FILE) if row["study"] == study]
    if not cells:
        raise refusal("study", study, f"has no row in data/{_FILE}")

    def read(row: Mapping[str, str]) -> dict[str, Any]:
        # An empty cell is a text that is empty, or a number that is missing.
        return {name: of(row[name]) if of is str or row[name] else None for name, of in types.items()}

    return tuple(Row(**read(row)) for row in cells)


def unexplained(table: Iterable[Row]) -> tuple[Row, ...]:
    """Return the misses that nobody explained.

    Examples
    --------
    >>> unexplained(rows("memory"))
    ()
    """
    return tuple(row for row in table if row.verdict == "missed")


def headline(table: Iterable[Row]) -> str:
    """Return the score of the retrodictions as a clause, for the README after the forecasts.

    An interval holds a printed number if all values that would have been printed so lie in it, and overlaps it if one does.

    Examples
    --------
    >>> headline(rows("memory"))
    'of 1 printed number that the authors knew when they built the models, the nominal 90 % intervals hold 1 (100 %) and overlap 1'
    """
    known = [row for row in table if row.role == "retrodicted"]
    held = sum(not row.verdict.startswith("missed") for row in known)
    return (
        f"of {count(len(known), 'printed number')} that the authors knew when they built the models, "
        f"the nominal 90 % intervals hold {held} ({share(held / max(1, len(known)))}) and overlap {sum(map(_overlaps, known))}"
    )


def _overlaps(row: Row) -> bool:
    """Whether the interval of a retrodiction has a value in common with the band of the printed number."""
    ends = (row.low, row.high, row.documented_low, row.documented_high)
    low, high, documented_low, documented_high = (end if end is not None else nan for end in ends)
    return low <= documented_high and documented_low <= high


def summary_line(table: Iterable[Row]) -> str:
    """Return the number of studies in which all retrodictions hold, as those of one are correlated, and the number that
    beat their rival.

    Examples
    --------
    >>> summary_line(rows("machines"))
    'The 1 retrodiction comes from 1 study, and in 1 of these all intervals hold. Scored by interval, 0 beat the rival.'
    """
    by_study: dict[str, list[bool]] = {}
    retrodicted = [row for row in table if row.role == "retrodicted"]
    for row in retrodicted:
        by_study.setdefault(row.study, []).append(not row.verdict.startswith("missed"))
    better = sum((row.score or 0.0) < (row.rival_score or 0.0) for row in retrodicted)
    return (
        f"The {count(len(retrodicted), 'retrodiction comes', 'retrodictions come')} from "
        f"{count(len(by_study), 'study', 'studies')}, and in {sum(map(all, by_study.values()))} of these all intervals "
        f"hold. Scored by interval, {better} beat the rival."
    )


def to_csv(table: Iterable[Row]) -> str:
    """Return a scorecard as CSV; numbers have six digits, which is all that any row needs.

    Examples
    --------
    >>> to_csv(()).strip().partition("place,")[2]
    'low,high,documented_low,documented_high,score,seeds,rival,rival_value,rival_low,rival_high,rival_verdict,rival_score'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Row))
    for row in table:
        writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in astuple(row))
    return out.getvalue()
