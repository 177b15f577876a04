"""The checks: how a study answers each documented value, how close it must come, and why it may miss.

``data/checks.csv`` has a row for every documented value of a study that has been built. The models' results are not
part of it: a study computes them. The role defines how the two relate; each check has exactly one role:

===============  =========================================================
input            the value is an input of the model, which only returns it
calibrated       a parameter was fitted until the model gave this value
retrodicted      the model gives an interval from inputs and stated
                 assumptions, none of which is the value or determines it; its authors knew the value
shape            a described shape, true or false on the model's output
arithmetic       sums among printed numbers, no model involved
by construction  true of the model however its numbers are set
not modelled     no model here can give it; the reason says why
===============  =========================================================

Only a retrodiction or a shape can be lost. Forecasts, of values that nobody here knew, are not among these rows: they
are in `hopperbook.forecasts`.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from hopperbook.documented import ROLES, Role
from hopperbook.proofs import evaluate
from hopperlib.data_files import rows
from hopperlib.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How one documented value is checked.

    The texts may name numbers that the study computes, in the notation of
    `str.format`: ``{exchange_share:.0%}``.

    Parameters
    ----------
    id : str
        Row of ``data/documented.csv``.
    role : {"input", "calibrated", "retrodicted", "shape", "arithmetic", "by construction", "not modelled"}
    formula : str
        Expression for a value that needs no model: arithmetic on printed numbers (names of rows in quotes, without the
        study if it is the same) and on values of the machine files (``hopper.node.cores``), in the language of
        `evaluate_formula`.
    tolerance : float or None
        Largest deviation that still counts, in the unit of the row. None
        takes it from the row: half a unit of the last printed place, a whole
        unit downwards where the source truncates.
    tolerance_reason : str
        Why that tolerance; needed when one is given.
    reason : str
        For "not modelled": why. For "calibrated": the parameter that was
        fitted. Else how the value was had, if that needs a word.
    explanation : str
        Why the model misses the value, for a check that is known to fail. It
        is not for a check that agrees.
    changed : str
        When the criterion was changed after the value was known, and how.

    Examples
    --------
    >>> Check(id="memory.hopper-per-task-packed", role="retrodicted").role
    'retrodicted'
    >>> Check(id="placement.vasp-runtimes", role="not modelled")
    Traceback (most recent call last):
    hopperlib.errors.InputError: check 'placement.vasp-runtimes': role 'not modelled' needs a reason
    """

    id: str
    role: Role
    formula: str = ""
    tolerance: float | None = None
    tolerance_reason: str = ""
    reason: str = ""
    explanation: str = ""
    changed: str = ""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise InputError(f"check {self.id!r}: role={self.role!r} must be one of: {', '.join(ROLES)}")
        if self.role in ("calibrated", "not modelled") and not self.reason:
            raise InputError(f"check {self.id!r}: role {self.role!r} needs a reason")
        if self.formula and self.role in ("retrodicted", "shape"):
            raise InputError(f"check {self.id!r}: role {self.role!r} is for a model, not for a formula")
        if (self.tolerance is None) != (not self.tolerance_reason):
            raise InputError(f"check {self.id!r}: a tolerance and its reason must be given together")
        if self.explanation and self.role in ("input", "not modelled"):
            raise InputError(f"check {self.id!r}: role {self.role!r} cannot miss, so there is nothing to explain")


@cache
def checks() -> dict[str, Check]:
    """Return the checks by id, in the order of the file.

    Raises
    ------
    InputError
        If a row has missing or contradictory cells, or an id is repeated.

    Examples
    --------
    >>> checks()["memory.hopper-usable"].tolerance
    0.5
    """
    by_id: dict[str, Check] = {}
    for row in rows("checks.csv"):
        tolerance = float(text) if (text := row.pop("tolerance")) else None
        # The constructor validates the role.
        check = Check(tolerance=tolerance, **row)  # type: ignore[arg-type]
        if check.id in by_id:
            raise InputError(f"check {check.id!r} is in checks.csv twice")
        by_id[check.id] = check
    return by_id


class _Named(ast.NodeTransformer):
    """Replaces names with their values."""

    def __init__(self, look_up: Callable[[str], float | bool]) -> None:
        self.look_up = look_up

    def visit_Attribute(self, node: ast.Attribute) -> ast.Constant:
        """Replace a name with points in it."""
        return ast.Constant(self.look_up(ast.unparse(node)))

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Replace a name in quotes."""
        return ast.Constant(self.look_up(node.value)) if isinstance(node.value, str) else node


def evaluate_formula(text: str, look_up: Callable[[str], float | bool]) -> float | bool:
    """Evaluate a formula: a proof or a number, in which names represent values.

    Parameters
    ----------
    text : str
        Names contain points, or are quoted.
    look_up : callable
        Returns the value of a name.

    Raises
    ------
    ValueError
        If the text is not such a formula.

    Examples
    --------
    >>> evaluate_formula('2 * "nodes" + machine.cores', {"nodes": 3, "machine.cores": 24}.__getitem__)
    30.0
    """
    try:
        formula = _Named(look_up).visit(ast.parse(text, mode="eval")).body
        if isinstance(formula, ast.Constant) and isinstance(formula.value, bool):
            return formula.value
        value = evaluate(formula)
    except (SyntaxError, ArithmeticError) as error:
        raise ValueError(f"formula {text}: {error}") from None
    return value if isinstance(value, bool) else float(value)
