"""The same pages in Firefox: started from a memory or from scratch, with answers that equal this Python's."""

from __future__ import annotations

import pytest

from tests.book.site.marionette import FIREFOX, Firefox

SUMMARY = "document.querySelector('#explorer-trial .hopper-summary').textContent"

STARTED_FROM = "return performance.getEntriesByName('hopper: Python started').map(({ detail }) => detail);"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if FIREFOX is None:
        pytest.skip("no Firefox: install firefox-esr (Debian) or firefox")
    with Firefox(tmp_path_factory.mktemp("firefox")) as browser:
        yield browser


def set_tasks(firefox, tasks):
    firefox.evaluate(
        "const slider = document.querySelector('#explorer-trial input[type=range]');"
        "slider.value = values[0]; slider.dispatchEvent(new Event('input', { bubbles: true }));"
        "slider.dispatchEvent(new Event('change', { bubbles: true }));",
        str(tasks),
    )


def test_an_explorer_starts_from_the_memory_and_answers_as_this_python(firefox, workshop_url, trials):
    firefox.open(f"{workshop_url}/book/index.html")
    set_tasks(firefox, 12)
    firefox.wait(f"{SUMMARY}.startsWith('With 12 tasks')")
    assert firefox.evaluate(f"return {SUMMARY}") == trials["trial"].run(tasks=12).summary.replace("`", "")
    assert firefox.evaluate(STARTED_FROM) == ["memory"]
    firefox.evaluate("document.querySelector('#explorer-trial .hopper-plot').scrollIntoView()")
    firefox.wait("document.querySelector('#explorer-trial .hopper-plot .main-svg')")


def test_a_setting_is_kept_in_the_address_and_comes_back(firefox, workshop_url):
    firefox.open(f"{workshop_url}/book/index.html#trial.tasks=11")
    firefox.wait(f"{SUMMARY}.startsWith('With 11 tasks')")
    set_tasks(firefox, 10)
    firefox.wait("location.hash === '#trial.tasks=10'")


@pytest.mark.nightly
def test_without_the_memory_python_starts_from_scratch(firefox, serve_copy):
    def without_memory(site):
        for memory in site.rglob("*.memory"):
            memory.unlink()

    firefox.open(f"{serve_copy(without_memory)}/book/index.html")
    set_tasks(firefox, 9)
    firefox.wait(f"{SUMMARY}.startsWith('With 9 tasks')")
    assert firefox.evaluate(STARTED_FROM) == ["scratch"]
