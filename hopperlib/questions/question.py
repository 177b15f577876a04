"""A question: a few controls, examples, and a pure function from their values to a `Result`.

From this one record follow the command ``hopper NAME``, the explorer on the
page (its worker calls `hopperlib.render.answer.answer_json`), the widget in JupyterLab and the Python
function ``hopperlib.NAME``. What is declared of it (title, controls, examples)
stands in a TOML file beside the module of its answer.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.questions import display
from hopperlib.questions.controls import Choice, Control, FileText, MachineChoice, Number, Slider, Switch, Text
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.result import Result
from hopperlib.questions.wording import Said, record_of, wording
from hopperlib.records import dataclass
from hopperlib.tables import nearest

MIME_TYPE = "application/vnd.hopper.explorer+json"


class Example(NamedTuple):
    """A setting worth trying: what the button says, and the values it sets."""

    label: str
    values: Mapping[str, Any]


class Asked:
    """The values of a question's controls as attributes; a subclass adds what follows from them.

    The controls stand in the question's table alone, with their kinds and bounds, and are read by it. So do the words
    of the answer (`hopperlib.questions.wording`).

    Examples
    --------
    >>> class Square(Asked):
    ...     @property
    ...     def area(self):
    ...         return self.side**2
    >>> Square(side=3).area
    9
    """

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
        self.check()

    def check(self) -> None:
        """Refuse values that do not fit together."""

    @cached_property
    def on(self) -> Machine:
        """The machine that is meant, of a question that asks for one."""
        return chosen_machine(vars(self).get("floor") or self.machine, vars(self).get("machine_file", ""))

    def partials(self) -> Iterator[Result]:
        """Yield what is known of an answer while it is worked out; nothing for one that comes at once."""
        yield from ()

    @classmethod
    def so_far(cls, **values: Any) -> Iterator[Result]:
        """Yield what is known of the answer for some values, before the whole of it."""
        return cls(**values).partials()

    @classmethod
    def answer(cls, **values: Any) -> Result:
        """Return the answer for some values."""
        return cls(**values).result()

    def label(self, name: str) -> str:
        """Return what a reader sees of the chosen option of a control."""
        return str(dict(record_of(type(self).__module__)["controls"][name]["options"])[getattr(self, name)])

    def said(self, **more: Any) -> Said:
        """Return the words beside the subclass, with its attributes and further ones to fill them in."""
        return wording(type(self).__module__).of(self, **more)

    def result(self) -> Result:
        """Return the answer; a subclass adds what its table cannot state."""
        return self.said().result()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """One question that can be asked in every place.

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
    so_far : callable or None
        ``so_far(**values)`` yields what is known of a heavy answer while it is worked out: a sentence, and the first
        of its figures as far as they go.
    command : mapping
        What its command has besides the controls: see `hopperlib.cli.question`.

    Examples
    --------
    >>> from hopperlib.questions.controls import Slider
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
    so_far: Callable[..., Iterator[Result]] | None = None
    command: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [control.name for control in self.controls]
        if len(set(names)) != len(names):
            raise ValueError(f"question {self.name!r} has two controls of one name: {names}")
        for example in self.examples:
            self.read(example.values)

    @property
    def defaults(self) -> dict[str, Any]:
        """The starting value of every control."""
        return {control.name: control.default for control in self.controls}

    def starting(self, **defaults: Any) -> "Question":
        """Return the same question with other starting values: a command may start elsewhere than a page."""
        controls = (
            replace(control, **{"default": defaults[control.name]}) if control.name in defaults else control
            for control in self.controls
        )
        return replace(self, controls=tuple(controls))

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all values checked and converted, defaults filled in.

        Raises
        ------
        InputError
            If a name is unknown or a value does not fit its control.
        """
        known = {control.name: control for control in self.controls}
        for name in values:
            if name not in known:
                rule = f"is not a control of {self.name!r}; it has: {', '.join(known)}"
                raise InputError(f"{name}={values[name]!r} {rule}", name=name, value=values[name], rule=rule)
        return {name: control.read(values.get(name, self.defaults[name])) for name, control in known.items()}

    def run(self, **values: Any) -> Result:
        """Return the answer for these values (defaults for the rest).

        Raises
        ------
        InputError
            If a value is refused, by its control or by the model.
        """
        checked = self.read(values)
        try:
            return self.answer(**checked)
        # A refusal of the package names its control; another one of a model is at least no traceback.
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from error

    def partial(self, **values: Any) -> Iterator[Result]:
        """Yield what is known of an answer before the whole of it; nothing for values that are refused."""
        # The whole answer refuses the same values, and says why.
        with suppress(ValueError):
            yield from self.so_far(**self.read(values)) if self.so_far else ()

    def control_of(self, error: InputError) -> Control | None:
        """Return the control that a refusal points at: of its name, or the text in which a part of that name stands."""
        if error.name is None:
            return None
        # A model may name a part of a text, a key of a table, say: then it is the text that is pointed at.
        named = (control for control in self.controls if control.name == error.name)
        return next(named, next((control for control in self.controls if control.argument), None))

    def __call__(self, *arguments: Any, **values: Any) -> Result:
        """Return the answer; the first values may stand without a name where the question has arguments."""
        names = [control.name for control in self.controls if control.argument]
        if len(arguments) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} values without a name, not {len(arguments)}")
        return self.run(**dict(zip(names, arguments, strict=False)), **values)

    def as_function(self) -> Callable[..., Result]:
        """Return the question as a function that shows its controls to ``help`` and to Tab."""

        def ask(*arguments: Any, **values: Any) -> Result:
            return self(*arguments, **values)

        # Python wants those first that may stand without a name.
        positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        ordered = sorted(self.controls, key=lambda control: not control.argument)
        parameters = [
            inspect.Parameter(
                control.name, positional if control.argument else keyword, default=self.defaults[control.name]
            )
            for control in ordered
        ]
        ask.__name__ = ask.__qualname__ = self.name.replace("-", "_")
        vars(ask)["__signature__"] = inspect.Signature(parameters, return_annotation=Result)
        lines = (
            f"{control.name}: {control.label}{f' [{control.unit}]' if control.unit else ''}" for control in ordered
        )
        ask.__doc__ = "\n".join([self.question, "", *lines])
        return ask

    def to_dict(self) -> dict[str, Any]:
        """Return everything a page or widget needs to build the form."""
        return {name: getattr(self, name) for name in ("name", "title", "question", "heavy")} | {
            "controls": [control.to_dict() for control in self.controls],
            "examples": [{"label": example.label, "values": dict(example.values)} for example in self.examples],
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return what the book makes a live form of."""
        return {MIME_TYPE: {"name": self.name}, "text/plain": f"Question: {self.title}"}

    def _ipython_display_(self) -> None:
        display.show("explorer", self)

    @property
    def result(self) -> Result | None:
        """The answer that the explorer of this name shows in the notebook now; None while its setting is refused."""
        shown: Result | None = display.widgets().answer_shown(self)
        return shown


