"""A question: controls, examples, and a pure function from their values to a `Result`.

From this one record follow the command ``hopper NAME``, the explorer on the page (its worker calls
`hopperkit.render.answer.answer_json`), the widget in JupyterLab and the Python function of its name in `hopperkit`.
`hopperkit.questions.ask` declares one.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple

from hopperkit.questions.controls import Control
from hopperkit.questions.result import Result
from hopperlib.errors import InputError, did_you_mean

MIME_TYPE = "application/vnd.hopper.explorer+json"
# Answer of the last explorer shown under each name; None while its settings are rejected. Stored by the code that shows
# it.
SHOWN: dict[str, Result | None] = {}


class Example(NamedTuple):
    """An example setting: the button label, and the values it sets."""

    label: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Question:
    """One question, available in all interfaces.

    Parameters
    ----------
    name : str
        Stable name: of the command, of the explorer in addresses, of the Python function (with ``_`` for ``-``).
    title : str
    question : str
        The question in one sentence.
    controls : tuple of Control
    answer : callable
        ``answer(**values) -> Result``; pure: the same values give the same
        answer. It raises `InputError` (or `ValueError`) for values that do
        not fit together.
    examples : tuple of Example
        Settings worth trying.
    heavy : bool
        Whether an answer may take up to three seconds; the page then shows a
        busy sign and a way to cancel.
    partial_results : callable or None
        ``partial_results(**values)`` yields partial results of a slow answer: a sentence, and its first figures as far
        as computed.

    Examples
    --------
    >>> from hopperkit.questions.controls import Slider
    >>> square = Question(name="square", title="Squares", question="What is a square?",
    ...     controls=(Slider(name="x", label="x", low=0, high=9, step=1, default=3),),
    ...     answer=lambda x: Result(summary=f"{x} times {x} is {x * x}."))
    >>> square.run().summary
    '3 times 3 is 9.'
    >>> square.run(x=10)
    Traceback (most recent call last):
    hopperlib.errors.InputError: x=10 must be from 0 to 9, the range of this control
    """

    name: str
    title: str
    question: str
    controls: tuple[Control, ...]
    answer: Callable[..., Result]
    examples: tuple[Example, ...] = ()
    heavy: bool = False
    partial_results: Callable[..., Iterator[Result]] | None = None

    def __post_init__(self) -> None:
        names = [control.name for control in self.controls]
        if len(set(names)) != len(names):
            raise ValueError(f"question {self.name!r} has two controls of one name: {names}")
        for example in self.examples:
            try:
                self.read(example.values)
            except InputError as error:
                raise InputError(f"example {example.label!r} of question {self.name!r}: {error}") from None

    @property
    def defaults(self) -> dict[str, Any]:
        """The starting value of every control."""
        return {control.name: control.default for control in self.controls}

    def starting(self, **defaults: Any) -> "Question":
        """Return the same question with other initial values: commands and pages may differ."""
        controls = (
            replace(control, **{"default": defaults[control.name]}) if control.name in defaults else control
            for control in self.controls
        )
        return replace(self, controls=tuple(controls))

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all values, checked and converted, with defaults filled in.

        Raises
        ------
        InputError
            If a name is unknown or a value does not fit its control.
        """
        known = {control.name: control for control in self.controls}
        for name in values:
            if name not in known:
                rule = f"is not a control of {self.name!r}{did_you_mean(name, known)}"
                raise InputError(f"{name}={values[name]!r} {rule}", name=name, value=values[name], rule=rule)
        return {name: control.read(values.get(name, self.defaults[name])) for name, control in known.items()}

    def run(self, **values: Any) -> Result:
        """Return the answer for these values (defaults for the rest).

        Raises
        ------
        InputError
            If a value is rejected by its control or by the model.
        """
        checked = self.read(values)
        try:
            return self.answer(**checked)
        # Errors of the package name their control; other errors of a model are at least not tracebacks.
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from error

    def partial(self, **values: Any) -> Iterator[Result]:
        """Yield partial results of an answer; nothing for rejected values."""
        # The full answer rejects the same values, with the reason.
        with suppress(ValueError):
            yield from self.partial_results(**self.read(values)) if self.partial_results else ()

    def control_of(self, error: InputError) -> Control | None:
        """Return the control that an error refers to: the one of its name, or the text that contains a part of that
        name.
        """
        if error.name is None:
            return None
        # A model may name a part of a text, such as a key of a table: the error then refers to the text.
        named = (control for control in self.controls if control.name == error.name)
        return next(named, next((control for control in self.controls if control.argument), None))

    def __call__(self, *arguments: Any, **values: Any) -> Result:
        """Return the answer; the first values may be positional if the question has arguments."""
        names = [control.name for control in self.controls if control.argument]
        if len(arguments) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} positional values, not {len(arguments)}")
        return self.run(**dict(zip(names, arguments, strict=False)), **values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy a question by its name, with changed initial values."""
        declared = load(self.name)
        changed = {name: value for name, value in self.defaults.items() if value != declared.defaults[name]}
        return _restored, (self.name, changed)

    def to_dict(self) -> dict[str, Any]:
        """Return everything a page or widget needs to build the form."""
        return {name: getattr(self, name) for name in ("name", "title", "question", "heavy")} | {
            "controls": [control.to_dict() for control in self.controls],
            "examples": [{"label": example.label, "values": dict(example.values)} for example in self.examples],
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the data that the book turns into a live form."""
        return {MIME_TYPE: {"name": self.name}, "text/plain": f"Question: {self.title}"}

    @property
    def result(self) -> Result | None:
        """Return the current answer of the explorer of this name in the notebook, None while its settings are rejected;
        otherwise its initial answer.
        """
        return SHOWN[self.name] if self.name in SHOWN else self.run()


# A single word that ends like a file name, or contains folders.
_FILE_NAME = re.compile(r"\S*\.[A-Za-z]\w{0,7}|\S*/\S+|~\S*")


def content(given: Any) -> Any:
    r"""Return a program's input for a file control as text: the contents of a path, a file or a DataFrame.

    Parameters
    ----------
    given : Any
        A path, an open file, a DataFrame or text.

    Raises
    ------
    InputError
        If a text has the form of a file name, and the file does not exist.

    Examples
    --------
    >>> content("time,value\\n1,5"), content("nightly.csv")
    Traceback (most recent call last):
    hopperlib.errors.InputError: nightly.csv: there is no such file; a text that is not a path is read as file contents
    """
    if not isinstance(given, str):
        from hopperkit.readers.source import text_of

        return given if given is None else text_of(given)
    if "\n" in given or not _FILE_NAME.fullmatch(given.strip()):
        return given
    # Imported late: commands start without it.
    from pathlib import Path

    path = Path(given.strip()).expanduser()
    if not path.is_file():
        raise InputError(
            f"{given}: there is no such file; a text that is not a path is read as file contents", value=given
        )
    return content(path)


def is_sample(question: Question, name: str, text: str) -> bool:
    """Whether a text comes from the question: its default, or that of an example.

    Parameters
    ----------
    question : Question
        Question with the control.
    name : str
        Name of the control.
    text : str
        Text to compare.

    Examples
    --------
    >>> is_sample(load("place"), "line", "aprun -n 1 mine")
    False
    """
    return text in (question.defaults[name], *(example.values.get(name) for example in question.examples))


def load(name: str) -> Question:
    """Return a question of the catalogue by name.

    Parameters
    ----------
    name : str
        Name of the question, such as "memory".

    Raises
    ------
    InputError
        If there is none of that name; the message lists the names.

    Examples
    --------
    >>> load("plcae")
    Traceback (most recent call last):
    hopperlib.errors.InputError: there is no question 'plcae'; did you mean 'place'?
    """
    from hopperkit.questions.catalogue import QUESTIONS

    if name not in QUESTIONS:
        raise InputError(f"there is no question {name!r}{did_you_mean(name, tuple(QUESTIONS))}")
    question = _module(QUESTIONS[name]).QUESTION
    assert isinstance(question, Question)
    return question


def _restored(name: str, changed: Mapping[str, Any]) -> Question:
    """Return a question of the catalogue with other starting values."""
    return load(name).starting(**changed) if changed else load(name)


def answer_of(name: str, /, **values: Any) -> Result:
    """Return the answer of a question of the catalogue, as the page and the command give it.

    Parameters
    ----------
    name : str
    **values
        Values of its controls; the others keep the page's initial values.

    Examples
    --------
    >>> answer_of("memory", need_gb=2.0, tasks=384).facts["best_nodes"]
    26
    """
    return load(name).run(**values)


def _module(path: str) -> ModuleType:
    """Return the module of a question, whose name in the catalogue may be misspelled."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        # Only needed for misspellings.
        import pkgutil

        folder, _, name = path.rpartition(".")
        modules = [each.name for each in pkgutil.iter_modules(importlib.import_module(folder).__path__)]
        text = f"the catalogue of questions has {name!r}, {folder} has not{did_you_mean(name, modules)}"
        raise ModuleNotFoundError(text, name=path) from None
