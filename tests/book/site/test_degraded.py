"""Pages without scripts, from a file, without a file they need, and with a worker that dies."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

SENTENCE = "With 6 tasks the work is 4.00 times as fast, & that is <less> than 6."


def set_slider(page, value):
    page.get_by_role("slider", name="Tasks").first.fill(str(value))


def assert_still(page):
    """The answer for the starting setting is there, and no form that would do nothing."""
    box = page.locator("#explorer-trial")
    expect(box.locator(".hopper-summary")).to_have_text(SENTENCE)
    expect(box.locator(".hopper-values").first).to_contain_text("4.80 to 5.33")
    expect(box.locator(".hopper-drawing svg")).to_be_visible()
    expect(box.locator(".hopper-plot > svg")).to_be_visible()
    expect(box.locator(".hopper-plot > svg desc")).to_contain_text("A curve that rises from 1")
    expect(box.locator(".hopper-table-box").last).to_contain_text("cabinet")
    expect(box.locator(".hopper-form")).to_be_hidden()
    expect(box.get_by_text("python -m http.server")).to_be_visible()
    expect(box.get_by_role("button")).to_have_count(0)


def test_without_javascript(watch, workshop_url):
    watched = watch(workshop_url, java_script_enabled=False)
    watched.page.goto(f"{workshop_url}/book/index.html")
    assert_still(watched.page)
    watched.page.goto(f"{workshop_url}/notebooks/checks.html")
    check = watched.page.locator("#check-workshop-memory")
    expect(check.get_by_role("button")).to_have_count(0)
    check.get_by_text("Answer", exact=True).click()
    expect(check).to_contain_text("1.29 GB. 31 GB are shared by 24 tasks.")
    watched.assert_clean()


def test_from_a_file(watch, workshop_folder):
    watched = watch("file://")
    watched.page.goto((workshop_folder / "book" / "index.html").as_uri())
    assert_still(watched.page)
    # The style is there all the same: the policy lets a file load its neighbors.
    assert "Hopper Sans" in watched.page.evaluate("getComputedStyle(document.body).fontFamily")
    assert watched.strangers == []


BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { configurable: true, get() { throw new Error("blocked"); } });"""


def test_with_storage_blocked_a_page_answers_and_complains_of_nothing(watch, workshop_url):
    watched = watch(workshop_url)
    watched.page.add_init_script(BLOCKED)
    page = watched.go("book/index.html")
    set_slider(page, 7)
    expect(page.locator("#explorer-trial .hopper-summary")).to_contain_text("With 7 tasks")
    watched.assert_clean()


def test_a_missing_interpreter_is_named(watch, serve_copy):
    def remove(site):
        next(site.glob("_static/live-*/pyodide/pyodide.asm.wasm")).unlink()

    page = watch(serve_copy(remove)).go("book/index.html")
    set_slider(page, 7)
    alert = page.locator("#explorer-trial").get_by_role("alert")
    expect(alert).to_contain_text("pyodide.asm.wasm is missing (404)")
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.locator("#explorer-trial .hopper-summary")).to_have_text(SENTENCE)


def without_models(watch, serve_copy):
    """A page of a site whose models cannot be fetched, a control of which was moved, and where they are and belong."""
    moved = []

    def remove(site):
        package = next(site.glob("_static/live-*/hopperlib-*.zip"))
        moved.append((package.rename(site / package.name), package))

    page = watch(serve_copy(remove)).go("book/index.html")
    set_slider(page, 7)
    return page, page.locator("#explorer-trial").get_by_role("alert"), moved[0]


MODELS_MISSING = re.compile(r"hopperlib-[0-9a-f]+\.zip is missing \(404\)")


def test_missing_models_are_named(watch, serve_copy):
    _, alert, _ = without_models(watch, serve_copy)
    expect(alert).to_contain_text(MODELS_MISSING)
    expect(alert.get_by_role("button", name="Try again")).to_be_visible()


# Python starts twice. That a button starts it again is seen in every run where it has died.
@pytest.mark.nightly
def test_once_models_are_there_a_second_try_helps(watch, serve_copy):
    page, alert, (found, belongs) = without_models(watch, serve_copy)
    expect(alert).to_contain_text(MODELS_MISSING)
    shutil.move(found, belongs)
    alert.get_by_role("button", name="Try again").click()
    expect(page.locator("#explorer-trial .hopper-summary")).to_contain_text("With 7 tasks")
    expect(alert).to_be_empty()


STARTED_FROM = "() => performance.getEntriesByName('hopper: Python started').map((entry) => entry.detail)"


def test_with_a_damaged_memory_python_starts_from_scratch(watch, serve_copy):
    """Also without one: the tests in Firefox."""

    def spoil(site):
        memory = next(site.glob("_static/live-*/*.memory"))
        memory.unlink()
        memory.write_bytes(b"no memory at all")

    page = watch(serve_copy(spoil)).go("book/index.html")
    set_slider(page, 7)
    expect(page.locator("#explorer-trial .hopper-summary")).to_contain_text("With 7 tasks")
    assert page.evaluate(STARTED_FROM) == ["scratch"]


def test_a_missing_worker_is_said(watch, serve_copy):
    def remove(site):
        next(site.glob("_static/live-*/worker.mjs")).unlink()

    page = watch(serve_copy(remove)).go("book/index.html")
    set_slider(page, 7)
    expect(page.locator("#explorer-trial").get_by_role("alert")).to_contain_text("Python could not start")


