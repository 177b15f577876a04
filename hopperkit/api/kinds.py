"""Types of the parameters of the public functions, and the call of a question with these arguments."""

from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from typing import IO

    from hopperkit.questions.result import Result
    from hopperlib.machine import Machine

# Any number: of Python, numpy or pandas.
Number: TypeAlias = SupportsFloat
# A whole number: of Python, numpy or pandas.
Count: TypeAlias = SupportsIndex
# A text, its lines, a path, an open file, the bytes of a file, a DataFrame or a Series. A str that is one word and
# looks like a file name is a path.
Text: TypeAlias = "str | bytes | PathLike[str] | IO[str] | IO[bytes] | Iterable[str]"
# A machine: a name of `hopper machine list`, the path of a machine file, or the record.
AnyMachine: TypeAlias = "str | PathLike[str] | Machine"


def given_values(question: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return a value for each control that is given; others are omitted, never filled with a sample.

    Parameters
    ----------
    question : Question
    values : dict
        By parameter; None is not given.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> given_values(load("diagnose"), {"errors": "one line"})["log"]
    ''
    """
    from hopperkit.questions.controls import Choice
    from hopperkit.questions.controls import Text as TextControl
    from hopperkit.questions.question import content

    found: dict[str, Any] = {}
    for control in question.controls:
        value = values.get(control.name)
        if isinstance(control, TextControl):
            # A grid or a date is not a file name, even if it looks like one.
            is_file = control.kind == "file" or (control.argument and control.rows > 1)
            found[control.name] = "" if value is None else content(value) if is_file else value
        elif isinstance(control, Choice):
            if value is not None:
                found[control.name] = str(value) if isinstance(value, SupportsIndex) else value
            elif getattr(control, "none", ""):
                found[control.name] = "none"
        elif value is not None:
            found[control.name] = value
    return found


def run(name: str, /, one_of: tuple[str, ...] = (), **values: Any) -> "Result":
    """Answer a question from the given arguments.

    Parameters
    ----------
    name : str
        Name of the question.
    one_of : tuple of str
        Parameters of which at least one must be given.
    **values
        The arguments; None is omitted.

    Raises
    ------
    InputError
        If no parameter in `one_of` is given, or a value is invalid.

    Examples
    --------
    >>> run("runs-needed", ("noise_percent", "times"), gain_percent=5)
    Traceback (most recent call last):
    hopperlib.errors.InputError: runs_needed needs noise_percent or times: none of them is given
    """
    from hopperkit.questions.question import load
    from hopperlib.errors import InputError

    if one_of and all(values.get(each) is None for each in one_of):
        listed = f"{', '.join(one_of[:-1])} or {one_of[-1]}"
        raise InputError(f"{name.replace('-', '_')} needs {listed}: none of them is given", name=one_of[0])
    question = load(name)
    return question.run(**given_values(question, values))
