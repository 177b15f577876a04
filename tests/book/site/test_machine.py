"""Animations: the machine to watch, the mechanisms, and the reader's machine at the top of every page."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect
from sphinx.errors import ExtensionError

from hopperbook.site.assets import machines_module, says
from hopperbook.site.centers.own import load_site, site_examples
from hopperbook.site.html import explorer_html
from hopperbook.site.scenes import SCENES
from hopperkit.questions.network.variability import Study
from hopperkit.questions.question import load
from hopperlib.failure.messages.rules import read_rules, rule_texts, staged_rules
from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import model
from hopperlib.network.runtime.placed_jobs import FIRST_MILC, Histories, selected
from hopperlib.network.runtime.run_time import Run
from hopperlib.network.torus.maps import holders
from hopperlib.scheduling.aging import free_runs

PAGE = "book/machine.html"
HOUR_S = 36 * 3600


@pytest.fixture(scope="module")
def history(workshop_folder):
    """The first history as the page reads it."""
    (file,) = workshop_folder.glob("_static/live-*/machine/first.json.gz")
    return json.loads(gzip.decompress(file.read_bytes()))


@pytest.fixture(scope="module")
def schedule():
    return Histories(Machine.load("hopper")).schedule(Study().slowest.seed, "first", until_day=3)


def test_the_page_has_the_jobs_of_the_schedule(history, schedule):
    """At a full hour, node by node: the script's data are the scheduler's decisions."""
    held = {}
    for number, start_s, end_s, runs, *_ in history["held"]:
        if start_s <= HOUR_S < end_s:
            held |= {at: number for low, high in runs for at in range(low, high)}
    expected = {position: schedule.workload.job[job] for position, job in holders(schedule, HOUR_S).items()}
    assert held == expected


def test_the_followed_jobs_are_those_of_the_table(history, schedule):
    """The table was made by another run: the same start and pieces mean the same job."""
    rows = [job for job in selected("xyz-by2", "first", 8192) if job.seed == Study().slowest.seed]
    line = model()
    for (number, alone, *beside), row in zip(history["milc"], rows, strict=False):
        job = list(schedule.workload.job).index(number)
        assert number >= FIRST_MILC
        assert (round(schedule.start_s[job] / 86_400, 2), schedule.run_count[job]) == (row.day, row.runs)
        slowness = (row.own, *row.slowness())
        assert [alone, *beside] == [round(line.run_time_s(Run(each, row.reduce_us / 10, 0.0))) for each in slowness]
    # The one that is told of is the slowest of twenty histories in these days, and is shown just after its start.
    slowest = max(job.slowness() for job in selected("xyz-by2", "first", 8192) if job.day < 3)
    told = next(row for (number, *_), row in zip(history["milc"], rows, strict=False) if number == history["worth"])
    assert told.slowness() == slowest
    assert 0 < history["shown_s"] / 86_400 - told.day < 0.01
    # Every link has its digit, and some are in use.
    assert {len(at) for at in history["links"]} == {3 * 17 * 8 * 24}
    assert max(max(at) for at in history["links"]) > "5"


def test_a_machine_is_played_followed_and_read(workshop, history, schedule):
    page, at_s = workshop.go(PAGE), history["shown_s"]
    figure = page.locator("#machine")
    expect(figure).to_have_class(re.compile("hopper-machine-live"))
    expect(figure.locator("canvas")).to_have_count(6)
    # It begins with the slowest job in color, and says who waits and why.
    waits = [job for job, start in enumerate(schedule.start_s) if schedule.workload.submit_time_s[job] <= at_s < start]
    first = min(waits, key=lambda job: schedule.workload.submit_time_s[job])
    free = schedule.nodes - len(holders(schedule, at_s))
    told = figure.locator(".hopper-machine-waits").first
    expect(told).to_contain_text(f"{len(waits)} jobs wait for")
    expect(told).to_contain_text("The one that has waited longest, for ")
    expect(told).to_contain_text(f" asks for {schedule.workload.nodes[first]:,} nodes: {free:,} nodes are free.")
    expect(figure.locator(".hopper-machine-told")).to_contain_text("First free nodes, job")
    expect(figure.locator(".hopper-machine-told")).to_contain_text("A run of MILC takes 1,6")
    busy = round(100 * len(holders(schedule, at_s)) / schedule.nodes)
    line = figure.locator(".hopper-machine-line").first
    expect(line).to_contain_text(f"{busy} % busy")
    expect(line).to_contain_text(f"{len(free_runs(schedule, at_s))} free piece")
    # The same beside the courses.
    expect(figure.locator(".hopper-courses strong.one").first).to_have_text(f"{busy} %")

    # The keyboard goes from job to job; the same job is named on the other machine if it runs there.
    figure.locator(".hopper-floor").first.focus()
    page.keyboard.press("ArrowRight")
    expect(figure.locator(".hopper-machine-told")).to_contain_text("First free nodes, job")
    figure.get_by_role("button", name="Next MILC job").click()
    expect(figure.locator(".hopper-machine-told")).to_contain_text("A run of MILC takes")

    time = figure.locator(".hopper-player output")
    before = time.inner_text()
    figure.get_by_role("button", name="Play").click()
    expect(time).not_to_have_text(before)
    figure.get_by_role("button", name="Pause").click()
    figure.get_by_label("Time since the reboot").fill("1440")
    held = holders(schedule, 86_400)
    expect(line).to_contain_text(f"{round(100 * len(held) / schedule.nodes)} % busy, {len(set(held.values()))} jobs,")
    # What is recorded begins with the second day.
    expect(time).to_have_text("day 2, 00:00")
    # The whole of it in words.
    figure.get_by_text("The same as a table").click()
    expect(figure.locator("table tbody tr")).to_have_count(2 * 9)


def test_the_machine_of_the_readers_setting_is_shown(workshop):
    """The job's distance, worked out by the page's script, is the model's."""
    page = workshop.go(PAGE)
    figure, explorer = page.locator("#machine"), page.locator("#explorer-torus")
    expect(figure).to_have_class(re.compile("hopper-machine-live"))
    # An answer that the build has made, and one that Python makes.
    explorer.get_by_role("button", name="The same in blocks").click()
    expect(figure.locator("figcaption")).to_contain_text("for your setting")
    explorer.locator("[name=order]").select_option("hilbert")
    expect(figure.locator(".hopper-part-title").first).to_contain_text("order of the node list: Hilbert curve")
    figure.get_by_role("button", name="Choose the job").click()
    facts = load("torus").run(nodes=342, order="hilbert", busy_fraction=0.9).facts
    told = f"job 1: 342 nodes in {facts['runs']} pieces, {facts['mean_hops']:.1f} hops apart"
    expect(figure.locator(".hopper-machine-told")).to_contain_text(told)
    expect(figure.locator(".hopper-player")).to_be_hidden()
    # Another machine has a floor of its own.
    explorer.locator("[name=floor]").select_option("titan")
    expect(figure.locator(".hopper-part-title").first).to_contain_text("Your setting on Titan (order")
    figure.get_by_role("button", name="Choose the job").click()
    facts = load("torus").run(nodes=342, order="hilbert", busy_fraction=0.9, floor="titan").facts
    expect(figure.locator(".hopper-machine-told")).to_contain_text(
        f"job 1: 342 nodes in {facts['runs']} pieces, {facts['mean_hops']:.1f} hops apart"
    )
    figure.get_by_role("button", name="Show the recording").click()
    expect(figure.locator(".hopper-machine-line")).to_have_count(2)


