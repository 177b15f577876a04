"""What all tests share: the rule about skips, Hypothesis profiles, the built site and the browser."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")
NO_BROWSER = "no browser: "

# The same examples on every run, wherever it is; `make search` looks for new ones. A busy machine is no failure.
_BUSY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("same", derandomize=True, **_BUSY)
settings.register_profile("search", max_examples=300, **_BUSY)
settings.load_profile("same")


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
def pytest_make_collect_report() -> Any:
    """See `_fail_a_skip`."""
    report = yield
    _fail_a_skip(report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly which tests could not run for want of a browser."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_BROWSER in str(report.longrepr)]
    if skipped:
        terminalreporter.section("NOT TESTED: NO BROWSER", sep="!", red=True, bold=True)
        for report in skipped:
            terminalreporter.write_line(f"not tested: {report.nodeid}")
        terminalreporter.write_line(
            f"{len(skipped)} test(s) need Chromium or Chrome, and none could be used: {skipped[0].longrepr[2]}\n"
            "Install one (Debian and Ubuntu: apt install chromium) and run `make test` again."
        )


# Where the tests stand that open the built book and not the workshop (tests/site/conftest.py).
ON_THE_BOOK = (
    "tests/notebooks/",
    "_of_the_book",
    "test_a_missing_page",
    "test_course.py",
    "test_layout.py",
    "test_reader.py",
    "test_diagnosis_page.py",
)


def _needs_the_site(nodeid: str) -> bool:
    """Whether a test works on the built book or in a browser."""
    return nodeid.startswith(("tests/site/", "tests/notebooks/"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests of the site, which take longest: the other worker then has something to do until they end."""
    for item in items:
        if "browser_path" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
        if _needs_the_site(item.nodeid):
            # The first of them waits until the book is built.
            item.add_marker(pytest.mark.timeout(900))
    items.sort(key=lambda item: not _needs_the_site(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give one worker all tests of the book (one build, one server, one browser), another all of the small book that
    the tests lay out; whoever is done first then looks at all pages of the book; each other file goes to one worker."""
    from xdist.scheduler import LoadScopeScheduling

    class BySite(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if not _needs_the_site(nodeid):
                return nodeid.partition("::")[0]
            if "test_pages_of_the_book" in nodeid:
                return "pages of the book"
            return "book" if any(part in nodeid for part in ON_THE_BOOK) else "workshop"

    config.option.loadscopereorder = False
    return BySite(config, log)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """The built book, ``_build/html``: built now, which takes seconds if nothing has changed; by one worker of a run only,
    as a second build would take the pages away that others are looking at."""
    (ROOT / "_build").mkdir(exist_ok=True)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    with (ROOT / "_build" / ".built-for-run").open("a+", encoding="utf-8") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        mark.seek(0)
        if not run or mark.read() != run:
            done = subprocess.run(
                [sys.executable, "-m", "hopperlib.site.build"], cwd=ROOT, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"the book does not build:\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
            mark.truncate(0)
            mark.write(run)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def site_url(site_folder: Path) -> Iterator[str]:
    """Address of a local server of the built book, without a slash at the end."""
    from hopperlib.site.serve import server_for

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
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
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
    starts = subprocess.run([*playwright, "--version"], capture_output=True, text=True, check=False)
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
            executable_path=browser_path, args=["--disable-features=AutofillServerCommunication"]
        )
        yield launched
        launched.close()
