"""The Sphinx extension: settings, staging and postprocessing that make the pages live and safe."""

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from hopperbook.cells.reading import setup as set_up_cells
from hopperbook.site.assets import PACKAGES, Assets, collect, write_licences
from hopperbook.site.centers.own import beside, front_page
from hopperbook.site.centers.pages import setup as set_up_center_pages
from hopperbook.site.course import setup as set_up_course
from hopperbook.site.engine.finishing import (
    mended,
    with_numbers_right,
    with_policy,
    with_skip_link,
    with_text_stacked,
)
from hopperbook.site.engine.formulas import setup as set_up_formulas
from hopperbook.site.engine.kernels import begin_to_load
from hopperbook.site.engine.parallel import in_parts
from hopperbook.site.engine.parallel import setup as set_up_parallel
from hopperbook.site.engine.reference import setup as set_up_reference
from hopperbook.site.html import filled
from hopperbook.site.machine_view import MachineDirective, machine_nodes
from hopperbook.site.renderers import ExplorerDirective, raw_html
from hopperbook.site.scenes import SceneDirective, scene
from hopperbook.site.stories.catalogue import story_of
from hopperbook.site.study_runs import StudyRunsDirective
from hopperbook.site.teaching import TeachingDirective, forecasts_said
from hopperbook.site.workshop import setup as set_up_workshop
from hopperlib import __version__

HERE = Path(__file__).resolve().parent

# Before other extensions read the configuration, and after they have written their pages.
FIRST, LAST = 100, 900