# Whether it plays, beyond a minute, with links in the first picture; and how often its words change in two seconds.
GLOWS = """(minute) => {
  const lines = document.querySelector("#machine .hopper-torus-links");
  const { data } = lines.getContext("2d").getImageData(0, 0, lines.width, lines.height);
  const playing = document.querySelector("#machine .hopper-play").textContent === "Pause";
  return playing && document.querySelector("#machine .hopper-player input").value > minute && data.some((byte) => byte);
}"""
TOLD = """() => new Promise((done) => {
  let changes = 0;
  const told = new MutationObserver(() => (changes += 1));
  told.observe(document.getElementById("machine"), { subtree: true, childList: true, characterData: true, attributes: true });
  setTimeout(() => done(changes), 2000);
})"""


# Watches for as long as it plays; that it plays, and what it draws, is looked at each time.
@pytest.mark.nightly
def test_links_glow_while_the_readers_machine_plays_and_words_change_seldom(workshop):
    page = workshop.go("book/watching.html")
    figure, explorer = page.locator("#machine"), page.locator("#explorer-fragmentation")
    expect(figure).to_have_class(re.compile("hopper-machine-live"))
    explorer.locator("[name=days]").fill("2")
    expect(figure.locator("figcaption")).to_contain_text("for your setting", timeout=90_000)
    figure.get_by_label("Time since the reboot").fill("300")
    figure.get_by_role("button", name="Play").click()
    assert page.evaluate(TOLD) <= 8
    # Further than the links that were there when it stood still stay.
    page.wait_for_function(GLOWS, arg=300 + 4 * 180, timeout=60_000)


