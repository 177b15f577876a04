"""An explorer as an ipywidgets widget whose values and answer are traits, to be linked with a reader's widgets."""

from typing import Any

import ipywidgets
import traitlets

from hopperkit.questions.question import load
from hopperkit.questions.result import Result
from hopperkit.render.widgets.answer import in_the_book, notebook_html
from hopperkit.render.widgets.explorer import ExplorerView
from hopperkit.render.widgets.saved import is_watched
from hopperlib.errors import InputError


class Explorer(ipywidgets.VBox):  # type: ignore[misc]
    """An explorer: its form and its answer.

    Attributes
    ----------
    values : dict
        Current values, by control name. Assign to it to update the form; omitted controls return to their defaults.
    result : Result or None
        The answer to that; None while it is refused.
    error : str
        Why it is refused; empty if it is not.
    """

    values = traitlets.Dict()
    result = traitlets.Instance(Result, allow_none=True)
    error = traitlets.Unicode()

    def __init__(self, name: str, **values: Any) -> None:
        self.question = load(name).starting(**values)
        self.question.read({})
        self.view = ExplorerView(self.question)
        super().__init__([self.view.root])
        self.view.answered = self._answered
        self._answered(self.view.result)
        self.observe(self._set, names="values")

    def _answered(self, result: Result | None) -> None:
        """Let the traits follow the form."""
        read = {name: field.read() for name, field in self.view.inputs.items()}
        with self.hold_trait_notifications():
            self.values, self.result, self.error = read, result, "" if result else self._refusal(read)

    def _refusal(self, values: dict[str, Any]) -> str:
        try:
            self.question.run(**values)
        except InputError as error:
            return error.message
        return ""

    def _set(self, change: Any) -> None:
        """Let the form follow the trait."""
        if change["new"] != {name: field.read() for name, field in self.view.inputs.items()}:
            self.question.read(change["new"])
            self.view.write(change["new"])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the live widget; in the book its explorer, and where a program runs the notebook its answer."""
        if in_the_book():
            return self.question._repr_mimebundle_()
        if not is_watched():
            return {
                "text/html": notebook_html(self.view.result or Result(summary=self.error)),
                "text/plain": self.question.title,
            }
        return super()._repr_mimebundle_(**options)


def explore(name: str, **values: Any) -> Explorer:
    """Return the explorer of a question as a widget whose `values` and `result` are traits.

    Parameters
    ----------
    name : str
        Of the question, such as ``memory``; ``hopper --help`` lists them.
    **values
        Values of its controls to start with.

    Raises
    ------
    InputError
        If there is no such question, or a value is invalid for its control.

    Examples
    --------
    >>> memory = explore("memory", need_gb=1.0)
    >>> memory.observe(lambda change: print(change["new"].facts["best_nodes"]), names="result")
    >>> memory.values = {**memory.values, "need_gb": 2.0}
    26
    """
    return Explorer(name, **values)
