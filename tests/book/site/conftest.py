"""A small book with every kind of page and explorer, and pages that record their requests."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hopperbook.serve import Handler, server_for
from tests.conftest import BROWSER_S, build, once

HERE = Path(__file__).resolve().parent
WORKSHOP = HERE / "workshop"
TRIALS = ("trial", "heavy")

# What the theme and the graphics driver say on every page, and no fault of it.
HARMLESS = ("GL Driver Message", "Canvas2D: Multiple readback")


def make_workshop(root: Path, folder: Path) -> None:
    """Lay out a repository with the workshop's book, and its explorers added to copies of the packages."""
    # With what is compiled of them, which keeps the times of its sources: else each process of a build compiles them anew.
    for package in ("hopperlib", "hopperkit"):
        shutil.copytree(root / package, folder / package)
    shutil.copytree(root / "data", folder / "data")
    for name in ("book", "notebooks"):
        shutil.copytree(WORKSHOP / name, folder / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copy(root / "book" / "_config.yml", folder / "book" / "_config.yml")
    shutil.copytree(root / "book" / "hopperbook", folder / "book" / "hopperbook")
    shutil.copy(root / "requirements.lock", folder)
    # What one build keeps for the next, the memories of Python, is the same for all.
    memories = root / "_build" / ".memories"
    memories.mkdir(parents=True, exist_ok=True)
    (folder / "_build").mkdir()
    (folder / "_build" / ".memories").symlink_to(memories)
    (folder / "node_modules").symlink_to(root / "node_modules")
    with (folder / "hopperkit" / "questions" / "catalogue.py").open("a", encoding="utf-8") as catalogue:
        for name in TRIALS:
            shutil.copy(WORKSHOP / "explorers" / f"{name}.py", folder / "hopperkit" / "questions")
            catalogue.write(f'QUESTIONS["{name}"] = "hopperkit.questions.{name}"\n')


def build_book(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the book of a folder that `make_workshop` laid out."""
    return build(folder, os.environ | {"PYTHONPATH": f"{folder}:{folder / 'book'}"})


@pytest.fixture(scope="session")
def workshop_built(root: Path, shared: Path) -> Path:
    """The workshop's repository, built once for all workers; its pages are opened in a copy."""
    folder = shared / "workshop"
    with once(shared / "workshop.built") as needed:
        if needed:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make_workshop(root, folder)
            done = build_book(folder)
            assert done.returncode == 0, f"the workshop does not build:\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
            shutil.copytree(folder / "_build" / "html", shared / "workshop-html", dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def workshop_folder(workshop_built: Path, shared: Path) -> Path:
    """The pages of the built workshop."""
    return shared / "workshop-html"


@pytest.fixture
def bench(workshop_built: Path) -> Iterator[tuple[Path, Callable[[], subprocess.CompletedProcess[str]]]]:
    """The built workshop, to be changed and built again; changes are undone. For the tests of one file."""
    sources = {
        path: path.read_bytes()
        for part in ("book", "notebooks", "hopperlib", "hopperkit")
        for path in (workshop_built / part).rglob("*")
        if path.suffix in (".md", ".ipynb", ".py")
    }
    yield workshop_built, lambda: build_book(workshop_built)
    for path, content in sources.items():
        if path.read_bytes() != content:
            path.write_bytes(content)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder; give its address without a slash at the end."""
    with server_for(folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def workshop_url(workshop_folder: Path) -> Iterator[str]:
    """Address of a server of the workshop."""
    with serving(workshop_folder) as address:
        yield address


@pytest.fixture
def serve_copy(workshop_folder: Path, tmp_path: Path) -> Iterator[Callable[[Callable[[Path], None]], str]]:
    """Serve a copy of the workshop after something was done to it."""
    stack = []

    def serve(change: Callable[[Path], None]) -> str:
        copy = tmp_path / "site"
        # Links, as nothing is written into: what is changed is removed first.
        shutil.copytree(workshop_folder, copy, copy_function=os.link)
        change(copy)
        served = serving(copy)
        stack.append(served)
        return served.__enter__()

    yield serve
    for served in stack:
        served.__exit__(None, None, None)


UNFOLD = """() => document.querySelectorAll('.hopper-all[aria-expanded="false"]').forEach((each) => each.click())"""


class Watched:
    """A page of a browser, with all its requests and all its complaints."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        # Whether all settings of an explorer are shown, which folds most of them away.
        self.unfolds = True
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not any(known in message.text for known in HARMLESS):
            self.complaints.append(f"{message.type}: {message.text}")

    def go(self, path: str) -> Any:
        """Open a page of the site and wait until it is alive."""
        # A page that is not shown is given no frames: nothing is drawn in it, and nothing comes near.
        self.page.bring_to_front()
        self.page.goto(f"{self.address}/{path}")
        self.page.wait_for_selector("html.hopper-ready", state="attached")
        if self.unfolds:
            self.page.evaluate(UNFOLD)
        return self.page

    @property
    def strangers(self) -> list[str]:
        """Addresses requested from other hosts."""
        home = urlsplit(self.address).netloc
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).netloc != home
        ]

    def assert_clean(self) -> None:
        """Fail if anything was requested from another host, or if there were complaints."""
        assert self.strangers == []
        assert self.complaints == []


# On a busy machine Python takes its time to start in a page. Less than the test has, so that what is waited for is named.
PATIENCE_MS = 1000 * (BROWSER_S - 15)


# The screen of the visit that most tests are part of.
VISITED = {"width": 1280, "height": 900}

SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"


def _context(browser: Any, **options: Any) -> Any:
    """Open a context from which no other host can be reached."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE_MS)
    # Every other host is asked of a proxy that does not exist.
    context = browser.new_context(proxy={"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"}, **options)
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths requested from a server since, also by a worker of all pages of a visit, which no page watches."""
    paths: list[str] = []
    respond = Handler.send_response

    def noted(self: Handler, code: int, message: str | None = None) -> None:
        paths.append(self.path)
        respond(self, code, message)

    monkeypatch.setattr(Handler, "send_response", noted)
    return paths


@pytest.fixture
def watch(browser: Any) -> Iterator[Callable[..., Watched]]:
    """Return a function that opens a watched page of a site in a new context."""
    contexts = []

    def opened(address: str, **options: Any) -> Watched:
        contexts.append(_context(browser, **options))
        return Watched(contexts[-1].new_page(), address)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe(root: Path) -> str:
    """The script that looks for accessibility problems."""
    return (root / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@contextmanager
def _visit(browser: Any, address: str) -> Iterator[list[Watched]]:
    """Open the page of one visit, through which tests go one after the other: Python starts once for all of them."""
    context = _context(browser, viewport=VISITED)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield [Watched(context.new_page(), address)]
    context.close()


@contextmanager
def _next_reader(visit: list[Watched]) -> Iterator[Watched]:
    """Return the page of a visit, with nothing left from before except its Python; it must stay clean."""
    if visit[-1].page.is_closed():
        visit.append(Watched(visit[-1].page.context.new_page(), visit[-1].address))
        visit[-1].unfolds = visit[0].unfolds
    watched = visit[-1]
    # Elsewhere, so that the same page with another fragment is reopened.
    watched.page.goto("about:blank")
    watched.page.set_viewport_size(VISITED)
    watched.page.emulate_media(media="screen", color_scheme="light", reduced_motion="no-preference")
    watched.requests.clear()
    watched.complaints.clear()
    yield watched
    assert "native code" in watched.page.evaluate("String(performance.measure)"), "a clock stays for all of the visit"
    watched.page.evaluate("localStorage.clear()")
    watched.assert_clean()


@pytest.fixture(scope="session")
def workshop_visit(browser: Any, workshop_url: str) -> Iterator[list[Watched]]:
    """The visit to the workshop."""
    with _visit(browser, workshop_url) as visit:
        yield visit


@pytest.fixture
def workshop(workshop_visit: list[Watched]) -> Iterator[Watched]:
    """The watched page of the visit to the workshop."""
    with _next_reader(workshop_visit) as watched:
        yield watched


@pytest.fixture(scope="session")
def book_visit(browser: Any, site_url: str) -> Iterator[list[Watched]]:
    """The visit to the book."""
    with _visit(browser, site_url) as visit:
        yield visit


@pytest.fixture
def reader(book_visit: list[Watched]) -> Iterator[Watched]:
    """The watched page of the visit to the book."""
    with _next_reader(book_visit) as watched:
        yield watched


@pytest.fixture(scope="session")
def looking_visit(browser: Any, site_url: str) -> Iterator[list[Watched]]:
    """A visit to the book for looking only: Python does not start."""
    with _visit(browser, site_url) as visit:
        visit[-1].page.context.add_init_script(SAVES_DATA)
        visit[-1].unfolds = False
        yield visit


@pytest.fixture
def looking(looking_visit: list[Watched]) -> Iterator[Watched]:
    """The watched page of the visit for looking only."""
    with _next_reader(looking_visit) as watched:
        yield watched


@pytest.fixture(scope="session")
def trials() -> dict[str, Any]:
    """The workshop's explorers, run by this Python."""
    found = {}
    for name in TRIALS:
        spec = importlib.util.spec_from_file_location(f"workshop_{name}", WORKSHOP / "explorers" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[name] = module.QUESTION
    return found


@pytest.fixture(scope="session")
def answer_here(trials: dict[str, Any]) -> Callable[[str, dict[str, Any]], Any]:
    """Return a function that answers as the page's worker should, computed by this Python."""
    from hopperbook.questions import load
    from hopperkit.render.answer import page_answer

    def answer(name: str, values: dict[str, Any]) -> Any:
        return json.loads(json.dumps(page_answer(trials.get(name) or load(name), values), allow_nan=False))

    return answer
