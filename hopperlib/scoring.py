"""The scorecard: every documented value beside what the models give.

Each study computes values (`hopperlib.studies`), and ``data/checks.csv`` says
how each is to be read; this module joins both with ``data/documented.csv``. No
documented row is left out: one without a check says that its study has not
been built, or that nothing models it.

==================  ===================================================
reproduced          a prediction agrees with the document
as fitted           a calibrated value comes out as it went in
holds               a shape is true, a sum of printed numbers agrees
input               the model works with the printed value
missed, explained   the model does not agree, and the row says why
missed              the model does not agree, and nobody knows why
not modelled        no model here gives it
not built           its study has not been built
==================  ===================================================
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from string import Formatter

from hopperlib import studies
from hopperlib.documented import ROLES, Check, DocumentedValue, all_values, checks
from hopperlib.errors import InputError, refusal
from hopperlib.studies.study import Value

__all__ = ["ROW_ROLES", "VERDICTS", "Row", "judge", "rows", "summary_line", "to_csv", "unexplained"]

# Largest deviation, as a share of the printed number, that is rounding of the machine and not of the model.
_DUST = 1e-9

ROW_ROLES: tuple[str, ...] = (*ROLES, "not built")
VERDICTS: tuple[str, ...] = (
    "reproduced",
    "as fitted",
    "holds",
    "input",
    "missed, explained",
    "missed",
    "not modelled",
    "not built",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the scorecard.

    Attributes
    ----------
    id, study : str
        As in ``data/documented.csv``.
    quantity, unit : str
        What was documented, in what unit.
    role : str
        As in `hopperlib.documented.checks`; "not built" where the study is missing.
    documented : str
        The value as printed.
    reproduced : str
        What the model gives, as text; empty if nothing.
    deviation : float or None
        Reproduced less documented, in the unit of the row.
    tolerance : float or None
        Largest deviation that counts as reproduced.
    verdict : str
        One of `VERDICTS`.
    note : str
        Why, where the row needs a word.
    place : str
        Key of the source, and where it stands there.
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

    @property
    def residual(self) -> float | None:
        """Deviation over tolerance: from -1 to 1 both agree; None for what has no tolerance."""
        return self.deviation / self.tolerance if self.deviation is not None and self.tolerance else None

    def to_dict(self) -> dict[str, object]:
        """Return the row as plain data for ``hopper scorecard --json``."""
        return asdict(self)


def judge(
    value: DocumentedValue, reproduced: Value, tolerance: float | None = None
) -> tuple[float | None, float | None, bool]:
    """Return deviation, tolerance and whether the model agrees with the document.

    A bound ("at least", "range low") is kept or not; a number must come within
    its tolerance; a band must reach as close; a shape must be true. Where an
    erratum corrects the printed value, the adopted one counts.

    Parameters
    ----------
    value : DocumentedValue
    reproduced : float, bool, tuple of (float, float) or str
        What the model gives, in the unit of the row.
    tolerance : float or None
        Replaces that of the row.

    Raises
    ------
    ValueError
        If a number is compared with a row that has none, or a row without a
        tolerance of its own ("about") is given none either.

    Examples
    --------
    >>> from hopperlib.documented import documented
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
    # What floating point and solvers leave over is no deviation: no source prints that many places.
    deviation = 0.0 if abs(nearest - number) <= _DUST * abs(number) else nearest - number
    return deviation, value.tolerance if tolerance is None else tolerance, agrees


def _shown(reproduced: Value | None) -> str:
    """Return what the model gives as text, with enough digits to see the deviation."""
    match reproduced:
        case None:
            return ""
        case bool():
            return str(reproduced).lower()
        case str():
            return reproduced
        case (low, high):
            return f"{low:.6g} to {high:.6g}"
    return f"{reproduced:.6g}"


def _verdict(check: Check, agrees: bool) -> str:
    """Return the verdict on a check that gives something."""
    if agrees:
        return {"calibrated": "as fitted", "predicted": "reproduced", "input": "input"}.get(check.role, "holds")
    return "missed, explained" if check.explanation else "missed"


def _short(id: str) -> str:
    """Return the id of a row without its study."""
    return id.partition(".")[2]


def _texts(check: Check) -> tuple[str, ...]:
    """Return what a check says of itself, in the order of a note."""
    tolerated = f"tolerance: {check.tolerance_reason}" if check.tolerance_reason else ""
    return tuple(text for text in (check.reason, check.explanation, tolerated) if text)