def test_with_less_motion_it_goes_in_steps(workshop):
    workshop.page.emulate_media(reduced_motion="reduce")
    page = workshop.go(PAGE)
    player = page.locator("#scene-stripe .hopper-player")
    player.scroll_into_view_if_needed()
    player.get_by_role("slider").fill("0")
    player.get_by_role("button").click()
    expect(player.locator("output")).to_have_text(re.compile("^[1-5] of"))
    assert float(player.get_by_role("slider").input_value()).is_integer()


def test_mechanisms_say_what_the_models_say(workshop):
    page = workshop.go(PAGE)
    stripe, slow = SCENES["stripe"](), SCENES["slow-ost"]()
    box = page.locator("#scene-stripe")
    box.get_by_label("Stripe count").fill("8")
    expect(box.locator(".hopper-machine-told")).to_contain_text(f"take {stripe['settings'][7]['seconds']:.0f} s")
    box = page.locator("#scene-slow-ost")
    box.get_by_label("Rate of the slow OST").fill("0")
    expect(box.locator(".hopper-machine-told")).to_contain_text(f"takes {slow['settings'][0]['seconds']:.0f} s")
    facts = load("rank-order").run().facts
    box = page.locator("#scene-rank-order")
    expect(box.locator(".hopper-machine-told")).to_have_text(
        f"In boxes of 2 x 4 x 3, {facts['off_node']:,} of {facts['pairs']:,} pairs of neighbors sit on different nodes, "
        f"{facts['off_node_before']:,} as numbered. Each of them is a message through the network. Colors are nodes. "
        "Drawn are the first 8 nodes of 128. Drag the corner of the first node's box."
    )

    box = page.locator("#scene-placement")
    box.get_by_role("button", name="Task 11 on core 11").press("ArrowRight")
    expect(box.get_by_role("button", name="Task 11 on core 12, NUMA node 2")).to_be_visible()
    # Dragged: from its core to another node.
    task, there = (
        box.get_by_role("button", name="Task 0 on core 0").bounding_box(),
        box.get_by_text("NUMA node 3").bounding_box(),
    )
    page.mouse.move(task["x"] + 10, task["y"] + 10)
    page.mouse.down()
    page.mouse.move(there["x"] + 20, there["y"] + 45, steps=4)
    page.mouse.up()
    expect(box.get_by_role("button", name=re.compile("Task 0 on core 1[89]|Task 0 on core 2"))).to_be_visible()
    expect(box.locator(".hopper-machine-told")).to_contain_text("All channels are in use")


def test_a_drawing_is_dragged_and_follows_its_explorer(workshop):
    page = workshop.go(PAGE)
    box = page.locator("#scene-stripe")
    drawing = box.locator("svg")
    drawing.scroll_into_view_if_needed()
    there = box.get_by_text("OST 5").bounding_box()
    page.mouse.move(there["x"] + 5, there["y"] - 30)
    page.mouse.down()
    page.mouse.up()
    expect(box.get_by_label("Stripe count")).to_have_value("6")

    box, explorer = page.locator("#scene-overlap"), page.locator("#explorer-overlap")
    told = box.locator(".hopper-machine-told")
    facts = load("overlap").run().facts
    expect(told).to_contain_text(f"the step takes {facts['time_s']:.1f} s")
    facts = load("overlap").run(overlap=0.75).facts
    box.get_by_label("Share that can run beside").fill("15")
    expect(told).to_contain_text(
        f"If 75 % of the communication can run beside the computation, the step takes {facts['time_s']:.1f} s"
    )
    expect(explorer.locator("[name=overlap]")).to_have_value("0.75")


