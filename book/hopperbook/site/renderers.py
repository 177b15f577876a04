"""The book's rendering of explorers, figures and self-checks returned by a notebook's cell."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from myst_nb.core.render import MimeData, MimeRenderPlugin, NbElementRenderer
from sphinx.util.docutils import SphinxDirective

from hopperbook import questions, self_checks
from hopperbook.exercises import boxes
from hopperbook.site.centers.own import site_examples
from hopperbook.site.centers.questions import center_question, lacking_html
from hopperbook.site.html import check_html, explorer_html, figure_html, filled, kept_answer, kept_file
from hopperkit.questions import question, result
from hopperlib.errors import InputError

PLOTLY_MIME_TYPE = "application/vnd.plotly.v1+json"
_BARE = (
    "a Plotly figure has no description for readers who cannot see it: figure.update_layout(meta='What it shows ...')"
)


def unique_name(document: nodes.document, name: str) -> str:
    """Return a name that is unique in the page: the name itself, then name-2, name-3, ...

    Examples
    --------
    >>> from docutils.utils import new_document
    >>> page = new_document("page")
    >>> unique_name(page, "placement"), unique_name(page, "placement"), unique_name(page, "memory")
    ('placement', 'placement-2', 'memory')
    """
    taken = document.attributes.setdefault("hopper_ids", {})
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"


def explorer_nodes(document: nodes.document, name: str, values: Mapping[str, Any] | None = None) -> list[nodes.Element]:
    """Return an explorer as a node of the page; the answers to its examples are stored next to the pages."""
    explorer = questions.load(name)
    made = center_question(explorer, document.settings.env.docname)
    if isinstance(made, str):
        return raw_html(lacking_html(explorer, made))
    # Values set by a page of the book are for the book's machine.
    explorer, values = (made, {}) if made else (explorer, values)
    build = document.settings.env
    folder = Path(build.app.outdir, "_static", "answers")
    keep = partial(kept_answer, folder, build.config.hopper_models)
    key = unique_name(document, name)
    return raw_html(
        explorer_html(
            explorer, key=key, values=values, keep=keep, keep_stored=partial(kept_file, folder), ours=made is None
        )
    )


def raw_html(html: str) -> list[nodes.Element]:
    """Return HTML as a node of the page."""
    return [nodes.raw(text=html, format="html", classes=["output", "text_html"])]


class HopperRenderer(MimeRenderPlugin):  # type: ignore[misc]
    """Turns the MIME types of hopperlib into HTML."""

    mime_priority_overrides: ClassVar[list[tuple[str, str, int | None]]] = [
        ("*", question.MIME_TYPE, 1),
        ("*", result.FIGURE_MIME_TYPE, 1),
        ("*", self_checks.MIME_TYPE, 1),
        ("*", boxes.MIME_TYPE, 1),
        ("*", PLOTLY_MIME_TYPE, 1),
    ]

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """Return the nodes of one output, or None for a type that is not ours."""
        if inline:
            return None
        document = renderer.renderer.document
        content: Any = data.content
        if data.mime_type == question.MIME_TYPE:
            return explorer_nodes(document, content["name"])
        if data.mime_type == result.FIGURE_MIME_TYPE:
            return raw_html(figure_html(content, key=unique_name(document, "figure")))
        if data.mime_type == self_checks.MIME_TYPE:
            return raw_html(check_html(content))
        if data.mime_type == boxes.MIME_TYPE:
            return raw_html(filled("model.html", box=content))
        if data.mime_type == PLOTLY_MIME_TYPE:
            renderer.logger.warning(_BARE, line=data.line, subtype="mime_type")
            return []
        return None


class _AnyOption(dict[str, Any]):
    """Options named as the explorer's controls are, which differ from one explorer to the next."""

    def __bool__(self) -> bool:
        # An empty mapping would mean a directive without options.
        return True

    def __getitem__(self, name: str) -> Any:
        return str

    def __contains__(self, name: object) -> bool:
        return True


class ExplorerDirective(SphinxDirective):
    """Shows an explorer of the catalog; its options set the initial values, otherwise a center's first example.

    ::

        ```{explorer} place
        :line: aprun -n 384 -N 12 vasp
        ```
    """

    required_arguments = 1
    option_spec: ClassVar[Any] = _AnyOption()

    def run(self) -> list[nodes.Node]:
        """Return the explorer's HTML, or an error that names the problem."""
        try:
            examples = site_examples(questions.load(self.arguments[0]))
            values = self.options or (examples[0].values if examples else {})
            return [*explorer_nodes(self.state.document, self.arguments[0], values)]
        except InputError as error:
            raise self.error(error.message) from error