def content_hash(root: Path, *, with_site: bool) -> str:
    """Return a hash of all inputs of pages besides their text.

    Without the site it covers the inputs of notebook outputs: models, data, versions of packages. Jupyter's cache looks
    at the cells alone, so a changed model would go unnoticed; with this hash in its path, it starts afresh.
    """
    digest = hashlib.sha256()
    site_files = [beside("rules.toml"), *([beside(), beside("examples.toml")] if with_site else [])]
    files = [root / "requirements.lock", *filter(None, site_files)]
    for folder in (*PACKAGES, HERE.parent, root / "data"):
        files += sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    for path in files:
        if path.is_file() and (with_site or HERE not in path.parents):
            digest.update(f"{path.name}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def launch_options(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the theme options for buttons that open a notebook on Binder or a JupyterHub; empty without a repository.

    Examples
    --------
    >>> launch_options({"HOPPER_REPOSITORY": "https://github.com/you/name"})["launch_buttons"]["binderhub_url"]
    'https://mybinder.org'
    """
    repository, hub = settings.get("HOPPER_REPOSITORY", "").rstrip("/"), settings.get("HOPPER_HUB", "")
    buttons = {"binderhub_url": "https://mybinder.org", "jupyterhub_url": hub, "notebook_interface": "jupyterlab"}
    return {"repository_url": repository, "repository_branch": "main", "launch_buttons": buttons} if repository else {}


def _configure(app: Sphinx, config: Config) -> None:
    """Collect the assets, and set what depends on them or on the content of the package."""
    root = Path(app.srcdir)
    config.hopper_models = content_hash(root, with_site=False)
    if not config.nb_execution_cache_path:
        config.nb_execution_cache_path = str(Path(app.outdir).parent / ".jupyter_cache" / config.hopper_models)
    if not Path(config.nb_execution_cache_path).exists():
        begin_to_load(len(list((root / "notebooks").rglob("*.ipynb"))))
    assets = collect(root / "node_modules", root / "data", Path(app.outdir).parent / ".memories")
    app._hopper_assets = assets  # type: ignore[attr-defined]

    # A change of either makes Sphinx read, or write, every page again.
    config.hopper_content = content_hash(root, with_site=True)
    config.hopper_assets = assets.folder
    config.html_search_scorer = str(HERE / "browser" / "scorer.js")
    config.html_math_renderer = "mathml"
    config.html_title = config.project = os.environ.get("HOPPER_TITLE") or config.html_title
    config.html_theme_options |= launch_options(os.environ)
    config.notfound_urls_prefix = prefix = os.environ.get("HOPPER_SITE_PREFIX", "/")
    config.notfound_context = {
        "title": "Page not found",
        "body": f'<h1>Page not found</h1><p>Nothing has this address. The <a href="{prefix}index.html">first page</a> '
        "accepts any text: a script, an error, a log.</p>",
    }
    config.myst_substitutions = {**config.myst_substitutions, "forecasts": forecasts_said()}
    config.templates_path[:0] = [str(HERE / "theme"), str(HERE / "theme" / "components")]
    for sheet in (
        "look.css",
        "explorer.css",
        "checks.css",
        "code.css",
        "moving.css",
        "story.css",
        "teaching.css",
        "reach.css",
        "workshop.css",
    ):
        app.add_css_file(f"{assets.folder}/{sheet}", priority=LAST)
    app.add_js_file(f"{assets.folder}/boot.js", priority=FIRST)
    app.add_js_file(f"{assets.folder}/live.mjs", priority=LAST, type="module")


def _static(app: Sphinx) -> Path | None:
    """Return the folder of static files, or None if no HTML is made."""
    return Path(app.outdir) / "_static" if app.builder.format == "html" else None


def _stage(app: Sphinx) -> None:
    """Write the assets where the pages look for them."""
    static = _static(app)
    if static:
        assets: Assets = app._hopper_assets  # type: ignore[attr-defined]
        assets.write(static)
        write_licences(static / "licences", Path(app.srcdir), Path(app.srcdir, "node_modules"))


def _play_in_notebooks(app: Sphinx, document: nodes.document) -> None:
    """Put machines and mechanisms where a notebook has a place for one: JupyterLab, which has no directives, shows its words."""
    for node in list(document.findall(nodes.raw)):
        if place := re.fullmatch(r'<div data-(scene|story)="([a-z-]+)">.*</div>', node.astext().strip()):
            kind, name = place.groups()
            if kind == "story":
                node.replace_self(raw_html(story_of(name)))
            else:
                node.replace_self(machine_nodes(app, document) if name == "machine" else raw_html(scene(name)))


def _finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the front page's redirect, and the policy into every page; remove earlier assets."""
    static = _static(app)
    if exception is not None or static is None:
        return
    import shutil

    for folder in static.glob("live-*"):
        if folder.name != app.config.hopper_assets:
            shutil.rmtree(folder)
    # Nor do other sheets: see pages.toml.
    for sheet in (*static.glob("styles/*.css"), *static.glob("mystnb*.css")):
        sheet.write_text(re.sub(r"[^{}]*:has\([^{}]*\{[^{}]*\}", "", sheet.read_text("utf-8")), encoding="utf-8")
    text = filled("front.html", title=app.config.html_title, front=app.config.root_doc)
    (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")
    # The largest first, so that no process is left with one at the end.
    pages = [page for page in Path(app.outdir).rglob("*.html") if static not in page.parents]
    in_parts(app, _finish_page, sorted(pages, key=lambda page: -page.stat().st_size))


def _finish_page(page: Path) -> None:
    """Mend a page that is written, and write the policy into it."""
    html = page.read_text(encoding="utf-8")
    finished = with_policy(with_skip_link(with_numbers_right(with_text_stacked(mended(html)))))
    if finished != html:
        page.write_text(finished, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the extension."""
    # Kernels inherit these: objects then show themselves as data for the renderers.
    os.environ["HOPPERLIB_RENDER"] = "book"
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"
    app.add_config_value("hopper_content", "", "env", str)
    app.add_config_value("hopper_models", "", "", str)
    app.add_config_value("hopper_assets", "", "html", str)
    app.add_directive("explorer", ExplorerDirective)
    app.add_directive("machine", MachineDirective)
    app.add_directive("scene", SceneDirective)
    app.add_directive("study-runs", StudyRunsDirective)
    app.add_directive("teaching", TeachingDirective)
    set_up_cells(app)
    set_up_center_pages(app)
    set_up_course(app)
    set_up_formulas(app)
    set_up_reference(app)
    set_up_parallel(app)
    set_up_workshop(app)
    app.connect("config-inited", _configure, priority=FIRST)
    app.connect("builder-inited", _stage)
    app.connect("source-read", front_page)
    app.connect("doctree-read", _play_in_notebooks)
    app.connect("build-finished", _finish, priority=LAST)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
