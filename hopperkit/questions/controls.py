"""Controls of an explorer: one class per kind of control.

=============  ====================================================
`Slider`       a number on a scale with steps
`Number`       a number typed in, with bounds
`Choice`       one of a few named options
`Switch`       on or off
`MachineChoice`  a machine of the library, a path or a `Machine` where there is a file system
`Text`         a line or a block of text, never put into the URL
`FileText`     the text of a file, pasted or dropped, likewise
=============  ====================================================

A control validates and converts its input (`Control.read`). The browser, JupyterLab and the command line all send plain
values through that one method, so a mistake gets the same message everywhere.
"""

import os
import re
from dataclasses import dataclass
from typing import Any, ClassVar

from hopperkit.frames import frame_text
from hopperlib.errors import InputError, refusal
from hopperlib.units import plain_number, size_bytes

_THOUSANDS = r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?"
_MEASURED = r"(.*\d\.?)\s*([A-Za-z]+)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Control:
    """Attributes shared by all controls.

    Parameters
    ----------
    name : str
        Keyword under which the explorer's function receives the value.
    label : str
        The label next to the control.
    unit : str
        Unit shown after the value; empty for counts and text.
    help : str
        One sentence under the control; empty for none.
    advanced : bool
        Whether the control starts folded away under "More settings".
    assumed : str
        Reason for an unsourced default; empty if the default is sourced or only a starting point.
    option : str
        Name of its option in a command, where that differs: "need" for ``--need``.
    argument : bool
        Whether a command takes it as its argument, without a name.
    required : bool
        Whether a command requires it: an unrequested default could be mistaken for an answer.
    """

    kind: ClassVar[str] = "control"
    shareable: ClassVar[bool] = True
    # Additional fields of a kind, among those below.
    own: ClassVar[tuple[str, ...]] = ()

    name: str
    label: str
    unit: str = ""
    help: str = ""
    advanced: bool = False
    assumed: str = ""
    option: str = ""
    argument: bool = False
    required: bool = False

    # One class has the fields of all kinds: separate dataclasses would add ten milliseconds to every command.
    default: Any = None
    low: float = 0
    high: float = 0
    step: float = 0
    binary: bool = False
    options: tuple[tuple[str, str], ...] = ()
    functions: bool = False
    numbers: bool = False
    none: str = ""
    having: str = ""
    rows: int = 1
    max_length: int = 20_000
    placeholder: str = ""
    accept: str = ""
    multiple: bool = False

    def __post_init__(self) -> None:
        self.read(self.default)

    @property
    def flag(self) -> str:
        """The name of its option in a command."""
        return "--" + (self.option or self.name).replace("_", "-")

    def read(self, value: Any) -> Any:
        """Return the checked and converted value; raise `InputError` if it is invalid."""
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the control as plain data for a page or a widget."""
        names = ("kind", "name", "label", "unit", "help", "advanced", "assumed", "shareable", *self.own)
        return {name: getattr(self, name) for name in names}

    def refuse(self, value: Any, rule: str) -> InputError:
        """Return the error for a bad value: its name, the value, the rule."""
        whole = isinstance(value, float) and value.is_integer()
        return refusal(self.name, int(value) if whole else value, rule, unit=self.unit)


def _unit_factor(control: Control, value: str, unit: str) -> float:
    """Return the factor from a typed unit to the unit of its control."""
    if unit == control.unit:
        return 1.0
    # Memory is counted in binary units, as the sources do, data on disk in decimal ones.
    binary = control.binary
    try:
        typed = unit if len(unit) > 1 else unit.upper()
        return size_bytes(f"1{typed}", binary=binary) / size_bytes(f"1{control.unit}", binary=binary)
    except ValueError:
        raise control.refuse(value, f"must be a number in {control.unit}") from None


def _typed_number(control: Control, typed: str) -> tuple[float, float | str]:
    """Return a text as a number, and its display form: a plain number as parsed, one with a unit as typed."""
    text = typed.strip()
    if "," in text and not re.fullmatch(_THOUSANDS, text):
        # 1,29 may have a decimal comma; reading it as 129 would be wrong.
        raise control.refuse(typed, "must be a number, with a point before its decimals")
    factor, measured = 1.0, re.fullmatch(_MEASURED, text)
    if measured and control.unit:
        text, factor = measured[1], _unit_factor(control, typed, measured[2])
    try:
        value = float(text.replace(",", "")) * factor
    except ValueError:
        raise control.refuse(typed, "must be a number") from None
    return value, typed if measured else value


def _read_number(control: Control, value: Any, low: float, high: float, whole: bool) -> float | int:
    """Return a finite number within the bounds, an int if it must be whole."""
    value = plain_number(value)
    given = value
    if isinstance(value, str):
        value, given = _typed_number(control, value)
    # In Python True is the number 1, but a person who types it does not mean a number.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise control.refuse(value, "must be a number")
    if whole and isinstance(given, float) and given.is_integer():
        given = int(given)
    # The comparison is written so that NaN fails it.
    if not low <= value <= high:
        raise control.refuse(given, f"must be from {low:,.12g} to {high:,.12g}, the range of this control")
    if whole:
        if value != int(value):
            raise control.refuse(given, "must be a whole number")
        return int(value)
    return float(value)


class Slider(Control):
    """A number on a scale.

    Parameters
    ----------
    low, high, step, default : float
        Range, step and starting value in `unit`. Whole if all four are ints.
    binary : bool
        Whether a unit of size counts in powers of 1,024: memory does, data on disk do not.

    Examples
    --------
    >>> need = Slider(name="need_gb", label="Need", unit="GB", low=0.1, high=64.0, step=0.1, default=2.0, binary=True)
    >>> need.read("2GB"), need.read("512MB")
    (2.0, 0.5)
    >>> tasks = Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12)
    >>> tasks.read("6")
    6
    >>> tasks.read(25)
    Traceback (most recent call last):
    hopperlib.errors.InputError: tasks=25 must be from 1 to 24, the range of this control
    """

    kind: ClassVar[str] = "slider"
    own: ClassVar[tuple[str, ...]] = ("low", "high", "step", "default")
    __slots__ = ()

    @property
    def whole(self) -> bool:
        """Whether the control gives whole numbers."""
        return all(isinstance(part, int) for part in (self.low, self.high, self.step, self.default))

    def read(self, value: Any) -> float | int:
        """Return the number, within the range."""
        return _read_number(self, value, self.low, self.high, self.whole)


class Number(Slider):
    """A number typed in, for ranges too wide for a scale.

    Examples
    --------
    >>> Number(name="nodes", label="Nodes", low=1, high=6384, step=1, default=342).read(342)
    342
    """

    kind: ClassVar[str] = "number"
    __slots__ = ()


class Choice(Control):
    """One of a few options.

    Parameters
    ----------
    options : tuple of (str, str)
        Pairs of value and label.
    default : str
        One of the values.
    functions : bool
        Whether a function is allowed instead of an option, in Python.
    numbers : bool
        Whether a count is allowed instead of an option.

    Examples
    --------
    >>> order = Choice(name="order", label="Order", options=(("nid", "NID"), ("xyz", "xyz")), default="nid")
    >>> order.read("xyz")
    'xyz'
    >>> order.read("random")
    Traceback (most recent call last):
    hopperlib.errors.InputError: order='random' must be one of: nid, xyz
    """

    kind: ClassVar[str] = "choice"
    own: ClassVar[tuple[str, ...]] = ("default",)
    __slots__ = ()

    def offered(self) -> tuple[tuple[str, str], ...]:
        """Return the options, each with its label."""
        return self.options

    def read(self, value: Any) -> Any:
        """Return the value if it is an option."""
        if self.functions and callable(value):
            return value
        if self.numbers and str(value).isdecimal() and len(str(value)) < 10:
            return str(value)
        if value not in [key for key, _ in self.options]:
            raise self.refuse(value, "must be one of: " + ", ".join(key for key, _ in self.options))
        return str(value)

    def to_dict(self) -> dict[str, Any]:
        """Return the control as plain data."""
        return Control.to_dict(self) | {"options": [list(pair) for pair in self.offered()]}


class MachineChoice(Choice):
    """A machine: one of the library by name, or, with a file system, the path of a machine file.

    Parameters
    ----------
    none : str
        Label of the option that means no machine; empty for no such option.
    having : str
        Field that a machine must have to be offered, such as ``file_systems``.

    Examples
    --------
    >>> MachineChoice(name="machine", label="Machine", default="hopper").read("franklin")
    'franklin'
    """

    __slots__ = ()

    def read(self, value: Any) -> Any:
        """Return the name, or the machine itself where an object or a path is given."""
        if isinstance(value, str) and (value == self.default or (self.none and value == "none")):
            return value
        from hopperlib.machine import Machine, MachineError

        if isinstance(value, Machine):
            return value
        if not isinstance(value, (str, os.PathLike)):
            raise self.refuse(value, "must be the name of a machine, the path of a machine file, or a Machine")
        # Names are kept: URLs and examples can contain a name, but not a machine.
        if value in Machine.names():
            return value
        try:
            return Machine.load(str(value))
        except MachineError as error:
            raise InputError(str(error), name=self.name, value=str(value)) from error

    def offered(self) -> tuple[tuple[str, str], ...]:
        """Return the machines, each with its title, and the option of no machine where allowed."""
        from hopperlib.machine import Machine

        titles = Machine.titles().items()
        found = [each for each in titles if not self.having or getattr(Machine.load(each[0]), self.having)]
        found += [("none", self.none)] if self.none else []
        return self.options or tuple(found)


class Switch(Control):
    """On or off.

    Examples
    --------
    >>> Switch(name="strict_memory", label="-ss", default=False).read("true")
    True
    """

    kind: ClassVar[str] = "switch"
    own: ClassVar[tuple[str, ...]] = ("default",)
    __slots__ = ()

    def read(self, value: Any) -> bool:
        """Return True or False; the words true and false are accepted too."""
        # Booleans of numpy and pandas are not bool.
        if type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
        if str(value).lower() not in words:
            raise self.refuse(value, "must be true or false")
        return words[str(value).lower()]


class Text(Control):
    """A line or a block of text.

    Typed text stays on the page: it is never put into the URL.

    Parameters
    ----------
    default : str
        Text at the start.
    rows : int
        Lines shown; 1 makes a single-line field.
    max_length : int
        Longest text accepted. [characters]
    placeholder : str
        Example shown while the field is empty.

    Examples
    --------
    >>> Text(name="line", label="Launch line", default="aprun -n 1 a.out", max_length=20).read("x" * 21)
    Traceback (most recent call last):
    hopperlib.errors.InputError: line holds 21 characters; at most 20 are allowed on this page
    """

    kind: ClassVar[str] = "text"
    shareable: ClassVar[bool] = False
    own: ClassVar[tuple[str, ...]] = ("default", "rows", "max_length", "placeholder")
    __slots__ = ()

    def read(self, value: Any) -> str:
        """Return the text if it is not too long; a DataFrame or a Series is converted to CSV."""
        value = value if isinstance(value, str) else frame_text(value) or value
        if not isinstance(value, str):
            raise self.refuse(value, "must be text")
        if len(value) > self.max_length:
            raise InputError(
                f"{self.name} holds {len(value):,} characters; at most {self.max_length:,} are allowed on this page",
                name=self.name,
            )
        return value


class FileText(Text):
    """The text of a file: pasted, dropped or picked. It never leaves the page.

    Parameters
    ----------
    accept : str
        File name endings the picker offers, as in HTML; empty for all.
    multiple : bool
        Whether several files are allowed; each then begins with a line with its name, in the form of
        `hopperkit.readers.source.texts_of`.
    """

    kind: ClassVar[str] = "file"
    own: ClassVar[tuple[str, ...]] = (*Text.own, "accept", "multiple")
    __slots__ = ()
