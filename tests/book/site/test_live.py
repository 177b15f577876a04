"""A reader at an explorer: settings, answers, errors and recovery."""

from __future__ import annotations

import json
import re

from playwright.sync_api import expect


def explorer(page, key="trial"):
    return page.locator(f"#explorer-{key}")


def summary(page, key="trial"):
    return explorer(page, key).locator(".hopper-summary")


def set_slider(page, label, value, key="trial"):
    explorer(page, key).get_by_role("slider", name=label).fill(str(value))


def of_python(served):
    return [path for path in served if re.search(r"pyodide|\.zip|\.memory", path)]


STARTED_FROM = "() => performance.getEntriesByName('hopper: Python started').map((entry) => entry.detail)"


def test_python_waits_until_an_explorer_is_near(watch, workshop_url, served):
    workshop = watch(workshop_url)
    page = workshop.page
    page.set_viewport_size({"width": 800, "height": 200})
    # Before the page's own scripts run.
    page.add_init_script(
        "document.onreadystatechange = () => (document.querySelector('#explorer-trial').style.marginTop = '3000px')"
    )
    workshop.go("book/index.html")
    page.wait_for_timeout(500)
    assert of_python(served) == []
    expect(summary(page)).to_have_text("With 6 tasks the work is 4.00 times as fast, & that is <less> than 6.")
    explorer(page).scroll_into_view_if_needed()
    page.wait_for_function("() => performance.getEntriesByName('hopper: Python started').length")
    assert of_python(served)


def test_nothing_is_loaded_for_a_reader_who_saves_data(watch, workshop_url, served):
    watched = watch(workshop_url)
    watched.page.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
    page = watched.go("book/index.html")
    plot = explorer(page).locator(".hopper-plot")
    plot.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    assert of_python(served) == []
    # A chart is a picture until it is touched.
    expect(plot.locator("> svg")).to_be_visible()
    assert not [url for url in watched.requests if "plotly" in url]
    plot.hover()
    expect(plot.locator(".xtitle")).to_be_visible()
    assert next(url for url in watched.requests if "plotly" in url).endswith("cartesian.min.js")
    set_slider(page, "Tasks", 12)
    expect(summary(page)).to_contain_text("With 12 tasks")


