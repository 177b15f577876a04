"""Runs notebooks, and reads, writes and finishes pages, several at a time.

Jupyter Book passes pages to Sphinx one after the other, without an option to change that. Notebooks run before their
pages are read: their outputs are then found in the engine's cache, by key (their cells) in a folder named by the
content of the models.
"""

import json
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.search.en import SearchEnglish
from sphinx.util import logging

from hopperbook.cells.plain import page_of
from hopperbook.site.centers.pages import for_site
from hopperbook.site.engine.kernels import ForkedKernel, begin_to_load

# On two cores: a kernel that starts waits now and then, and no process has all of the dear pages.
_KERNELS = 3
_PROCESSES = 4
# Of work that is alike: as many as there are cores.
_ALIKE = 2
_LOGGER = logging.getLogger(__name__)
Item = TypeVar("Item")


def _allow(app: Sphinx, config: Config) -> None:
    """Have several processes. The one extension that does not declare parallel safety numbers sections after the
    reading.
    """
    app.parallel = _PROCESSES
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def _run(timeout_s: int, path: Path, notebook: nbformat.NotebookNode) -> ExecutionResult:
    return single_nb_execution(
        notebook, cwd=str(path.parent), timeout=timeout_s, allow_errors=False, kernel_manager_class=ForkedKernel
    )


def _prepare(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the notebooks that are not cached; shuffle the pages, as those of one folder take equally long."""
    cache = get_cache(app.config.nb_execution_cache_path)
    unknown = {}
    for name, path in ((name, Path(env.doc2path(name))) for name in docnames):
        if path.suffix == ".ipynb":
            notebook = nbformat.reads(json.dumps(for_site(name, page_of(path))), as_version=4)  # type: ignore[no-untyped-call]
            try:
                cache.match_cache_notebook(notebook)
            except KeyError:
                unknown[path] = notebook
    failed = []
    if unknown:
        begin_to_load(len(unknown))
    with ThreadPoolExecutor(_KERNELS) as pool:
        results = pool.map(partial(_run, app.config.nb_execution_timeout), unknown, unknown.values())
        for (path, notebook), result in zip(unknown.items(), results, strict=True):
            if result.err:
                failed.append(f"{path}: {result.exc_string or result.err}")
                continue
            _LOGGER.info("%s: ran in %.1f s", path.relative_to(app.srcdir), result.time)
            bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": result.time})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    if failed:
        raise ExtensionError("\n".join(failed))
    # Before the processes part: each would load it, as pages hold charts.
    import matplotlib.backends.backend_svg  # noqa: F401

    docnames[:] = [name for first in range(_PROCESSES) for name in docnames[first::_PROCESSES]]


def in_parts(app: Sphinx, work: Callable[[Item], object], items: Sequence[Item]) -> None:
    """Do work for each item in parallel copies of this process; it must leave files, and nothing in this process.

    Parameters
    ----------
    app : Sphinx
        Warnings of the work count as warnings of this build.
    work : callable
    items : sequence

    Raises
    ------
    ExtensionError
        If the work failed; the reason is printed before it.
    """
    warned = app._warncount

    def some(first: int) -> None:
        for item in items[first::_ALIKE]:
            work(item)
        raise SystemExit(app._warncount > warned)

    copies = [multiprocessing.get_context("fork").Process(target=some, args=(first,)) for first in range(_ALIKE)]
    for copy in copies:
        copy.start()
    for copy in copies:
        copy.join()
    if any(copy.exitcode for copy in copies):
        raise ExtensionError("pages were not finished: see above")


class _English(SearchEnglish):
    """The language of the search; each word is stemmed once, as it occurs on many pages."""

    stem = lru_cache(maxsize=None)(SearchEnglish.stem)


def setup(app: Sphinx) -> None:
    """Add the events and the language of the search."""
    app.add_search_language(_English)
    app.connect("config-inited", _allow)
    app.connect("env-before-read-docs", _prepare)