_KINDS: dict[str, type[Control]] = {
    "choice": Choice,
    "file": FileText,
    "machine": MachineChoice,
    "number": Number,
    "slider": Slider,
    "switch": Switch,
    "text": Text,
}

# The control that several questions share: their tables name it, and say only what is different.
_SHARED: dict[str, dict[str, Any]] = {
    "machine_file": {
        "kind": "file",
        "label": "Machine file of your own",
        "default": "",
        "accept": ".toml",
        "help": "TOML, as `hopper machine new` writes it; it takes the place of the machine above.",
        "advanced": True,
    }
}


def declared(
    module: str,
    answer: Callable[..., Result],
    *,
    options: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    so_far: Callable[..., Iterator[Result]] | None = None,
) -> Question:
    """Return the question whose record stands in the TOML file beside a module, with its answer function.

    Parameters
    ----------
    module : str
        ``__name__`` of the module; its last part, with ``-`` for ``_``, is the name of the question.
    answer : callable
        Its parameters are the names of the controls.
    options : mapping
        Options of choices that a model's table states, by the name of the control.
    so_far : callable or None
        As for `Question`.

    Examples
    --------
    >>> from hopperlib.questions.node.memory import QUESTION
    >>> QUESTION.name, QUESTION.controls[0].name
    ('memory', 'need_gb')
    """
    record, name = record_of(module), module.rpartition(".")[2]
    controls = []
    for key, own in record["controls"].items():
        stated = _SHARED.get(key, {}) | own
        fields = {part: value for part, value in stated.items() if part != "kind"}
        if key in (options or {}):
            fields["options"] = (options or {})[key]
        if "options" in fields:
            fields["options"] = tuple((value, label) for value, label in fields["options"])
        controls.append(_KINDS[stated["kind"]](name=key, **fields))
    examples = (Example(label=example["label"], values=example["values"]) for example in record.get("examples", ()))
    return Question(
        name=name.replace("_", "-"),
        title=record["title"],
        question=record["question"],
        controls=tuple(controls),
        answer=answer,
        examples=tuple(examples),
        heavy=record.get("heavy", False),
        so_far=so_far,
        command=record.get("command", {}),
    )


def is_sample(question: Question, name: str, text: str) -> bool:
    """Whether a text is one of the question's own: its starting one, or that of an example.

    Examples
    --------
    >>> is_sample(load("place"), "line", "aprun -n 1 mine")
    False
    """
    return text in (question.defaults[name], *(example.values.get(name) for example in question.examples))


def load(name: str) -> Question:
    """Return a question of the catalogue by name.

    Raises
    ------
    InputError
        If there is none of that name; the message lists those there are.

    Examples
    --------
    >>> load("plcae")
    Traceback (most recent call last):
    hopperlib.errors.InputError: there is no question 'plcae'; did you mean 'place'?
    """
    from hopperlib.questions.catalogue import QUESTIONS

    if name not in QUESTIONS:
        raise InputError(f"there is no question {name!r}{nearest(name, tuple(QUESTIONS))}")
    question = importlib.import_module(QUESTIONS[name]).QUESTION
    assert isinstance(question, Question)
    return question