def test_a_slider_moves_everything(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    set_slider(page, "Tasks", 12)
    expect(summary(page)).to_contain_text("With 12 tasks")
    expect(box.locator(".hopper-label output").first).to_have_text("12")
    expect(box.locator(".hopper-part > .hopper-notices > .hopper-notice")).to_have_count(3)
    expect(box.locator(".hopper-notice code").first).to_have_text("-r 1")
    expect(box.locator(".hopper-drawing svg rect[fill='#8fc7ee']")).to_have_count(12)
    expect(box.get_by_role("img", name="12 of 12 cores in use")).to_be_visible()
    expect(box.locator(".hopper-values").first).to_contain_text("5.71")
    expect(page).to_have_url(re.compile(r"#trial\.tasks=12$"))


def test_the_keyboard_alone_is_enough(workshop):
    page = workshop.go("book/index.html")
    slider = explorer(page).get_by_role("slider", name="Tasks")
    slider.focus()
    page.keyboard.press("End")
    expect(summary(page)).to_contain_text("With 12 tasks")
    expect(slider).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(summary(page)).to_contain_text("With 11 tasks")
    page.keyboard.press("Tab")
    expect(explorer(page).get_by_role("slider", name="Parallel share")).to_be_focused()
    number = explorer(page).get_by_role("textbox", name="Memory")
    number.focus()
    page.keyboard.press("ArrowUp")
    expect(number).to_have_value("32.5")


def test_every_kind_of_control_is_heard(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    box.get_by_label("Launch line").fill("aprun -n 4 ./c.out")
    expect(box.locator(".hopper-copyable code")).to_have_text("aprun -n 4 ./c.out")
    box.get_by_label("Order").select_option("down")
    expect(box.locator(".hopper-table-box tbody tr").nth(-3)).to_contain_text("cabinet")
    box.get_by_label("Log", exact=True).fill("all killed")
    expect(box.locator(".hopper-listing li.hopper-marked")).to_have_text(re.compile("all killed.*cause"))
    box.get_by_label("Seed").fill("77")
    set_slider(page, "Tasks", 12)
    expect(box.locator(".hopper-notices", has_text="The seed is 77.")).to_have_count(1)
    box.get_by_label("Logarithmic scale").check()
    page.wait_for_function("() => decodeURIComponent(location.hash).includes('log=true')")
    setting = dict(part.split("=") for part in page.evaluate("location.hash.slice(1)").split("&"))
    # What was typed or pasted is not in the address.
    assert setting == {"trial.order": "down", "trial.seed": "77", "trial.tasks": "12", "trial.log": "true"}


def test_a_file_is_read_and_stays_here(workshop, tmp_path):
    page = workshop.go("book/index.html")
    log = tmp_path / "job.log"
    log.write_text("fine\nan error here\n", encoding="utf-8")
    explorer(page).locator('input[type="file"]').set_input_files(log)
    expect(explorer(page).locator(".hopper-listing li.hopper-marked")).to_contain_text("an error here")
    assert "error" not in page.url


def test_a_dropped_file_is_read(workshop):
    page = workshop.go("book/index.html")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["dropped error"], "a.log", { type: "text/plain" }));
          document.querySelector("[data-control=text] textarea").dispatchEvent(
            new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
        }"""
    )
    expect(explorer(page).locator(".hopper-listing li.hopper-marked")).to_contain_text("dropped error")


def test_text_cannot_become_html(workshop):
    page = workshop.go("book/index.html")
    explorer(page).get_by_label("Launch line").fill("<img src=x onerror=alert(1)>")
    expect(explorer(page).locator(".hopper-copyable code")).to_have_text("<img src=x onerror=alert(1)>")
    assert page.locator("img[src=x]").count() == 0


def home(page):
    """Address of the folder of assets."""
    return page.evaluate("new URL('.', document.querySelector('script[src*=\"live.mjs\"]').src).href")


def test_a_refused_value_is_said_at_its_control(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    number = box.get_by_role("textbox", name="Memory")
    number.fill("lots")
    error = box.locator('[data-control="need"] .hopper-error')
    expect(error).to_have_text("need='lots' must be a number")
    expect(number).to_have_attribute("aria-invalid", "true")
    assert error.get_attribute("id") in number.get_attribute("aria-describedby").split()
    expect(box.get_by_role("alert")).to_contain_text("see the marked setting")
    expect(box).to_have_class(re.compile("hopper-stale"))
    number.fill("64")
    expect(error).to_be_hidden()
    expect(number).not_to_have_attribute("aria-invalid", "true")
    expect(box.get_by_role("alert")).to_be_empty()
    expect(box.locator(".hopper-values").first).to_contain_text("10.67")


def test_a_refusal_of_the_model_has_a_way_on(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    box.get_by_label("Launch line").fill("refuse me")
    expect(box.get_by_role("alert")).to_contain_text("line='refuse' is refused by the model")
    box.get_by_role("button", name="Back to the start").click()
    expect(box.get_by_role("alert")).to_be_empty()
    expect(box.get_by_label("Launch line")).to_have_value("aprun -n 6 ./a.out")


def test_a_defect_of_the_model_is_owned_up_to(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    box.get_by_label("Launch line").fill("boom")
    expect(box.get_by_role("alert")).to_contain_text("a defect of ours")
    box.get_by_text("What Python says").click()
    expect(box.get_by_role("alert")).to_contain_text("RuntimeError: a defect of the model")
    box.get_by_label("Launch line").fill("aprun -n 2 ./a.out")
    expect(box.get_by_role("alert")).to_be_empty()


def test_an_unfinished_line_is_not_called_wrong_while_it_is_typed(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    set_slider(page, "Tasks", 3)
    expect(summary(page)).to_contain_text("With 3 tasks")
    page.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => window.seen.push(document.querySelector(".hopper-problem").textContent))
            .observe(document.querySelector(".hopper-problem"), { childList: true });
        }"""
    )
    line = box.get_by_label("Launch line")
    line.fill("")
    line.press_sequentially("refuse", delay=30)
    line.press_sequentially(" no", delay=30)
    line.fill("aprun -n 9 ./a.out")
    expect(box.locator(".hopper-copyable code")).to_have_text("aprun -n 9 ./a.out")
    assert page.evaluate("window.seen") == []


