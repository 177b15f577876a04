"""The scorecard: every documented value beside what the models give.

The studies declare their checks (`hopperlib.studies`); this module joins them
with ``data/documented.csv``. No documented row is left out: one without a
check says that its study has not been built, or that nothing models it.

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

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hopperlib import studies
from hopperlib.documented import DocumentedValue, all_values
from hopperlib.studies.study import ROLES, Check

__all__ = [
    "ROW_ROLES",
    "VERDICTS",
    "Row",
    "judge",
    "rows",
    "select",
    "summary",
    "summary_line",
    "to_csv",
    "unexplained",
]

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
        As in `hopperlib.studies.study`; "not built" where the study is missing.
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

    def to_dict(self) -> dict[str, object]:
        """Return the row as plain data for ``hopper scorecard --json``."""
        return {name: getattr(self, name) for name in self.__slots__}


def judge(value: DocumentedValue, check: Check) -> tuple[float | None, float | None, bool]:
    """Return deviation, tolerance and whether the model agrees with the document.

    A bound ("at least", "range low") is kept or not; a number must come within
    its tolerance; a band must reach as close; a shape must be true. Where an
    erratum corrects the printed value, the adopted one counts.

    Raises
    ------
    ValueError
        If a number is compared with a row that has none, or a row without a
        tolerance of its own ("about") has a check that gives none either.

    Examples
    --------
    >>> from hopperlib.documented import documented
    >>> from hopperlib.studies.study import Check
    >>> row = documented("memory.hopper-per-task-packed")
    >>> deviation, tolerance, agrees = judge(row, Check(id=row.id, role="identity", reproduced=31 / 24))
    >>> round(deviation, 4), tolerance, agrees
    (0.0017, 0.005, True)
    """
    reproduced = check.reproduced
    if isinstance(reproduced, bool):
        return None, None, reproduced
    if isinstance(reproduced, str):
        return None, None, reproduced == value.adopted
    number = value.adopted_number
    if number is None:
        raise ValueError(f"check {check.id!r} gives a number, but {value.value!r} is none")
    assert reproduced is not None
    tolerance = value.tolerance if check.tolerance is None else check.tolerance
    # The value of a band that comes closest; the printed number itself if the band holds it.
    nearest = min(max(number, reproduced[0]), reproduced[1]) if isinstance(reproduced, tuple) else reproduced
    agrees = nearest == number or value.agrees(nearest, check.tolerance)
    deviation = nearest - number
    # What floating point and solvers leave over is no deviation: no source prints that many places.
    return (0.0 if abs(deviation) <= _DUST * abs(number) else deviation), tolerance, agrees


def _shown(reproduced: object) -> str:
    """Return what the model gives as text, with enough digits to see the deviation."""
    if reproduced is None:
        return ""
    if isinstance(reproduced, bool):
        return "true" if reproduced else "false"
    if isinstance(reproduced, tuple):
        return f"{reproduced[0]:.6g} to {reproduced[1]:.6g}"
    return reproduced if isinstance(reproduced, str) else f"{reproduced:.6g}"


def _verdict(check: Check, agrees: bool) -> str:
    """Return the verdict on a check that gives something."""
    if agrees:
        return {"calibrated": "as fitted", "predicted": "reproduced", "input": "input"}.get(check.role, "holds")
    return "missed, explained" if check.explanation else "missed"


def _row(value: DocumentedValue, check: Check | None) -> Row:
    """Return one row from a documented value and its check, if it has one."""
    deviation = tolerance = None
    if check is None:
        role = verdict = "not modelled" if value.study == "context" else "not built"
        note = "context: no study models it" if value.study == "context" else "its study has not been built"
    else:
        role, verdict, note = check.role, check.role, check.reason
        if check.reproduced is not None:
            deviation, tolerance, agrees = judge(value, check)
            verdict = _verdict(check, agrees)
        tolerated = f"tolerance: {check.tolerance_reason}" if check.tolerance_reason else ""
        note = "; ".join(text for text in (note, check.explanation, tolerated) if text)
    return Row(
        id=value.id,
        study=value.study,
        quantity=value.quantity,
        unit=value.unit,
        role=role,
        documented=value.value,
        reproduced=_shown(check.reproduced) if check else "",
        deviation=deviation,
        tolerance=tolerance,
        verdict=verdict,
        note=note,
        place=f"{value.source}, {value.locator}",
    )


def _checks(name: str, values: Sequence[DocumentedValue]) -> dict[str, Check]:
    """Return the checks of a study by id: one for each of its documented values, no other."""
    wanted = [value.id for value in values if value.study == name]
    checks: dict[str, Check] = {}
    for check in studies.load(name).checks():
        if check.id in checks:
            raise ValueError(f"study {name!r} checks {check.id!r} twice")
        if check.id not in wanted:
            raise ValueError(f"study {name!r} checks {check.id!r}, which is no row of that study in documented.csv")
        checks[check.id] = check
    for id in wanted:
        if id not in checks:
            raise ValueError(f"study {name!r} is built but declares no check for {id!r}; give it a role")
    return checks


def rows(study: str | None = None) -> tuple[Row, ...]:
    """Return the scorecard, in the order of the data file.

    Parameters
    ----------
    study : str or None
        Only the rows of this study.

    Raises
    ------
    ValueError
        If there is no study of that name; or if a study checks an id twice,
        one that it does not document, or not every one that it does: a check
        that nothing documents is a defect, and so is a value without a role.

    Examples
    --------
    >>> row = next(row for row in rows("memory") if row.id == "memory.hopper-per-task-packed")
    >>> row.documented, row.reproduced, row.role, row.verdict
    ('1.29', '1.29167', 'predicted', 'reproduced')
    """
    values = all_values()
    if study is not None and study not in {value.study for value in values}:
        known = ", ".join(sorted({value.study for value in values}))
        raise ValueError(f"study={study!r} has no documented value; there are: {known}")
    checks: dict[str, Check] = {}
    for name in studies.BUILT:
        if study is None or name == study:
            checks |= _checks(name, values)
    return tuple(_row(value, checks.get(value.id)) for value in values if study is None or value.study == study)


def select(table: Iterable[Row], *, role: str | None = None, verdict: str | None = None) -> tuple[Row, ...]:
    """Return the rows of a role and a verdict; "missed" takes the explained misses too.

    Raises
    ------
    ValueError
        If there is no such role or verdict.

    Examples
    --------
    >>> [row.reproduced for row in select(rows("memory"), role="calibrated")]
    ['3.7675']
    """
    if role is not None and role not in ROW_ROLES:
        raise ValueError(f"role={role!r} must be one of: {', '.join(ROW_ROLES)}")
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"verdict={verdict!r} must be one of: {'; '.join(VERDICTS)}")
    return tuple(
        row
        for row in table
        if role in (None, row.role) and (verdict in (None, row.verdict) or row.verdict == f"{verdict}, explained")
    )


def unexplained(table: Iterable[Row]) -> tuple[Row, ...]:
    """Return the misses that nobody explained.

    Examples
    --------
    >>> unexplained(rows())
    ()
    """
    return tuple(row for row in table if row.verdict == "missed")


def summary(table: Iterable[Row]) -> dict[str, object]:
    """Return the counts of a scorecard by role and by verdict, and the misses nobody explained.

    Examples
    --------
    >>> summary(rows("memory"))["verdicts"]["as fitted"]
    1
    """
    table = tuple(table)
    return {
        "rows": len(table),
        "roles": {role: count for role in ROW_ROLES if (count := Counter(row.role for row in table)[role])},
        "verdicts": {
            verdict: count for verdict in VERDICTS if (count := Counter(row.verdict for row in table)[verdict])
        },
        "unexplained": [row.id for row in unexplained(table)],
    }


def summary_line(table: Iterable[Row]) -> str:
    """Return the scorecard in one sentence, as the README prints it.

    Examples
    --------
    >>> summary_line(rows("memory")).split(":")[0]
    '22 documented values'
    """
    counts = Counter((row.role, row.verdict) for row in table)
    roles: Counter[str] = Counter()
    for (role, _), count in counts.items():
        roles[role] += count
    parts = [
        f"{counts[role, verdict]} of {roles[role]} {name}"
        for role, verdict, name in (
            ("predicted", "reproduced", "predictions reproduced"),
            ("shape", "holds", "shapes hold"),
            ("identity", "holds", "sums hold"),
        )
        if roles[role]
    ]
    parts += [
        f"{roles[role]} {name}"
        for role, name in (
            ("calibrated", "calibrated"),
            ("input", "inputs"),
            ("not modelled", "not modelled"),
            ("not built", "of studies to come"),
        )
        if roles[role]
    ]
    return f"{roles.total():,} documented values: {', '.join(parts) or 'none'}."


def to_csv(table: Iterable[Row]) -> str:
    """Return a scorecard as CSV; numbers have six digits, which is all that any row needs.

    Examples
    --------
    >>> to_csv(()).strip()
    'id,study,quantity,unit,role,documented,reproduced,deviation,tolerance,verdict,note,place'
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row.__slots__)
    for row in table:
        cells = row.to_dict()
        for name in ("deviation", "tolerance"):
            number = cells[name]
            cells[name] = "" if number is None else f"{number:.6g}"
        writer.writerow(cells.values())
    return out.getvalue()
