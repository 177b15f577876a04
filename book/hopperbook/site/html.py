"""The HTML of explorers, figures and self-checks in a page before any script runs.

The answer for the starting setting is computed here, so that a page is
complete without JavaScript. Once the page is alive, `browser/answer.mjs` puts
later answers in its place.
"""

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from hopperbook.site.centers.own import site_examples
from hopperbook.site.stored_answers import STORED, content, stored, stored_answer
from hopperkit.questions.question import Question, load
from hopperkit.questions.result import Figure, Table
from hopperkit.render import html
from hopperkit.render.answer import page_answer, page_data
from hopperkit.render.svg import figure_svg

# Width of a chart before Plotly draws it: in its box it keeps its shape, and on a phone its letters stay legible. [CSS pixels]
_WIDTH = 540


def json_block(data: Any) -> Markup:
    """Return data as JSON for a <script> element.

    Examples
    --------
    >>> "</script>" in json_block({"text": "</script>"})
    False
    """
    # A text that holds </script> would end the element, and two signs of Unicode a line of a script.
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def data_block(data: Any) -> str:
    """Return data as a block that a script of the page reads.

    Examples
    --------
    >>> data_block([1])
    '<script type="application/json" class="hopper-data-block">[1]</script>'
    """
    return f'<script type="application/json" class="hopper-data-block">{json_block(data)}</script>'


@cache
def tables() -> dict[str, Any]:
    """Return the tables of ``pages.toml``: the parts of the pages, and their processing."""
    return tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8"))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # A name that a template misspells stops the build.
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "badge": lambda name: Markup(html.badge_html(name)),
        "json_block": json_block,
        # As JavaScript would print it: 5.0 as 5, 0.25 as 0.25.
        "plain": lambda value: f"{value:.15g}" if isinstance(value, float) else value,
        "prose": lambda text: Markup(html.prose_html(text)),
    }
    return environment


_TEMPLATES = _environment()


def filled(template: str, **values: Any) -> str:
    """Return a template of the folder ``templates`` with its values filled in.

    Examples
    --------
    >>> "Go to the book" in filled("front.html", title="Ours", front="book/intro")
    True
    """
    return _TEMPLATES.get_template(template).render(**values)


def kept_answer(folder: Path, stamp: str, explorer: Question, values: Mapping[str, Any]) -> str:
    """Store an answer as a file that pages load on demand; return its name.

    Parameters
    ----------
    folder : Path
    stamp : str
        Hash of all that answers depend on: an answer that is there for it is not made again.
    explorer : Question
    values : mapping
    """
    key = json.dumps([stamp, explorer.name, values], sort_keys=True, default=str)
    path = folder / f"{explorer.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(page_answer(explorer, values), allow_nan=False), encoding="utf-8")
    return path.name


def low(figure: Figure) -> Figure:
    """Return a figure without a height of its own: where there is little room it would be shrunk, and its letters with it."""
    return replace(figure, layout={name: value for name, value in figure.layout.items() if name != "height"})


def _moved(explorer: Question, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that differ from the defaults."""
    return {name: value for name, value in values.items() if value != explorer.defaults[name]}


def kept_file(folder: Path, explorer: Question) -> str:
    """Copy a question's stored answers to the pages; return the name of their file."""
    whole = content(explorer.name)
    name = f"{explorer.name}-{hashlib.sha256(whole).hexdigest()[:12]}.answers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(whole)
    return name


def explorer_html(
    explorer: Question,
    *,
    key: str,
    values: Mapping[str, Any] | None = None,
    keep: Callable[[Question, Mapping[str, Any]], str] | None = None,
    keep_stored: Callable[[Question], str] | None = None,
    ours: bool = True,
) -> str:
    """Return an explorer as HTML, with its answer for the starting setting.

    Parameters
    ----------
    explorer : Question
    key : str
        Its name in addresses, unique in the page.
    values : mapping or None
        Values to start with, where they differ from the defaults.
    keep : callable or None
        Keeps the answer to an example and returns the name of its file; None leaves all examples to the reader's browser.
    keep_stored : callable or None
        Likewise for the stored answers of a heavy question, which are used where its start is theirs.
    ours : bool
        Whether the examples that a center states for the question are to be added; one made for its machine has them.

    Raises
    ------
    hopperlib.errors.InputError
        If a value is refused.

    Examples
    --------
    >>> from hopperkit.questions.controls import Slider
    >>> from hopperkit.questions.result import Result
    >>> square = Question(name="square", title="Squares", question="What is a square?",
    ...     controls=(Slider(name="x", label="x", low=0, high=9, step=1, default=3),),
    ...     answer=lambda x: Result(summary=f"{x} times {x} is {x * x}."))
    >>> "4 times 4 is 16." in explorer_html(square, key="square", values={"x": 4})
    True
    """
    if ours:
        explorer = replace(explorer, examples=(*site_examples(explorer), *explorer.examples))
    start = explorer.read(values or {})
    spec = explorer.to_dict()
    answer = explorer.run(**start)
    result = answer.to_dict()
    # Stored answers fit where their start is this one: not at other values, nor where a model has changed.
    moves = explorer.name in STORED and stored(explorer.name)["start"]["result"] == json.loads(
        json.dumps(page_data(result))
    )
    kept: list[str | None] = []
    for example in explorer.examples if keep else ():
        here = moves and stored_answer(explorer.name, _moved(explorer, example.values)) is not None
        kept.append(None if here or keep is None else keep(explorer, start | dict(example.values)))
    pictures = [figure_svg(low(figure), _WIDTH, html.PLOT_HEIGHT, place=key) for figure in answer.figures]
    return filled(
        "explorer.html",
        id=f"explorer-{key}",
        spec=spec,
        start=start,
        summary=result["summary"],
        parts={name: Markup(part) for name, part in html.parts_html(result, pictures=pictures).items()},
        legend=Markup(html.legend_html(result)),
        block={
            "key": key,
            "spec": spec,
            "start": start,
            "answer": page_data(result),
            "kept": kept,
            "stored": keep_stored(explorer) if keep_stored and moves else None,
        },
    )


def figure_html(figure: Mapping[str, Any], *, key: str) -> str:
    """Return a figure (its `to_dict`) as HTML: caption, chart, data."""
    drawn = Figure(
        title=figure["title"], alt=figure["alt"], **figure["figure"], table=Table(caption="", columns=(), rows=())
    )
    picture = figure_svg(drawn, _WIDTH, html.PLOT_HEIGHT, place=key)
    return f'<div class="hopper-alone" id="figure-{key}">{html.figure_html(figure, picture=picture)}{data_block(figure)}</div>'


def check_html(check: Mapping[str, Any]) -> str:
    """Return a self-check (its `to_dict`) as HTML: question, fields, and the answer for readers without scripts.

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> check = NumberCheck(name="cores", question="How many cores?", answer=24, explanation="Four times six.")
    >>> 'id="check-cores"' in check_html(check.to_dict())
    True
    """
    title = load(check["explorer"]).title if check["kind"] == "goal" else ""
    return filled("check.html", check=check, explorer_title=title, explorer_id=f"explorer-{check.get('explorer', '')}")