def _given(name: str) -> dict[str, Value]:
    """Return what the models of a study give: by row without the study, and by number that a text asks for."""
    own = [check for check in checks().values() if check.id.startswith(f"{name}.")]
    wanted = {_short(check.id) for check in own}
    wanted |= {field for check in own for text in _texts(check) for _, field, _, _ in Formatter().parse(text) if field}
    given: dict[str, Value] = {}
    for names, value in studies.load(name).values().items():
        for key in names.split():
            if key in given:
                raise InputError(f"study {name!r} gives {key!r} twice")
            if key not in wanted:
                raise InputError(
                    f"study {name!r} gives {key!r}, which is no row of it in checks.csv and in no text there"
                )
            given[key] = value
    for key in sorted(wanted - given.keys() - {_short(check.id) for check in own}):
        raise InputError(f"a text in checks.csv asks study {name!r} for {key!r}, which it does not give")
    return given


def _fits_role(check: Check, reproduced: Value | None) -> None:
    """Refuse what a model gives, or does not, if the role of the check asks for something else."""
    if check.role in ("calibrated", "predicted", "shape", "identity") and reproduced is None:
        raise InputError(f"check {check.id!r}: role {check.role!r} needs what the model gives")
    if check.role == "not modelled" and reproduced is not None:
        raise InputError(f"check {check.id!r}: role {check.role!r} reproduces nothing")
    if check.role == "shape" and not isinstance(reproduced, bool):
        raise InputError(f"check {check.id!r}: a shape is true or false, not {reproduced!r}")


def _row(value: DocumentedValue, given: Mapping[str, Value] | None) -> Row:
    """Return one row from a documented value and what its study gives; None if there is no such study."""
    deviation = tolerance = reproduced = None
    if given is None:
        role = verdict = "not modelled" if value.study == "context" else "not built"
        note = "context: no study models it" if value.study == "context" else "its study has not been built"
    elif value.id not in checks():
        raise InputError(f"study {value.study!r} is built, but checks.csv has no row for {value.id!r}; give it a role")
    else:
        check, reproduced = checks()[value.id], given.get(_short(value.id))
        _fits_role(check, reproduced)
        role = verdict = check.role
        note = "; ".join(_texts(check)).format_map(given)
        if reproduced is not None:
            deviation, tolerance, agrees = judge(value, reproduced, check.tolerance)
            verdict = _verdict(check, agrees)
    return Row(
        id=value.id,
        study=value.study,
        quantity=value.quantity,
        unit=value.unit,
        role=role,
        documented=value.value,
        reproduced=_shown(reproduced),
        deviation=deviation,
        tolerance=tolerance,
        verdict=verdict,
        note=note,
        place=f"{value.source}, {value.locator}",
    )


def rows(study: str | None = None) -> tuple[Row, ...]:
    """Return the scorecard, in the order of the data file.

    Parameters
    ----------
    study : str or None
        Only the rows of this study.

    Raises
    ------
    ValueError
        If there is no study of that name; if ``data/checks.csv`` has no row
        for a documented value of a study that has been built, or one for
        anything else; or if a study gives what its checks do not ask for, or
        does not give what they do.

    Examples
    --------
    >>> row = next(row for row in rows("memory") if row.id == "memory.hopper-per-task-packed")
    >>> row.documented, row.reproduced, row.role, row.verdict
    ('1.29', '1.29167', 'predicted', 'reproduced')
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


def unexplained(table: Iterable[Row]) -> tuple[Row, ...]:
    """Return the misses that nobody explained.

    Examples
    --------
    >>> unexplained(rows())
    ()
    """
    return tuple(row for row in table if row.verdict == "missed")


def summary_line(table: Iterable[Row]) -> str:
    """Return the scorecard in one sentence, as the README prints it.

    Examples
    --------
    >>> summary_line(rows("memory")).split(":")[0]
    '22 documented values'
    """
    table = tuple(table)
    roles = Counter(row.role for row in table)
    agreed = Counter(row.role for row in table if row.verdict in ("reproduced", "holds"))
    compared = {"predicted": "predictions reproduced", "shape": "shapes hold", "identity": "sums hold"}
    counted = {
        "calibrated": "calibrated",
        "input": "inputs",
        "not modelled": "not modelled",
        "not built": "of studies to come",
    }
    parts = [f"{agreed[role]} of {roles[role]} {name}" for role, name in compared.items() if roles[role]]
    parts += [f"{roles[role]} {name}" for role, name in counted.items() if roles[role]]
    return f"{roles.total():,} documented values: {', '.join(parts) or 'none'}."


def to_csv(table: Iterable[Row]) -> str:
    """Return a scorecard as CSV; numbers have six digits, which is all that any row needs.

    Examples
    --------
    >>> to_csv(()).strip()
    'id,study,quantity,unit,role,documented,reproduced,deviation,tolerance,verdict,note,place'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row.__slots__)
    for row in table:
        cells = row.to_dict()
        for name in ("deviation", "tolerance"):
            cells[name] = "" if cells[name] is None else f"{cells[name]:.6g}"
        writer.writerow(cells.values())
    return out.getvalue()
