"""The error for an invalid value: the value, the rule it breaks, and the origin of the rule."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_LONGEST_SHOWN = 60
# Longest list of names that a message prints.
_MOST_LISTED = 60


class InputError(ValueError):
    """An invalid value.

    Its parts are separate, so that a page can refer to the control, a command can name its option, and a program can
    read the rule. Base class of the errors that callers may need to distinguish.

    Parameters
    ----------
    message : str
        The message, with the value, the rule and the origin of the bound.
    name : str or None
        Name of the value, as the function or the control calls it; None if no single one is at fault.
    value : object
        The value given.
    rule : str
        The rule, as the end of a sentence: "must be from 1 to 6".

    Examples
    --------
    >>> error = refusal("tasks", 0, "must be at least 1")
    >>> print(error)
    tasks=0 must be at least 1
    >>> error.message_for("--tasks")
    '--tasks 0 must be at least 1'
    >>> InputError("the two do not fit together").details()
    {}
    """

    def __init__(self, message: str, *, name: str | None = None, value: object = None, rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.value = value
        self.rule = rule

    def message_for(self, option: str) -> str:
        """Return the message, with the value called by its command-line option.

        Parameters
        ----------
        option : str
            Option as typed, such as ``--tasks``.
        """
        if not self.rule:
            return f"{option}: {self.message}"
        return f"{option} {_shown(self.value)} {self.rule}"

    def details(self) -> dict[str, Any]:
        """Return the known parts as a dictionary."""
        parts = {"name": self.name, "value": self.value, "rule": self.rule}
        return {key: part for key, part in parts.items() if part not in (None, "")}


def _shown(value: object) -> str:
    """Return the text of a value, truncated if it is long."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def refusal(name: str, value: object, rule: str, *, unit: str = "") -> InputError:
    """Return an error for one invalid value: its name, the value with its unit, the rule.

    Parameters
    ----------
    name, value : str, object
    rule : str
        The rule, as the end of a sentence.
    unit : str
        Unit of a number.

    Examples
    --------
    >>> refusal("load", 2.0, "must be below 1")
    InputError('load=2.0 must be below 1')
    """
    shown = repr(value) if len(repr(value)) <= _LONGEST_SHOWN else repr(value)[: _LONGEST_SHOWN - 3] + "..."
    measured = f" {unit}" if unit and not isinstance(value, str) else ""
    return InputError(f"{name}={shown}{measured} {rule}", name=name, value=value, rule=rule)


@contextmanager
def attributed_to(name: str) -> Iterator[None]:
    """Attribute errors raised in the block to the value of a control.

    Parameters
    ----------
    name : str
        Name of the control.

    Raises
    ------
    InputError
        The error raised in the block, with this name.

    Examples
    --------
    >>> with attributed_to("grid"):
    ...     raise InputError("no size")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no size
    """
    try:
        yield
    except InputError as error:
        raise InputError(str(error), name=name) from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the closest valid name, or all of them.

    Parameters
    ----------
    name : str
        The name.
    known : iterable of str
        Valid names.

    Examples
    --------
    >>> did_you_mean("hoper", ("hopper", "franklin")), did_you_mean("x", ("hopper", "franklin")), did_you_mean("x", ())
    ("; did you mean 'hopper'?", '; there are: hopper, franklin', '; there are none')
    """
    import difflib

    known = tuple(known)
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    listed = f"; there are: {', '.join(known)}" if known else "; there are none"
    return listed if len(known) <= _MOST_LISTED else ""


def at_least(least: float, **values: float) -> None:
    """Reject the first value below a bound, by its name; NaN is below every bound.

    Parameters
    ----------
    least : float
    **values : float
        Values by name.

    Raises
    ------
    InputError
        If a value is below the bound.

    Examples
    --------
    >>> at_least(1, files=2, tasks=0)
    Traceback (most recent call last):
    hopperlib.errors.InputError: tasks=0 must be at least 1
    """
    for name, value in values.items():
        if not value >= least:
            raise refusal(name, value, f"must be at least {least}" if least else "must not be negative")


def above(bound: float, **values: float) -> None:
    """Reject the first value at or below a bound, by its name.

    Parameters
    ----------
    bound : float
    **values : float
        Values by name.

    Raises
    ------
    InputError
        If a value is not above the bound.

    Examples
    --------
    >>> above(0, rate_gb_s=0.0)
    Traceback (most recent call last):
    hopperlib.errors.InputError: rate_gb_s=0.0 must be above 0
    """
    for name, value in values.items():
        if not value > bound:
            raise refusal(name, value, f"must be above {bound}")


def within(low: float, high: float, why: str = "", **values: float) -> None:
    """Reject the first value out of range, by its name; `why` gives the origin of the bounds.

    Parameters
    ----------
    low, high : float
        Bounds, both included.
    why : str, default ''
        End of the sentence, such as ", the nodes of the machine".
    **values : float
        Values by name.

    Raises
    ------
    InputError
        If a value is below the range or above it.

    Examples
    --------
    >>> within(0, 1, ": it is a share", part=2)
    Traceback (most recent call last):
    hopperlib.errors.InputError: part=2 must be from 0 to 1: it is a share
    """
    for name, value in values.items():
        if not low <= value <= high:
            raise refusal(name, value, f"must be from {low:,} to {high:,}{why}")
