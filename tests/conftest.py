"""Common parts of all tests: the rule about skips, Hypothesis profiles, the built site and the browser."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")
NO_BROWSER = "no browser: "

# The same examples on every run, wherever it is; `make search` looks for new ones. A busy machine is no failure.
_BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("same", max_examples=20, derandomize=True, **_BUSY)
settings.register_profile("search", max_examples=300, **_BUSY)
settings.load_profile("same")
# A search draws constants from the source of whatever is loaded too. In this run they would differ with the modules that
# a worker happens to have loaded, and reading them takes half a minute in a fresh clone.
_WITHOUT_CONSTANTS = providers._local_constants


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples regardless of loaded modules, unless this is a search."""
    if config.getoption("--hypothesis-profile") != "search":
        providers._get_local_constants = lambda: _WITHOUT_CONSTANTS


def _fail_a_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure in CI; an expected failure (xfail) is none."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI skips nothing, and this was skipped: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Any:
    """See `_fail_a_skip`."""
    report = yield
    _fail_a_skip(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call() -> Any:
    """Drop steps of a traceback that belong to no line, as those of a browser's wait whose time is over: pytest ends the
    whole run at one."""
    try:
        return (yield)
    except BaseException as error:
        step = error.__traceback__
        while step is not None:
            while step.tb_next is not None and step.tb_next.tb_lineno is None:
                step.tb_next = step.tb_next.tb_next
            step = step.tb_next
        raise


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Any:
    """See `_fail_a_skip`."""
    report = yield
    _fail_a_skip(report)
    return report


# How many tests a run left to `make search`.
LEFT = pytest.StashKey[int]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Get the number of skipped tests from one worker; all have the same."""
    node.config.stash[LEFT] = getattr(node, "workeroutput", {}).get("left", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report how many tests were left to `make search`, and warn about those that could not run without a browser."""
    if left := config.stash.get(LEFT, 0):
        terminalreporter.write_line(f"{left} nightly test(s) were left to `make search`: more seeds, sizes and pages.")
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_BROWSER in str(report.longrepr)]
    if skipped:
        terminalreporter.section("NOT TESTED: NO BROWSER", sep="!", red=True, bold=True)
        for report in skipped:
            terminalreporter.write_line(f"not tested: {report.nodeid}")
        terminalreporter.write_line(
            f"{len(skipped)} test(s) need Chromium or Chrome, and none could be used: {skipped[0].longrepr[2]}\n"
            "Install one (Debian and Ubuntu: apt install chromium) and run `make test` again."
        )


# What a browser test may take, once what it needs is built, which has a limit of its own. [s]
BROWSER_S = 60
BUILD_S = 1800
# A nightly browser test walks over many pages or settings.
NIGHTLY_FACTOR = 5

# Builds the book, and has more to do while it is looked at: the second worker takes the workshop meanwhile.
FIRST = "tests/book/site/test_reader.py"
# The first to ask for the score, which others wait for: begun while the book is built.
SCORE = "tests/book/studies/failure/test_bad_nodes.py"
# Their tests stand alone and take long.
APART = ("test_pages.py", "test_keyboard.py", "test_layout.py", "test_live.py", "test_answers.py")


def _turn(item: pytest.Item) -> int:
    """The order of tests: the longest first, and those that need the book when it is built."""
    needs = set(getattr(item, "fixturenames", ()))
    if item.nodeid.startswith((FIRST, SCORE)):
        return 0
    if "site_folder" in needs or item.nodeid.startswith("tests/notebooks/"):
        return 2
    return 1 if item.nodeid.startswith("tests/book/") else 3


def nightly(item: pytest.Item) -> bool:
    """Whether a test is left to `make search`."""
    return item.get_closest_marker("nightly") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a browser, leave nightly ones to `make search`, and begin with the longest, so that
    both workers are busy to the end."""
    if config.getoption("--hypothesis-profile") != "search" and "nightly" not in config.getoption("-m"):
        left = {item for item in items if nightly(item)}
        if left:
            config.hook.pytest_deselected(items=list(left))
            items[:] = [item for item in items if item not in left]
            config.stash[LEFT] = len(left)
            if hasattr(config, "workeroutput"):
                config.workeroutput["left"] = len(left)
    for item in items:
        if "browser_path" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(BROWSER_S * (NIGHTLY_FACTOR if nightly(item) else 1)))
            # On a machine that others use too a browser may starve. What passed at the second try only is listed at the end.
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=_turn)


def pytest_collection() -> None:
    """Look for no garbage while modules and tests are read in: they all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude loaded modules from later garbage collections, which take a seventh of the time of short tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to the worker that is free, so that a module's fixtures are made once; long tests one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return nodeid if file.endswith(APART) else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, the same for all its workers."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@contextmanager
