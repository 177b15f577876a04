"""Declare a question: its settings as typed fields, each with its control, and its answer.

A question is one module. A subclass of `Setting` has one field per control; derived values are properties. A function
takes such a setting and returns a `Result`, and `declared` joins both to the module's ``QUESTION``::

    class Job(ask.Setting):
        need_gb: float = ask.number("Memory of a task", 2.0, (0.01, 4096.0, 0.05), unit="GB")
        machine: Machine = ask.machine()

    def answer(job: Job) -> Result: ...

    QUESTION = ask.declared(Job, answer, title="Memory for each task", examples={"A whole machine": {"nodes": 6384}})

====================  ==========================================================
`number`, `whole`     a number, a count, typed in
`slider`, `fraction`  a number on a scale, a share of a whole
`choice`, `switch`    one of a few options; on or off
`text`, `file`        a text, the text of a file
`machine`             a machine of the library or of a file: the field is a `Machine`
`machine_file`        the reader's machine file, which replaces `machine`
====================  ==========================================================
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from hopperkit.questions import catalogue
from hopperkit.questions.controls import Choice, Control, FileText, MachineChoice, Number, Slider, Switch, Text
from hopperkit.questions.question import Example, Question
from hopperkit.questions.result import Result
from hopperlib.errors import did_you_mean

Span = tuple[float, float, float]


class Details(TypedDict, total=False):
    """Optional details of any control besides its label and default, as in `Control`; for type checkers."""

    unit: str
    help: str
    assumed: str
    advanced: bool
    option: str
    argument: bool
    required: bool


class NumberDetails(Details, total=False):
    """Optional details of a number: `binary` if its unit counts in powers of 1,024."""

    binary: bool


class ChoiceDetails(Details, total=False):
    """Optional details of a choice: whether functions and counts are allowed as options."""

    functions: bool
    numbers: bool


class TextDetails(Details, total=False):
    """Optional details of a text: its size, and the placeholder while it is empty."""

    rows: int
    max_length: int
    placeholder: str


class FileDetails(TextDetails, total=False):
    """Optional details of a file: its name extensions, and whether several are allowed."""

    accept: str
    multiple: bool


class MachineDetails(Details, total=False):
    """Optional details of a machine: the label for no machine, its required parts, the machines to choose from."""

    none: str
    having: Literal["file_systems", "wired"]
    options: tuple[tuple[str, str], ...]


def number(label: str, default: float, span: Span, **more: Unpack[NumberDetails]) -> Any:
    """Declare a number that is typed in; its span is least, most, step.

    Parameters
    ----------
    label : str
    default : float
    span : tuple of float
    **more
        Other details, as in `NumberDetails`.

    Examples
    --------
    >>> number("Run time", 1.0, (0.01, 1e4, 0.5), unit="h")(name="hours").unit
    'h'
    """
    return partial(Number, label=label, default=default, low=span[0], high=span[1], step=span[2], **more)


def whole(label: str, default: int, span: tuple[int, int], **more: Unpack[NumberDetails]) -> Any:
    """Declare a count that is typed in; its span is least and most.

    Parameters
    ----------
    label : str
        Label of the control.
    default : int
        Initial value.
    span : tuple[int, int]
        Minimum and maximum.

    Examples
    --------
    >>> whole("Nodes", 4, (1, 100))(name="nodes").read("8")
    8
    """
    return number(label, default, (*span, 1), **more)


def slider(label: str, default: float, span: Span, **more: Unpack[NumberDetails]) -> Any:
    """Declare a number on a scale; its span is least, most, step.

    Parameters
    ----------
    label : str
        Label of the control.
    default : float
        Initial value.
    span : Span
        Minimum, maximum and step.

    Examples
    --------
    >>> slider("Load", 0.9, (0.5, 1.0, 0.05))(name="load").default
    0.9
    """
    return partial(Slider, label=label, default=default, low=span[0], high=span[1], step=span[2], **more)


def fraction(label: str, default: float, **more: Unpack[NumberDetails]) -> Any:
    """Declare a share of a whole, from 0 to 1 in steps of 0.05.

    Parameters
    ----------
    label : str
        Label of the control.
    default : float
        Initial value, from 0 to 1.

    Examples
    --------
    >>> fraction("Busy part", 0.5)(name="busy").high
    1.0
    """
    return slider(label, default, (0.0, 1.0, 0.05), **more)


def choice(label: str, default: str, options: Mapping[str, str], **more: Unpack[ChoiceDetails]) -> Any:
    """Declare one of a few options: its name, and its label.

    Parameters
    ----------
    label : str
        Label of the control.
    default : str
        Initial value, one of the options.
    options : mapping
        Values with their labels.

    Examples
    --------
    >>> choice("Direction", "write", {"write": "writes", "read": "reads"})(name="direction").read("read")
    'read'
    """
    return partial(Choice, label=label, default=default, options=tuple(options.items()), **more)


def switch(label: str, default: bool, **more: Unpack[Details]) -> Any:
    """Declare a switch.

    Parameters
    ----------
    label : str
        Label of the control.
    default : bool
        Initial value.

    Examples
    --------
    >>> switch("Compressed", False)(name="compressed").read("true")
    True
    """
    return partial(Switch, label=label, default=default, **more)


def text(label: str, default: str = "", **more: Unpack[TextDetails]) -> Any:
    """Declare a text.

    Parameters
    ----------
    label : str
        Label of the control.
    default : str, default ""
        Initial text.

    Examples
    --------
    >>> text("Line")(name="line").default
    ''
    """
    return partial(Text, label=label, default=default, **more)


def file(label: str, default: str = "", **more: Unpack[FileDetails]) -> Any:
    """Declare the text of a file.

    Parameters
    ----------
    label : str
        Label of the control.
    default : str, default ""
        Initial text.

    Examples
    --------
    >>> file("Log", accept=".txt")(name="log").accept
    '.txt'
    """
    return partial(FileText, label=label, default=default, **more)


def machine(label: str = "Machine", default: str = "hopper", **more: Unpack[MachineDetails]) -> Any:
    """Declare a machine of the library; a setting has it as a `Machine`, or None where ``none`` is an option.

    Parameters
    ----------
    label : str, default "Machine"
        Label of the control.
    default : str, default "hopper"
        Name of the initial machine.

    Examples
    --------
    >>> machine()(name="machine").read("titan")
    'titan'
    """
    return partial(MachineChoice, label=label, default=default, **more)


def machine_file(replaced: str = "the machine above") -> Any:
    """Declare the reader's machine file, which replaces the machine of a setting.

    Parameters
    ----------
    replaced : str, default 'the machine above'
        Name of the field that it replaces.

    Examples
    --------
    >>> machine_file()(name="machine_file").default
    ''
    """
    help = f"TOML, as written by `hopper machine new`; it replaces {replaced}."
    return file("Custom machine file", accept=".toml", help=help, advanced=True)


class Setting:
    """Values set by a reader: typed fields, each declared with its control.

    A subclass adds derived values as properties, and rejects inconsistent values in `check`. A machine field holds the
    `Machine`; the first one holds the reader's machine file if there is one.

    Examples
    --------
    >>> class Square(Setting):
    ...     side: float = number("Side", 2.0, (0.0, 9.0, 0.5), unit="m")
    ...     @property
    ...     def area(self) -> float:
    ...         return self.side**2
    >>> Square(side=3.0).area, Square().area
    (9.0, 4.0)
    """

    def __init__(self, **values: Any) -> None:
        suffix = values.get("machine_file", "")
        for name, control in self.controls().items():
            value = values.pop(name, control.default)
            if isinstance(control, MachineChoice):
                # Many questions need no machine, and the reader is a large import.
                from hopperkit.questions.machine_choice import chosen_machine

                value = None if value == "none" and not suffix else chosen_machine(value, suffix)
                suffix = ""
            setattr(self, name, value)
        if values:
            name = next(iter(values))
            raise TypeError(f"{type(self).__name__} has no field {name!r}{did_you_mean(name, self.controls())}")
        self.check()

    def check(self) -> None:
        """Reject inconsistent values with an `InputError`."""

    @classmethod
    @cache
    def controls(cls) -> dict[str, Control]:
        """Return the controls of the fields by name, in order of declaration, those of base classes first."""
        fields = {name: field for base in reversed(cls.__mro__) for name, field in vars(base).items()}
        return {name: field(name=name) for name, field in fields.items() if isinstance(field, partial)}


S = TypeVar("S", bound=Setting)


def declared(
    setting: type[S],
    answer: Callable[[S], Result],
    *,
    title: str,
    sentence: str = "",
    examples: Mapping[str, Mapping[str, Any]] = {},
    partial_results: Callable[[S], Iterator[Result]] | None = None,
    heavy: bool = False,
) -> Question:
    """Return the question for a setting and its answer, named after the module.

    Parameters
    ----------
    setting : type
        A `Setting`, in the module of the question.
    answer : callable
        ``answer(setting) -> Result``; pure.
    title : str
    sentence : str
        The question in one sentence; default: the sentence in the catalog.
    examples : mapping
        Example settings: the values of each, by button label.
    partial_results : callable or None
        Yields partial results of a slow answer.
    heavy : bool
        Whether an answer may take seconds.

    Examples
    --------
    >>> from hopperkit.questions.node.memory import QUESTION
    >>> QUESTION.name, QUESTION.controls[0].name
    ('memory', 'need_gb')
    """
    name = setting.__module__.rpartition(".")[2].replace("_", "-")
    return Question(
        name=name,
        title=title,
        question=sentence or catalogue.sentence(name),
        controls=tuple(setting.controls().values()),
        answer=lambda **values: answer(setting(**values)),
        examples=tuple(map(Example._make, examples.items())),
        heavy=heavy,
        partial_results=(lambda **values: partial_results(setting(**values))) if partial_results else None,
    )
