"""What a study declares: its inputs, what it is calibrated on, and its checks.

A check ties one documented value to what the model gives. Its role says how
the two relate, and never more than one role fits:

=============  =========================================================
input          the value goes into the model; what uses it shows nothing
calibrated     a parameter was fitted until the model gave this value
predicted      the model gives it without having been fitted to it
shape          a described shape, true or false on the model's output
identity       arithmetic among printed numbers, no model involved
not modelled   no model here can give it; the reason says why
=============  =========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["ROLES", "Check", "Role", "Study"]

Role = Literal["input", "calibrated", "predicted", "shape", "identity", "not modelled"]
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One documented value beside what the model gives.

    Parameters
    ----------
    id : str
        Row of ``data/documented.csv``.
    role : {"input", "calibrated", "predicted", "shape", "identity", "not modelled"}
    reproduced : float, bool, tuple of (float, float), str or None
        What the model gives, in the unit of the documented row: a number, a
        range (low, high), the truth of a shape, or a word. For an input what
        the model works with, if it holds it. None for what is not modelled.
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

    Examples
    --------
    >>> Check(id="memory.hopper-per-task-packed", role="predicted", reproduced=1.2917).role
    'predicted'
    >>> Check(id="placement.vasp-runtimes", role="not modelled")
    Traceback (most recent call last):
    ValueError: check 'placement.vasp-runtimes': role 'not modelled' needs a reason
    """

    id: str
    role: Role
    reproduced: float | bool | tuple[float, float] | str | None = None
    tolerance: float | None = None
    tolerance_reason: str = ""
    reason: str = ""
    explanation: str = ""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"check {self.id!r}: role={self.role!r} must be one of: {', '.join(ROLES)}")
        if self.role in ("calibrated", "not modelled") and not self.reason:
            raise ValueError(f"check {self.id!r}: role {self.role!r} needs a reason")
        if self.role in ("calibrated", "predicted", "shape", "identity") and self.reproduced is None:
            raise ValueError(f"check {self.id!r}: role {self.role!r} needs what the model gives")
        if self.role == "not modelled" and self.reproduced is not None:
            raise ValueError(f"check {self.id!r}: role {self.role!r} reproduces nothing")
        if self.role == "shape" and not isinstance(self.reproduced, bool):
            raise ValueError(f"check {self.id!r}: a shape is true or false, not {self.reproduced!r}")
        if (self.tolerance is None) != (not self.tolerance_reason):
            raise ValueError(f"check {self.id!r}: a tolerance and its reason come together")
        if self.explanation and self.role in ("input", "not modelled"):
            raise ValueError(f"check {self.id!r}: role {self.role!r} cannot miss, so there is nothing to explain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One documented study of the book.

    Parameters
    ----------
    name : str
        As in the `study` column of the data and in file names.
    title : str
    part : str
        Part of the book: node, network, storage, failure or monitoring.
    question : str
        The question in one sentence.
    assumptions : tuple of str
        What no source gives, each in a sentence; the page lists them.
    checks : callable
        ``checks() -> tuple of Check``; runs the models.

    Examples
    --------
    >>> Study(name="toy", title="Toy", part="node", question="Does it?", checks=lambda: ()).checks()
    ()
    """

    name: str
    title: str
    part: str
    question: str
    checks: Callable[[], tuple[Check, ...]]
    assumptions: tuple[str, ...] = ()