def once(mark: Path) -> Iterator[bool]:
    """Report whether a shared fixture is still to be made; other workers wait for it. A failure leaves no mark."""
    with mark.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not mark.exists()
        mark.touch()


def build(folder: Path, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Build the book of a folder."""
    command = [sys.executable, "-m", "hopperbook.build", "--root", str(folder)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=BUILD_S, check=False
    )


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def notebook_text() -> Callable[[str], str]:
    """A function that gives the sources of a notebook's cells, by name, as one text."""

    def text(name: str) -> str:
        book = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
        return "\n\n".join("".join(cell["source"]) for cell in book["cells"])

    return text


@pytest.fixture(scope="session")
def site_folder(shared: Path) -> Path:
    """The built book, ``_build/html``: built now, which takes seconds if nothing has changed; by one worker of a run
    only, because a second build would remove pages that others are using."""
    with once(shared / "book.built") as needed:
        if needed:
            done = build(ROOT)
            assert done.returncode == 0, f"the book does not build:\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def all_rows(shared: Path) -> tuple[Any, ...]:
    """A row of the score for each documented value: they take twenty seconds, so that one worker of a run computes them."""
    from hopperbook import score

    rows = shared / "scorecard.pickle"
    with once(shared / "scorecard.made") as needed:
        if needed:
            rows.write_bytes(pickle.dumps(score.all_rows()))
    return pickle.loads(rows.read_bytes())


@pytest.fixture(scope="session")
def scorecard(all_rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """The rows of the score without those that are true by construction."""
    return tuple(row for row in all_rows if row.role != "by construction")


@pytest.fixture(scope="session")
def scored(scorecard: tuple[Any, ...]) -> Callable[[str], dict[str, Any]]:
    """Return a function that gives the rows of a study's score, by id without the study."""
    return lambda study: {row.id.partition(".")[2]: row for row in scorecard if row.study == study}


@pytest.fixture(scope="session")
def site_url(site_folder: Path) -> Iterator[str]:
    """Address of a local server of the built book, without a slash at the end."""
    from hopperbook.serve import server_for

    with server_for(site_folder, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _installed_browser() -> str | None:
    """Return the path of an installed Chromium or Chrome, one that Playwright fetched earlier included."""
    named = os.environ.get("HOPPER_BROWSER")
    if named:
        return named
    # The first is the same engine without windows, and opens a page in a quarter of the time.
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
        "microsoft-edge",
    )
    applications = (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    )
    for candidate in [*map(shutil.which, names), *applications]:
        if candidate and Path(candidate).exists():
            return candidate
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        fetched = playwright.chromium.executable_path
    return fetched if Path(fetched).exists() else None


@pytest.fixture(scope="session")
def browser_path() -> str:
    """Path of a browser: installed, or fetched by Playwright within three minutes; skips if there is none."""
    playwright = [sys.executable, "-m", "playwright"]
    starts = subprocess.run([*playwright, "--version"], capture_output=True, text=True, timeout=60, check=False)
    if starts.returncode:
        pytest.skip(f"{NO_BROWSER}Playwright does not start (libatomic.so.1: apt install libatomic1): {starts.stderr}")
    found = _installed_browser()
    if found:
        return found
    fetch = [*playwright, "install", "chromium"]
    try:
        done = subprocess.run(fetch, capture_output=True, text=True, timeout=180, check=False)
        problem = " ".join((done.stderr or done.stdout).split())[:200]
    except subprocess.TimeoutExpired:
        problem = "Playwright did not finish fetching one within 180 s"
    found = _installed_browser()
    if not found:
        pytest.skip(NO_BROWSER + (problem or "none is installed"))
    return found


@pytest.fixture(scope="session")
def browser(browser_path: str) -> Iterator[Any]:
    """A headless browser (Playwright, synchronous), shared by the whole run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium would ask its maker's servers about forms: the tests count every request.
        launched = playwright.chromium.launch(
            # On a busy machine its watchdog would end what draws the pages, and no page be given a frame.
            executable_path=browser_path,
            args=["--disable-features=AutofillServerCommunication", "--disable-gpu-watchdog"],
        )
        yield launched
        launched.close()