def test_ranks_are_carried_in_the_order_of_the_explorer(workshop):
    """Their positions follow the model's order, and the box that is chosen or dragged sets the explorer."""
    page = workshop.go(PAGE)
    box, explorer = page.locator("#scene-rank-order"), page.locator("#explorer-rank-order")
    told, block = box.locator(".hopper-machine-told"), explorer.locator("[name=block]")
    explorer.locator("[name=grid]").fill("4x4x2")
    explorer.locator("[name=cores_per_node]").fill("8")
    expect(told).to_contain_text("In boxes of 1 x 2 x 2")
    select = box.get_by_label("Box of the grid for a node")
    boxes = ["as numbered", "2 x 4 x 1", "2 x 2 x 2", "1 x 4 x 2", "1 x 2 x 2"]
    assert select.locator("option").all_inner_texts() == boxes
    box.get_by_role("slider").fill("100")
    order = load("rank-order").run(grid="4x4x2", cores_per_node=8).facts["order"]
    assert box.locator("svg g text").all_text_contents() == [str(rank) for rank in order]
    _, _, *nodes = [node.bounding_box() for node in box.locator(".hopper-slot").all()]
    for position, rank in enumerate(box.locator("svg g rect[fill]").all()):
        at, node = rank.bounding_box(), nodes[position // 8]
        assert node["x"] < at["x"] < node["x"] + node["width"]
        assert node["y"] < at["y"] < node["y"] + node["height"]
    select.select_option(label="1 x 4 x 2")
    expect(block).to_have_value("1x4x2")
    parted = load("rank-order").run(grid="4x4x2", cores_per_node=8, block="1x4x2").facts["off_node"]
    expect(told).to_contain_text(f"In boxes of 1 x 4 x 2, {parted} of")
    # Dragged to a row of the grid.
    box.scroll_into_view_if_needed()
    grip = box.locator(".hopper-grip circle").bounding_box()
    cell = box.locator(".hopper-grip rect").bounding_box()
    page.mouse.move(grip["x"] + 7, grip["y"] + 7)
    page.mouse.down()
    page.mouse.move(cell["x"] + 4 * cell["width"], cell["y"] + cell["height"] / 4)
    page.mouse.up()
    expect(block).to_have_value("4x1x1")
    expect(told).to_contain_text("As the ranks are numbered")


def test_my_machine_is_chosen_once(workshop, tmp_path, root):
    page = workshop.go(PAGE)
    page.get_by_label("My machine").select_option("perlmutter")
    expect(page.locator(".hopper-machine-said")).to_have_text(says(Machine.load("perlmutter")))
    expect(page.locator("#hopper-today")).to_contain_text(says(Machine.load("perlmutter")))
    # Another page knows it, and its explorer answers for it.
    page.locator("#explorer-memory").scroll_into_view_if_needed()
    expect(page.locator("#explorer-memory [name=machine]")).to_have_value("perlmutter")
    page = workshop.go("book/placement.html")
    explorer = page.locator("#explorer-place")
    # The example's own machine stays until the line is the reader's.
    expect(explorer.locator("[name=machine]")).to_have_value("hopper")
    explorer.get_by_label("Launch line or batch script").fill("srun -n 8 ./a.out")
    expect(explorer.locator("[name=machine]")).to_have_value("perlmutter")

    # A file takes its place; one that is none says why.
    (tmp_path / "none.toml").write_text("title = 3\n", encoding="utf-8")
    page.locator("#hopper-my-machine-file").set_input_files(tmp_path / "none.toml")
    expect(page.locator(".hopper-machine-said")).to_contain_text("must be text")
    text = (root / "hopperlib" / "machines" / "toy.toml").read_text(encoding="utf-8")
    title = re.search(r'^title = "(.+)"', text, re.MULTILINE)[1]
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    page.locator("#hopper-my-machine-file").set_input_files(tmp_path / "own.toml")
    expect(page.locator(".hopper-machine-said")).to_contain_text("from your file own.toml")
    expect(page.get_by_label("My machine").locator("option:checked")).to_have_text(title)
    assert "toy" not in page.url
    # It is chosen in the explorer's own menu too, and left there.
    menu = explorer.locator("[name=machine]")
    summary = explorer.locator(".hopper-summary")
    expect(menu.locator("option:checked")).to_have_text(f"{title} (your file)")
    expect(summary).to_contain_text(title)
    menu.select_option(label="Perlmutter")
    expect(summary).to_contain_text("Perlmutter")
    expect(explorer.locator("[name=machine_file]")).to_have_value("")
    menu.select_option(label=f"{title} (your file)")
    expect(summary).to_contain_text(title)
    explorer.get_by_role("button", name="Reset").click()
    expect(menu.locator("option:checked")).to_have_text("Hopper")
    # An explorer whose example still stands offers it.
    page = workshop.go("book/placement.html")
    expect(page.locator("#explorer-place [name=machine] option").last).to_have_text(f"{title} (your file)")


def test_a_centre_sets_its_own_machine(monkeypatch, tmp_path, root):
    monkeypatch.setenv("HOPPER_MACHINE", str(root / "hopperlib" / "machines" / "toy.toml"))
    own = json.loads(machines_module().decode().split("export const own = ")[1].rstrip(";\n"))
    assert own["title"] == Machine.load("toy").title
    assert Machine.from_toml(own["file"]).name == "toy"
    (tmp_path / "none.toml").write_text("title = 3\n", encoding="utf-8")
    monkeypatch.setenv("HOPPER_MACHINE", str(tmp_path / "none.toml"))
    with pytest.raises(ExtensionError, match=r"MACHINE=.*none.toml: .*must be text"):
        machines_module()


RULE = """
[[rule]]
code = "SITE-PURGED"
title = "The job reads files that the purge has removed"
class = "user"
role = "cause"
anchors = ["was purged from scratch"]
regex = '''was purged from scratch'''
who = "user"
confirm = "Look."
advice = ["Copy it again."]
source = "the guide of the site"
sample = "composed"
positive = ["input.nc was purged from scratch"]
negative = ["input.nc will be removed"]
"""
EXAMPLES = """
[[place]]
label = "Ours"
values.line = "srun -n 4 ./a.out"

[[memory]]
label = "Elsewhere"
values = { machine = "hopper", need_gb = 1.5 }
"""


@pytest.fixture
def site(monkeypatch, tmp_path, root):
    """Write a center's files next to its machine file."""
    (tmp_path / "site.toml").write_bytes((root / "hopperlib" / "machines" / "toy.toml").read_bytes())
    (tmp_path / "rules.toml").write_text(RULE, encoding="utf-8")
    (tmp_path / "examples.toml").write_text(EXAMPLES, encoding="utf-8")
    monkeypatch.setenv("HOPPER_MACHINE", str(tmp_path / "site.toml"))
    monkeypatch.setenv("HOPPER_RULES", "")
    return tmp_path


def test_a_centre_has_its_own_examples_and_rules(site):
    (ours,) = site_examples(load("place"))
    assert ours.label == "Ours"
    assert Machine.from_toml(ours.values["machine_file"]).name == "toy"
    # One that names another machine is left as it is.
    (elsewhere,) = site_examples(load("memory"))
    assert elsewhere.values == {"machine": "hopper", "need_gb": 1.5}
    page = explorer_html(load("place"), key="place")
    assert page.index("Ours") < page.index(load("place").examples[0].label)
    assert any(rule.code == "SITE-PURGED" for rule in read_rules(rule_texts()))
    assert '"SITE-PURGED"' in staged_rules()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rules.toml", RULE.replace('who = "user"', 'who = "nobody"'), "who = 'nobody'"),
        ("examples.toml", "[[place", "examples.toml: is not TOML"),
    ],
)
def test_what_lies_beside_the_machine_and_cannot_be_used_is_named(site, name, text, message):
    (site / name).write_text(text, encoding="utf-8")
    with pytest.raises(ExtensionError, match=message):
        load_site(site / "site.toml")


def test_a_centre_has_the_pages_of_the_book_its_tools_first(root):
    book, own = ((root / "book" / f"_toc{name}.yml").read_text(encoding="utf-8") for name in ("", "-site"))
    pages = [re.findall(r"file: (.+)", text) for text in (book, own)]
    assert sorted(pages[0]) == sorted(pages[1])
    assert pages[1].index("notebooks/own/your-errors") < pages[1].index("notebooks/node/placement")


def test_the_rules_of_a_centre_are_tried_on_their_samples(site, root):
    def tried():
        command = [sys.executable, str(root / "scripts" / "try_rules.py"), str(site / "rules.toml")]
        return subprocess.run(
            command, cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False
        )

    assert tried().returncode == 0
    (site / "rules.toml").write_text(
        RULE.replace("input.nc will be removed", "old.nc was purged from scratch"), encoding="utf-8"
    )
    assert tried().returncode == 1
    assert "SITE-PURGED: 'old.nc was purged from scratch' matches SITE-PURGED" in tried().stderr
