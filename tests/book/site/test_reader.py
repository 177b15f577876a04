"""A reader's tasks with the book: find the page that answers, check themselves, come back, look things up."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from hopperlib.machine import Machine

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ASKED = "lfs setstripe"


def heading(page):
    """Return the heading of a page, without the mark of its link."""
    return page.get_by_role("heading", level=1).inner_text().rstrip("#").strip()


def test_the_front_door_shows_the_machine_and_a_live_answer_within_one_screen(reader):
    page = reader.go("book/index.html")
    expect(page.get_by_role("main")).to_contain_text(
        "Cray XE6 at NERSC, a computing center in California: 6,384 nodes of 24 cores"
    )
    explorer = page.locator("#explorer-identify")
    # What to do is in the first screen too: the better line, which can be copied, and the top of its picture.
    better = explorer.get_by_role("button", name="Copy", exact=True).first
    for part in (explorer.get_by_label("Anything"), explorer.locator(".hopper-summary"), better):
        box = part.bounding_box()
        assert box["y"] + box["height"] <= page.viewport_size["height"]
    picture = explorer.locator(".hopper-drawing svg").filter(visible=True).first.bounding_box()
    assert picture["y"] <= page.viewport_size["height"]
    before = explorer.locator(".hopper-summary").inner_text()
    explorer.get_by_role("button", name="An error").click()
    expect(explorer.locator(".hopper-summary")).not_to_have_text(before)
    expect(explorer.locator(".hopper-summary")).to_contain_text("Read as the output of a job")


def test_a_tall_drawing_stands_in_halves_that_hold_every_numa_node_once(reader):
    page = reader.go("book/index.html")
    text = "#SBATCH -C cpu -q regular -N 1\nsrun -n 128 --hint=nomultithread ./a.out"
    page.locator("#explorer-identify").get_by_label("Anything").fill(text)
    expect(page.locator("#explorer-identify .hopper-summary")).to_contain_text("No better line was found")
    halves = page.locator("#explorer-identify .hopper-halves > svg").filter(visible=True)
    expect(halves).to_have_count(2)
    parts = halves.evaluate_all("all => all.map(({ viewBox }) => [viewBox.baseVal.y, viewBox.baseVal.height])")
    nodes = halves.first.evaluate(
        "svg => [...svg.querySelectorAll('.hopper-node-numa rect')].map(({ y, height }) => [y.baseVal.value, height.baseVal.value])"
    )
    # This node of Perlmutter has eight.
    held = [[y <= top and top + height <= y + tall for y, tall in parts] for top, height in nodes]
    assert [sum(each) for each in held] == [1] * 8
    assert [each.index(True) for each in held] == [0] * 4 + [1] * 4


def test_a_start_with_more_nodes_than_a_centers_machine_is_fitted(reader):
    toy = Machine.load("toy")
    page = reader.go("notebooks/failure/bad-nodes.html")
    explorer = page.locator("#explorer-bad-nodes")
    nodes, problem = explorer.locator("[name=job_nodes]"), explorer.locator(".hopper-problem")
    explorer.evaluate("(box, file) => box.hopperSet({ machine_file: file }, true)", toy.to_toml())
    expect(nodes).to_have_value(str(toy.nodes))
    expect(explorer.locator(".hopper-summary")).to_contain_text(toy.title)
    expect(problem).to_be_empty()
    # What a reader sets is not fitted but refused.
    explorer.evaluate("(box, nodes) => box.hopperSet({ job_nodes: nodes })", toy.nodes + 1)
    expect(explorer.locator("[name=job_nodes][aria-invalid=true]")).to_have_count(1)
    expect(nodes).to_have_value(str(toy.nodes + 1))


def test_the_task_finder_leads_to_the_explorer_that_answers(reader, site_folder):
    page = reader.go("book/index.html")
    cards = page.locator(".sd-card")
    links = cards.get_by_role("link")
    assert links.count() == cards.count() == 8
    # Each link has a name for a screen reader, and no two cards lead to the same page.
    addresses = [link.get_attribute("href") for link in links.all()]
    assert len(set(addresses)) == cards.count()
    for card in cards.all():
        expect(card.get_by_role("link")).to_have_accessible_name(card.locator(".sd-card-title").inner_text().strip())
    # What a card leads to is there.
    for address in addresses:
        path, _, anchor = address.removeprefix("../").partition("#")
        assert not anchor or f'id="{anchor}"' in (site_folder / path).read_text("utf-8"), address
    # The whole card is the link, wherever it is pressed.
    cards.filter(has_text="My program reads and writes slowly").click()
    page.wait_for_url("**/notebooks/storage/striping.html#explorer-stripe")
    expect(page.locator(".hopper-explorer").first).to_contain_text(ASKED)


def test_a_self_check_is_marked_and_progress_survives(reader, tmp_path):
    page = reader.go("notebooks/node/memory.html")
    title = heading(page)
    # A prediction is given once; what is asked further down may be tried again.
    box = page.locator('.hopper-check[data-kind="number"]:not(#predict-first *)').first
    answer = json.loads(box.locator("script").text_content())["answer_text"].replace(",", "")
    field = box.get_by_label("Your answer")
    page.get_by_role("heading", name="Exercises").click()
    field.fill("99999")
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("Not yet.")
    field.fill(answer)
    field.press("Enter")
    expect(box.get_by_role("status")).to_contain_text("Right.")
    page.get_by_role("button", name="Mark as read").click()

    page.reload()
    expect(box.locator(".hopper-result")).to_have_text("done in 2 tries")
    read = page.get_by_role("button", name=re.compile("^Read on "))
    expect(read).to_have_attribute("aria-pressed", "true")

    page = reader.go("book/routes.html")
    expect(page.locator(".hopper-route li").filter(has=page.get_by_role("link", name=title)).first).to_contain_text(
        "read"
    )

    page = reader.go("book/progress.html")
    progress = page.locator(".hopper-progress")
    expect(progress).to_contain_text(re.compile(r"1 of \d+ studies read, 1 of \d+ self-checks right"))
    row = progress.get_by_role("row").filter(has=page.get_by_role("link", name=title))
    expect(row.first).to_contain_text("1 of ")
    expect(row.last).to_contain_text("right after 2 tries")

    # Taken along, forgotten after a second question, brought back.
    with page.expect_download() as saved:
        progress.get_by_role("button", name="Save as a file").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    progress.get_by_role("button", name="Forget everything").click()
    expect(progress).to_contain_text("1 of ")
    progress.get_by_role("button", name="Really forget everything?").click()
    expect(progress).to_contain_text("0 of ")
    expect(progress).to_contain_text("No self-check has been answered.")
    foreign = tmp_path / "other.json"
    foreign.write_text("{}", encoding="utf-8")
    progress.get_by_label("Add the progress of another browser").set_input_files(foreign)
    expect(progress.get_by_role("status")).to_have_text("This is no progress file of this book.")
    progress.get_by_label("Add the progress of another browser").set_input_files(file)
    expect(progress).to_contain_text(re.compile(r"1 of \d+ studies read, 1 of \d+ self-checks right"))


def test_the_reader_goes_on_where_they_were(reader):
    title = heading(reader.go("notebooks/failure/bad-nodes.html"))
    page = reader.go("book/progress.html")
    page.locator(".hopper-progress p").filter(has_text="Go on where you were").get_by_role("link", name=title).click()
    page.wait_for_url("**/notebooks/failure/bad-nodes.html")
    # A box of a checklist can be ticked, by its words.
    box = page.get_by_role(
        "checkbox", name="Record the free memory of all nodes before and after the run, and keep both lists."
    )
    page.get_by_role("heading", name="On your machine today").click()
    page.get_by_text("Record the free memory of all nodes before and after the run").click()
    expect(box).to_be_checked()


def test_a_term_says_what_it_means_by_pointer_and_by_keyboard(reader):
    page = reader.go("notebooks/node/placement.html")
    page.get_by_role("heading", name="Before you start").click()
    term = page.get_by_role("main").get_by_role("link", name="NUMA nodes", exact=True).first
    entry = page.get_by_role("tooltip")
    expect(entry).to_have_count(0)
    term.hover()
    expect(entry).to_contain_text("A group of cores with memory of its own.")
    expect(term).to_have_accessible_description(re.compile("A group of cores"))
    # The pointer may go onto the entry; Escape takes it away.
    entry.hover()
    expect(entry).to_be_visible()
    page.keyboard.press("Escape")
    expect(entry).to_be_hidden()
    page.mouse.move(0, 0)
    term.focus()
    expect(entry).to_be_visible()
    page.keyboard.press("Tab")
    expect(entry.filter(has_text="A group of cores")).to_have_count(0)
    term.click()
    page.wait_for_url("**/book/glossary.html#term-NUMA-node")


def test_search_finds_a_study(reader):
    page = reader.go("book/cite.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("fragments")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=fragments**")
    found = page.locator("#search-results").get_by_role("link", name="How a machine fragments", exact=True)
    found.first.click()
    page.wait_for_url("**/notebooks/network/fragmentation.html**")


def test_what_the_search_does_not_know_the_box_reads(reader):
    page = reader.go("search.html?q=slurmstepd:+error:+Detected+1+oom_kill+event+in+StepId=12.0.")
    page.get_by_role("link", name="Let the box read it").click()
    expect(page.locator("#explorer-identify .hopper-summary")).to_contain_text("more memory than granted")


def test_sources_stand_under_the_keys_that_the_data_cite_them_by(reader):
    page = reader.go("book/references.html")
    labels = page.locator(".citation .label").all_text_contents()
    assert labels[0].strip(" []") == "antypas2011"
    assert len(labels) == len(set(labels)) > 5


def test_the_reference_says_what_a_function_takes(reader):
    page = reader.go("book/api-node.html")
    entry = page.locator("dl.py").filter(has=page.locator("#hopperlib\\.placement\\.models\\.memory\\.memory_per_task"))
    expect(entry.locator("dt").first).to_contain_text("memory_per_task(")
    expect(entry).to_contain_text("Memory each")
    for part in ("Parameters", "Raises", "Examples"):
        expect(entry).to_contain_text(part)
    # An example is shown as the tests run it.
    expect(entry.locator(".doctest, .highlight-pycon, .highlight-default").first).to_contain_text(">>>")


def test_the_code_of_a_page_stands_behind_one_switch(reader):
    page = reader.go("notebooks/node/memory.html")
    bars = page.locator("details.above-input:not(.hopper-fold *, .hopper-further *)")
    switch = page.get_by_role("button", name="Show the code of this page")
    expect(bars.first).to_be_hidden()
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(bars.first.locator("pre").first).to_be_visible()
    switch.click()
    expect(bars.first).to_be_hidden()
