"""One widget for each kind of control.

A widget here never clips or corrects a value silently: it passes on the input, and the control rejects it with a
message.
"""

from collections.abc import Callable
from decimal import Decimal
from html import escape
from typing import Any

import ipywidgets

from hopperkit.questions.controls import Choice, Control, FileText, Number, Slider, Switch, Text
from hopperkit.readers.source import texts_together
from hopperkit.render.html import prose_html

_STAYS = "The file stays on this machine"
_STYLE = {"description_width": "initial"}


class Input:
    """A control's widget, with its unit and its help.

    Parameters
    ----------
    control : Control
    core : ipywidgets widget
        The widget that holds the value.
    extras : ipywidgets widgets
        Shown below it.
    """

    def __init__(self, control: Control, core: Any, *extras: Any) -> None:
        self.control = control
        self.core = core
        unit = [ipywidgets.HTML(escape(control.unit))] if control.unit else []
        notes = [control.help, f"Assumed: {control.assumed}" if control.assumed else ""]
        said = " ".join(prose_html(note) for note in notes if note)
        below = [ipywidgets.HTML(f'<p class="hopper-help">{said}</p>')] if said else []
        self.box = ipywidgets.VBox([ipywidgets.HBox([core, *unit]), *extras, *below])

    def read(self) -> Any:
        """Return the raw widget values."""
        return self.core.value

    def write(self, value: Any) -> None:
        """Set a value."""
        self.core.value = value

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each change."""
        self.core.observe(lambda _: changed(), names="value")


class _FileInput(Input):
    """A text area that a file can be read into; a file too long for it is kept aside, so that it is refused by name."""

    def __init__(self, control: FileText) -> None:
        self._upload = ipywidgets.FileUpload(
            accept=control.accept, multiple=control.multiple, description="Read a file", tooltip=_STAYS
        )
        self._too_long: str | None = None
        area = ipywidgets.Textarea(
            value=control.default,
            description=control.label,
            placeholder=control.placeholder,
            rows=max(control.rows, 4),
            style=_STYLE,
            layout={"width": "95%"},
        )
        super().__init__(control, area, self._upload)
        self._most = control.max_length

    def read(self) -> Any:
        """Return the text."""
        return self.core.value if self._too_long is None else self._too_long

    def write(self, value: Any) -> None:
        """Set the text."""
        self._too_long = None
        self.core.value = value

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each change of the text and after each file."""

        def edited(_: Any) -> None:
            self._too_long = None
            changed()

        def uploaded(change: Any) -> None:
            if not change["new"]:
                return
            # Logs contain arbitrary bytes: invalid UTF-8 is replaced, not rejected.
            files = {file["name"]: bytes(file["content"]).decode("utf-8", errors="replace") for file in change["new"]}
            text = texts_together(files)
            if len(text) > self._most:
                self._too_long = text
                changed()
            elif text == self.core.value:
                edited(None)
            else:
                self.core.value = text

        self.core.observe(edited, names="value")
        self._upload.observe(uploaded, names="value")


def make_input(control: Control, *, live: bool = True) -> Input:
    """Return the widget of a control.

    Parameters
    ----------
    control : Control
    live : bool
        Whether a slider reports while it is dragged, or only when let go.

    Raises
    ------
    TypeError
        If there is no widget for that kind of control.

    Examples
    --------
    >>> make_input(Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12)).read()
    12
    """
    label = {"description": control.label, "style": _STYLE}
    wide = {"layout": {"width": "95%"}}
    if isinstance(control, FileText):
        return _FileInput(control)
    if isinstance(control, Text):
        text = {"value": control.default, "placeholder": control.placeholder} | label | wide
        if control.rows > 1:
            return Input(control, ipywidgets.Textarea(rows=control.rows, **text))
        return Input(control, ipywidgets.Text(**text))
    if isinstance(control, Choice):
        options = [(shown, value) for value, shown in control.offered()]
        return Input(control, ipywidgets.Dropdown(options=options, value=control.default, **label))
    if isinstance(control, Switch):
        return Input(control, ipywidgets.Checkbox(value=control.default, indent=False, **label))
    if isinstance(control, Number):
        return Input(control, ipywidgets.FloatText(value=control.default, step=control.step, **label))
    if isinstance(control, Slider):
        kind = ipywidgets.IntSlider if control.whole else ipywidgets.FloatSlider
        scale = {"min": control.low, "max": control.high, "step": control.step, "value": control.default}
        # As many decimals as the step has, or a small step would not show.
        places = max(0, -int(Decimal(str(control.step)).normalize().as_tuple().exponent))
        readout = {} if control.whole else {"readout_format": f".{places}f"}
        return Input(control, kind(continuous_update=live, layout={"width": "95%"}, **scale, **readout, **label))
    raise TypeError(f"there is no widget for a control of kind {control.kind!r}")