def test_a_worker_that_dies_is_replaced(watch, workshop_url):
    # In a visit of its own: a clock that was put in stays for all pages of a visit, and measures nothing.
    workshop = watch(workshop_url)
    workshop.page.clock.install()
    page = workshop.go("book/index.html")
    set_slider(page, 7)
    summary = page.locator("#explorer-trial .hopper-summary")
    expect(summary).to_contain_text("With 7 tasks")
    page.evaluate(
        """async () => {
          const home = new URL(".", document.querySelector('script[src*="live.mjs"]').src);
          (await import(new URL("python.mjs", home))).python.worker.terminate();
        }"""
    )
    set_slider(page, 9)
    alert = page.locator("#explorer-trial").get_by_role("alert")
    # An answer is waited for that long.
    page.clock.run_for(20_000)
    expect(alert).to_contain_text("Python has stopped")
    expect(summary).to_contain_text("With 7 tasks")
    alert.get_by_role("button", name="Start it again").click()
    expect(summary).to_contain_text("With 9 tasks")
    expect(alert).to_be_empty()


PYTHON = """(act) => import(new URL("python.mjs", document.querySelector('script[src*="live.mjs"]').src)).then(
  ({ python }) => act === "end" ? python.worker.terminate() : python.worker.onmessage({ data: { id: 0, beat: "" } }))"""


@pytest.mark.nightly
def test_a_python_that_beats_is_waited_for(watch, workshop_url):
    """However long it takes: a log of megabytes on a slow computer takes minutes."""
    workshop = watch(workshop_url)
    workshop.page.clock.install()
    page = workshop.go("book/index.html")
    set_slider(page, 7)
    expect(page.locator("#explorer-trial .hopper-summary")).to_contain_text("With 7 tasks")
    page.evaluate(PYTHON, "end")
    set_slider(page, 9)
    alert = page.locator("#explorer-trial").get_by_role("alert")
    for _ in range(4):
        page.clock.run_for(15_000)
        page.evaluate(PYTHON, "beat")
    expect(alert).to_be_empty()
    expect(page.locator("#explorer-trial").get_by_role("button", name="Cancel")).to_be_visible()
    page.clock.run_for(20_000)
    expect(alert).to_contain_text("Python has stopped")


@pytest.mark.nightly
def test_a_log_of_five_megabytes_is_answered(watch, site_url):
    page = watch(site_url).go("notebooks/failure/diagnosis.html")
    line = "step {} dt = 2.5e-04 energy = -0.78112E+03 norm = 1.0000000000\n"
    log = "".join(map(line.format, range(80_000))) + "srun: error: nid001: task 3: Segmentation fault\n"
    assert len(log) > 5_000_000
    box = page.locator("#explorer-diagnose")
    box.evaluate("(box, log) => box.hopperSet({ log })", log)
    expect(box.locator(".hopper-summary")).to_contain_text("Segmentation fault", timeout=45_000)
    expect(box.get_by_role("alert")).to_be_empty()


def test_a_chart_that_cannot_be_drawn_says_so(watch, serve_copy):
    def remove(site):
        next(site.glob("_static/live-*/plotly/cartesian.min.js")).unlink()

    page = watch(serve_copy(remove)).go("book/index.html")
    page.locator("#explorer-trial .hopper-plot").hover()
    expect(page.locator("#explorer-trial .hopper-plot-note")).to_contain_text("the chart's script cannot be loaded")


def in_worker_of_visit(page, code):
    """The result of code in the worker that serves the pages of a visit."""
    session, said = page.context.browser.new_browser_cdp_session(), {}
    session.on("Target.receivedMessageFromTarget", lambda event: said.update(json.loads(event["message"])))
    name = page.evaluate("sessionStorage.getItem('hopper-python')")
    (target,) = (told["targetId"] for told in session.send("Target.getTargets")["targetInfos"] if told["title"] == name)
    attached = session.send("Target.attachToTarget", {"targetId": target, "flatten": False})
    command = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": code, "returnByValue": True}}
    session.send("Target.sendMessageToTarget", {"sessionId": attached["sessionId"], "message": json.dumps(command)})
    while "result" not in said:
        page.wait_for_timeout(20)
    session.detach()
    return said["result"]["result"]["value"]


def test_a_worker_of_a_visit_has_nothing_to_reach_a_host_with(workshop):
    page = workshop.go("book/index.html")
    set_slider(page, 7)
    expect(page.locator("#explorer-trial .hopper-summary")).to_contain_text("With 7 tasks")
    ways = "[fetch, XMLHttpRequest, WebSocket, WebTransport, EventSource].filter(Boolean).length"
    assert in_worker_of_visit(page, ways) == 0


def test_a_worker_can_reach_no_other_host(watch, workshop_url):
    """The worker of a page inherits the page's policy: a request to another host is refused before it is made."""
    watched = watch(workshop_url)
    page = watched.go("book/index.html")
    told = page.evaluate(
        """async () => {
          const code = "addEventListener('securitypolicyviolation', (event) => postMessage(event.effectiveDirective));" +
            "fetch('http://example.org/').then(() => postMessage('reached'), () => {});";
          const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
          return await new Promise((done) => (worker.onmessage = ({ data }) => done(data)));
        }"""
    )
    assert told == "connect-src"
    assert watched.strangers == []