def test_reset_examples_and_links(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    box.get_by_role("button", name="Half parallel").click()
    expect(summary(page)).to_contain_text("1.71")
    page.wait_for_function("() => location.hash !== ''")
    expect(page).to_have_url(re.compile(r"#trial\.share=0\.5&trial\.order=down$"))
    box.get_by_role("button", name="Copy link").click()
    expect(box.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    box.get_by_role("button", name="Reset").click()
    expect(summary(page)).to_contain_text("4.00")
    page.wait_for_function("() => location.hash === ''")

    other = page.context.new_page()
    other.goto(link)
    expect(summary(other)).to_contain_text("1.71")
    expect(other.get_by_label("Order")).to_have_value("down")
    other.evaluate("location.hash = '#trial.tasks=2'")
    expect(summary(other)).to_contain_text("With 2 tasks")
    # What the address does not name goes back to the start.
    expect(other.get_by_label("Order")).to_have_value("up")
    other.close()


def test_a_link_that_asks_for_too_much_is_told(workshop):
    page = workshop.go("book/index.html#trial.tasks=99&trial.order=sideways&trial.line=secret")
    box = explorer(page)
    expect(box.locator('[data-control="tasks"] .hopper-error')).to_contain_text("asks for 99")
    expect(box.locator('[data-control="order"] .hopper-error')).to_contain_text("asks for sideways")
    expect(summary(page)).to_contain_text("With 12 tasks")
    expect(box.locator('[data-control="tasks"] .hopper-error')).to_be_visible()
    # Text stands in a link if who copied it said so.
    expect(box.get_by_label("Launch line")).to_have_value("secret")


def test_a_link_into_the_page_is_left_alone(workshop):
    page = workshop.go("book/index.html#what-follows")
    page.wait_for_timeout(500)
    expect(page).to_have_url(re.compile(r"#what-follows$"))
    assert page.locator(".hopper-touched").count() == 0


def test_several_explorers_share_the_worker_and_the_address(workshop):
    page = workshop.go("book/several.html")
    expect(summary(page)).to_contain_text("With 3 tasks")
    expect(explorer(page).get_by_label("Launch line")).to_have_value("aprun -n 3 ./b.out")
    set_slider(page, "Tasks", 5)
    set_slider(page, "Tasks", 7, key="trial-2")
    expect(summary(page)).to_contain_text("With 5 tasks")
    expect(summary(page, "trial-2")).to_contain_text("With 7 tasks")
    page.wait_for_function("() => location.hash.includes('trial-2')")
    expect(page).to_have_url(re.compile(r"#trial\.tasks=5&trial-2\.tasks=7$"))
    assert len(page.evaluate(STARTED_FROM)) == 1
    explorer(page).get_by_role("button", name="Reset").click()
    expect(summary(page)).to_contain_text("With 3 tasks")
    page.wait_for_function("() => !location.hash.includes('trial.tasks')")
    expect(page).to_have_url(re.compile(r"#trial-2\.tasks=7$"))


def test_what_is_moved_before_the_scripts_come_is_answered(workshop):
    page = workshop.page
    held = []
    page.route("**/explorer.mjs*", lambda route: held.append(route))  # noqa: PLW0108 (it marks what it is given)
    page.goto(f"{workshop.address}/book/index.html")
    set_slider(page, "Tasks", 5)
    explorer(page).get_by_label("Launch line").fill("aprun -n 4 ./c.out")
    assert len(held) == 1
    held[0].continue_()
    expect(summary(page)).to_contain_text("With 5 tasks")
    expect(explorer(page).locator(".hopper-copyable code")).to_have_text("aprun -n 4 ./c.out")
    page.wait_for_function("() => location.hash.includes('trial.tasks=5')")
    page.unroute_all()


def test_python_lives_from_page_to_page(watch, workshop_url, served):
    page = watch(workshop_url).go("book/index.html")
    set_slider(page, "Tasks", 7)
    expect(summary(page)).to_contain_text("With 7 tasks")
    assert page.evaluate(STARTED_FROM) == ["memory"]
    del served[:]
    page.goto(f"{workshop_url}/book/several.html")
    set_slider(page, "Tasks", 9)
    expect(summary(page)).to_contain_text("With 9 tasks")
    assert page.evaluate(STARTED_FROM) == ["visit"]
    # Another tab is another visit.
    other = page.context.new_page()
    other.goto(f"{workshop_url}/book/index.html")
    set_slider(other, "Tasks", 5)
    expect(summary(other)).to_contain_text("With 5 tasks")
    assert other.evaluate(STARTED_FROM) == ["memory"]


def test_a_page_that_is_left_while_it_waits_keeps_no_other_waiting(workshop):
    page = workshop.go("book/several.html")
    box = explorer(page, "heavy")
    box.get_by_role("slider").fill("400")
    box.get_by_role("slider").dispatch_event("change")
    expect(box.locator(".hopper-busy")).to_contain_text(re.compile("Working|Round"))
    page.goto(f"{workshop.address}/book/index.html")
    set_slider(page, "Tasks", 9)
    expect(summary(page)).to_contain_text("With 9 tasks")
    assert page.evaluate(STARTED_FROM) == ["memory"]


def test_python_ends_some_time_after_the_last_page(workshop):
    page = workshop.go("book/index.html")
    set_slider(page, "Tasks", 7)
    expect(summary(page)).to_contain_text("With 7 tasks")
    session = page.context.browser.new_browser_cdp_session()
    name = page.evaluate("sessionStorage.getItem('hopper-python')")

    def lives():
        return any(target["title"] == name for target in session.send("Target.getTargets")["targetInfos"])

    page.goto(f"{workshop.address}/book/words.html")
    page.wait_for_timeout(500)
    assert lives()
    # It was left with a minute to wait; now a page leaves that will not be followed.
    page.go_back()
    set_slider(page, "Tasks", 9)
    expect(summary(page)).to_contain_text("With 9 tasks")
    assert page.evaluate(STARTED_FROM) == ["visit"]
    page.evaluate(
        """async () => {
          const home = new URL(".", document.querySelector('script[src*="live.mjs"]').src);
          (await import(new URL("python.mjs", home))).python.worker.postMessage({ left: 0 });
        }"""
    )
    page.wait_for_timeout(1000)
    assert not lives()


def test_where_nothing_may_be_kept_a_worker_serves_one_page(watch, workshop_url):
    watched = watch(workshop_url)
    watched.page.add_init_script(
        """const keep = Storage.prototype.setItem;
        Storage.prototype.setItem = function (name, text) {
          if (name === "hopper-python") throw new Error("nothing may be kept");
          keep.call(this, name, text);
        };"""
    )
    for path in ("book/index.html", "book/several.html"):
        page = watched.go(path)
        set_slider(page, "Tasks", 7)
        expect(summary(page)).to_contain_text("With 7 tasks")
        assert page.evaluate(STARTED_FROM) == ["memory"]
        assert len(page.workers) == 1
    watched.assert_clean()


def test_the_latest_call_wins(workshop):
    page = workshop.go("book/several.html")
    box = explorer(page, "heavy")
    slider = box.get_by_role("slider")
    slider.fill("1")
    expect(summary(page, "heavy")).to_contain_text("After 1 million")
    page.evaluate(
        """() => {
          window.said = [];
          document.getElementById("explorer-heavy").addEventListener("hopper-answer",
            ({ target }) => window.said.push(target.querySelector(".hopper-summary").textContent.split(" ")[1]));
        }"""
    )
    for rounds in (4, 5, 6, 2):
        slider.fill(str(rounds))
        slider.dispatch_event("change")
    expect(summary(page, "heavy")).to_contain_text("After 2 million")
    page.wait_for_timeout(500)
    # The first was under way; those between it and the last were never asked, and only the last was shown.
    assert page.evaluate("window.said") == ["2"]


def test_a_heavy_explorer_can_be_cancelled(workshop):
    page = workshop.go("book/several.html")
    set_slider(page, "Tasks", 4)
    expect(summary(page)).to_contain_text("With 4 tasks")
    box = explorer(page, "heavy")
    box.get_by_role("slider").fill("400")
    box.get_by_role("slider").dispatch_event("change")
    expect(box.locator(".hopper-busy")).to_contain_text("Working")
    expect(box.locator(".hopper-answer").first).to_have_attribute("aria-busy", "true")
    # What is known is drawn, dimmed, and gives way to the answer before it.
    plot = box.locator(".hopper-plot")
    expect(plot).to_have_attribute("aria-label", "A line from 0 to 1 million rounds.")
    # Another explorer of the page waits behind it, and is answered all the same.
    set_slider(page, "Tasks", 8)
    box.get_by_role("button", name="Cancel").click()
    expect(box.get_by_role("alert")).to_contain_text("Canceled")
    expect(box.locator(".hopper-busy")).to_be_empty()
    expect(plot).to_have_attribute("aria-label", "A line from 0 to 0 million rounds.")
    expect(summary(page)).to_contain_text("With 8 tasks")
    box.get_by_role("button", name="Back to the start").click()
    expect(summary(page, "heavy")).to_contain_text("After 0 million")
    expect(box.get_by_role("alert")).to_be_empty()


def test_the_summary_is_read_out_after_a_pause(workshop):
    page = workshop.go("book/index.html")
    assert summary(page).get_attribute("aria-live") == "polite"
    set_slider(page, "Tasks", 9)
    expect(summary(page)).to_contain_text("With 9 tasks")
    expect(summary(page)).to_have_attribute("aria-live", "polite")
    expect(summary(page)).to_have_text("With 9 tasks the work is 5.00 times as fast, & that is <less> than 9.")


def test_files_can_be_saved(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    set_slider(page, "Tasks", 10)
    expect(summary(page)).to_contain_text("With 10 tasks")
    box.get_by_text("More: numbers, notes, tables").click()
    with page.expect_download() as saved:
        box.get_by_role("button", name="Save tasks.txt").click()
    assert saved.value.suggested_filename == "tasks.txt"
    assert saved.value.path().read_text(encoding="utf-8") == "10\n"
    with page.expect_download() as saved:
        box.locator('[data-do="csv"]').click()
    assert saved.value.suggested_filename == "three-rows.csv"
    assert saved.value.path().read_text(encoding="utf-8").splitlines()[:2] == [
        "Number,Half more [GB],Name",
        "1,1.5,core",
    ]
    box.get_by_text("Data", exact=True).click()
    with page.expect_download() as saved:
        box.locator('[data-do="figure-csv"]').click()
    assert saved.value.path().read_text(encoding="utf-8").startswith("Tasks,model,ideal\n1,1.0,1\n")


def test_a_line_is_copied(workshop):
    page = workshop.go("book/index.html")
    explorer(page).get_by_role("button", name="Copy", exact=True).click()
    expect(explorer(page).get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "aprun -n 6 ./a.out"


def test_what_was_typed_goes_into_a_link_when_asked(workshop):
    page = workshop.go("book/index.html")
    box = explorer(page)
    box.get_by_label("Launch line").fill("aprun -n 4 ./c.out")
    box.get_by_role("button", name="Copy link").click()
    assert page.evaluate("navigator.clipboard.readText()").endswith("#explorer-trial")
    box.get_by_role("button", name="Copy with what you typed").click()
    page.wait_for_function("() => navigator.clipboard.readText().then((text) => text.includes('line='))")
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    page.reload()
    expect(box.locator(".hopper-copyable code").first).to_have_text("aprun -n 4 ./c.out")


def test_an_example_is_answered_without_python(workshop):
    page = workshop.go("book/index.html")
    explorer(page).hover()
    page.wait_for_function(
        """() => performance.getEntriesByType('resource')
             .filter(({ name, responseEnd }) => name.includes('/answers/') && responseEnd).length > 1"""
    )
    page.wait_for_timeout(200)
    page.evaluate("document.querySelector('#explorer-trial [data-example=\"0\"]').click()")
    # In the same frame: nothing is waited for.
    assert page.evaluate("document.querySelector('#explorer-trial .hopper-summary').textContent").startswith(
        "With 12 tasks"
    )
    assert page.evaluate("document.querySelector('#explorer-trial [name=tasks]').value") == "12"


def test_the_theme_switch_redraws(workshop):
    page = workshop.go("book/index.html")
    explorer(page).locator(".hopper-plot").hover()
    expect(explorer(page).locator(".hopper-plot .xtitle")).to_be_visible()
    seen = set()
    for _ in range(3):
        page.locator(".bd-header-article").get_by_role("button", name="Color mode").click()
        page.wait_for_function(
            """() => getComputedStyle(document.querySelector(".hopper-plot .xtitle")).fill ===
                     getComputedStyle(document.body).color"""
        )
        seen.add(page.evaluate("getComputedStyle(document.body).color"))
    assert len(seen) == 2


def test_a_chart_in_a_narrow_place_is_drawn_when_it_is_near(workshop):
    workshop.page.set_viewport_size({"width": 390, "height": 844})
    page = workshop.go("book/index.html")
    explorer(page).locator(".hopper-plot").scroll_into_view_if_needed()
    expect(explorer(page).locator(".hopper-plot .xtitle")).to_be_visible()


def test_a_chart_has_a_description_and_its_data(workshop):
    page = workshop.go("book/index.html")
    chart = explorer(page).get_by_role("img", name="A curve that rises from 1 with one task")
    expect(chart).to_be_attached()
    explorer(page).get_by_text("Data", exact=True).click()
    rows = explorer(page).locator(".hopper-data tbody tr")
    expect(rows).to_have_count(12)
    set_slider(page, "Parallel share", 0.5)
    expect(rows.last).to_contain_text("1.846")
    # What was unfolded stays unfolded.
    expect(rows.last).to_be_visible()


def test_printing_shows_the_chart_on_white(workshop):
    page = workshop.go("book/index.html")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    explorer(page).locator(".hopper-plot").hover()
    expect(explorer(page).locator(".hopper-plot .xtitle")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    expect(explorer(page).locator(".hopper-plot .xtitle")).to_be_visible()
    expect(explorer(page).locator(".hopper-form")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_solutions_are_printed_on_request(workshop):
    page = workshop.go("book/words.html")
    page.evaluate("window.print = () => (window.printed = true)")
    solution = page.locator(".admonition.solution").first
    page.get_by_role("button", name="Print this page with its solutions").click()
    page.emulate_media(media="print")
    expect(solution).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Print this page", exact=True).click()
    page.emulate_media(media="print")
    expect(solution).to_be_hidden()
    page.emulate_media(media="screen")
    page = workshop.go("book/index.html")
    expect(page.get_by_role("button", name="Print this page with its solutions")).to_be_hidden()


def test_every_chart_is_printed(workshop):
    page = workshop.go("notebooks/checks.html")
    page.evaluate("window.print = () => (window.printed = true)")
    page.get_by_role("button", name="Print this page", exact=True).click()
    page.wait_for_function("() => window.printed")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    plots = page.locator(".hopper-plot")
    assert plots.count() > 0
    for plot in plots.all():
        expect(plot.locator("> svg")).to_be_visible()


def test_a_page_can_be_reached_by_search(workshop):
    page = workshop.go("search.html?q=aardvark")
    expect(page.locator("#search-results a").first).to_have_text("Words and numbers")


def test_the_setting_survives_a_reload(workshop):
    page = workshop.go("book/index.html")
    set_slider(page, "Tasks", 11)
    page.wait_for_function("() => location.hash.includes('11')")
    page.reload()
    expect(summary(page)).to_contain_text("With 11 tasks")


def test_the_spec_in_the_page_is_what_python_says(workshop, trials):
    page = workshop.go("book/index.html")
    block = json.loads(explorer(page).locator("script.hopper-data-block").text_content())
    assert block["spec"] == json.loads(json.dumps(trials["trial"].to_dict()))


def test_the_chart_is_on_screen_beside_its_controls(workshop):
    page = workshop.page
    page.set_viewport_size({"width": 1440, "height": 900})
    workshop.go("book/index.html")
    for name in ("Tasks", "Parallel share"):
        explorer(page).get_by_role("slider", name=name).scroll_into_view_if_needed()
        form, chart = (explorer(page).locator(part).bounding_box() for part in (".hopper-form", ".hopper-figure"))
        assert form["x"] + form["width"] <= chart["x"]
        expect(explorer(page).locator(".hopper-plot")).to_be_in_viewport()
