"""Readers' paths from the front page to their goal: at most three clicks, with the verdict on the screen where they arrive.

Five walks are held to: a student, a trainee, a support engineer, a lecturer who wants two pages (how the other handouts
are printed: `test_teaching`), and a veteran of MILC (how the figure is read: `test_scrolling`, `test_stories`).
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed."

# What they have in hand -> the card, what they type, at which control, the verdict, and what they take along.
WALKS = {
    "the line to submit": (
        "place",
        "Is this launch line right?",
        "Launch line",
        "aprun -n 768 -N 12 vasp",
        "aprun -n 768 -N 12 -S 3 vasp",
    ),
    "the layout": ("memory", "I do not have enough memory", "Memory per task", "4", "nodes"),
    "the cause": ("diagnose", "My job was killed, or printed an error", "Output of the job", OOM, "memory"),
    "the stripe command": (
        "stripe",
        "My program reads and writes slowly",
        "Size of the data",
        "31000",
        "lfs setstripe",
    ),
}


# The shortest way and the one that pastes an error in every run; all four at night.
FEW = ("the line to submit", "the cause")


@pytest.mark.parametrize(
    "walk", [walk if walk in FEW else pytest.param(walk, marks=pytest.mark.nightly) for walk in WALKS]
)
def test_a_reader_comes_to_what_they_need(watch, site_url, walk):
    name, card, control, typed, taken = WALKS[walk]
    # A reader who has never been here.
    watched = watch(site_url)
    for size, viewport in SIZES.items():
        watched.page.set_viewport_size(viewport)
        page = watched.go("book/index.html")
        page.locator(".sd-card", has_text=card).click()
        page.wait_for_url(lambda url: "book/index.html" not in url)
        page.wait_for_selector("html.hopper-ready", state="attached")
        box = page.locator(f"#explorer-{name}")
        verdict = box.locator(".hopper-summary")
        expect(verdict).to_be_in_viewport()
        before = verdict.inner_text()
        box.get_by_label(control).first.fill(typed)
        expect(verdict).not_to_have_text(before)
        # Without another press, and on a wide screen without scrolling: on a phone the field stands below what it moves.
        if size == "wide":
            expect(verdict).to_be_in_viewport()
        expect(box).to_contain_text(taken)
        page.evaluate("localStorage.clear()")
    watched.assert_clean()


SLOW = """#!/bin/bash
#SBATCH -A m1234
#SBATCH -C cpu
#SBATCH -q regular
#SBATCH -N 2
srun -n 64 vasp_std
"""
BETTER = "srun -n 64 -c 8 --cpu-bind=cores vasp_std"


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES)
def test_a_student_copies_the_line_of_a_slow_script(watch, site_url, size):
    """The script is pasted on the first page; the first thing to copy is the line of the sentence."""
    watched = watch(site_url, viewport=SIZES[size])
    page = watched.go("book/index.html")
    box = page.locator("#explorer-identify")
    box.locator("textarea[name=text]").fill(SLOW)
    expect(box.locator(".hopper-summary")).to_contain_text(f"Better: {BETTER}")
    expect(box.locator(".hopper-copyable").first).to_contain_text(BETTER)
    watched.assert_clean()


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES)
def test_a_trainee_goes_through_a_page_and_finds_it_in_the_progress(watch, site_url, size):
    """From the routes to a study, its prediction, a thing to try, and the mark that it is read."""
    watched = watch(site_url, viewport=SIZES[size])
    page = watched.go("book/routes.html")
    page.locator("#trainee").get_by_role("link", name="Where the tasks land").click()
    page.wait_for_url("**/notebooks/node/placement.html")
    page.wait_for_selector("html.hopper-ready", state="attached")
    check = page.locator("#check-placement-predict-fill")
    check.locator("input[value='11']").check(force=True)
    check.get_by_role("button", name="Commit").click()
    expect(check).to_contain_text("aprun fills NUMA node 0 with six tasks")
    page.locator('[data-explorer="place"] button, button[data-explorer="place"]').first.click()
    expect(page.locator("#explorer-place .hopper-summary")).to_contain_text("3 on each of 4 NUMA nodes")
    page.get_by_role("button", name="Mark as read").click()
    page = watched.go("book/progress.html")
    expect(page.locator("article")).to_contain_text("Where the tasks land")
    watched.assert_clean()


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES)
def test_a_support_engineer_checks_a_script_on_a_machine_of_another_center(watch, site_url, root, size):
    """Their machine's file is chosen at the top; for a script that requests more nodes than it has, the refusal names it."""
    watched = watch(site_url, viewport=SIZES[size])
    page = watched.go("notebooks/node/placement.html")
    page.locator("#hopper-my-machine-file").set_input_files(root / "tests" / "book" / "site" / "center" / "site.toml")
    expect(page.locator(".hopper-machine-said")).to_contain_text("from your file site.toml")
    box = page.locator("#explorer-place")
    box.get_by_label("Launch line or batch script").fill("#SBATCH -p gpu\n#SBATCH -N 5\nsrun -n 20 ./a.out")
    expect(box).to_contain_text("asks for 5 nodes; Brindle has 4 of kind 'gpu'")
    watched.assert_clean()


# Each in every run at the size at which it is likelier, at both at night.
BOTH = ["wide", pytest.param("phone", marks=pytest.mark.nightly)]


@pytest.mark.parametrize("size", BOTH)
def test_a_lecturer_finds_two_pages_to_print(watch, site_url, size):
    """From the first page to the handout of a study in three presses; it is two pages of paper."""
    watched = watch(site_url, viewport=SIZES[size])
    page = watched.go("book/index.html")
    page.get_by_role("link", name="notes for a half-day course").click()
    page.wait_for_url("**/book/course.html*")
    page.locator(".bd-article").get_by_role("link", name="handout").click()
    page.wait_for_url("**/book/workshop.html#workshop-sheets-and-handouts")
    row = page.locator(".bd-article tr").filter(has_text="Where the tasks land").filter(has_text="handout")
    row.get_by_role("link", name="handout").click()
    page.wait_for_url("**/handouts/node/placement.html")
    expect(page.get_by_role("heading", name="Where the tasks land", exact=True)).to_be_visible()
    paper = page.pdf(format="A4", margin={"top": "12mm", "bottom": "12mm"})
    assert len(re.findall(rb"/Type\s*/Page[^s]", paper)) == 2
    watched.assert_clean()


# As fast as most people read. [words a minute]
READING = 238


@pytest.mark.parametrize("size", BOTH)
def test_a_veteran_knows_the_cause_after_three_minutes(watch, site_url, size):
    """The cause is in one sentence near the top, and in pictures after three clicks; reading until then takes the time."""
    watched = watch(site_url, viewport=SIZES[size])
    page = watched.go("notebooks/network/variability.html")
    sentence = page.locator(".bd-article p", has_text="In one sentence")
    expect(sentence).to_contain_text("a job runs at the pace of its busiest link")
    box = sentence.bounding_box()
    # Read without a scroll on a wide screen, after one on a phone.
    assert box["y"] + box["height"] <= (1 if size == "wide" else 1.5) * SIZES[size]["height"]
    story = page.locator(".hopper-story")
    above = page.locator("#the-question > p").all_inner_texts()
    steps = story.locator(".hopper-story-text").all_inner_texts()
    read = [*above, *steps[:4]]
    assert 200 < sum(len(text.split()) for text in read) <= 3 * READING
    assert "one link sets the pace of all 342 nodes" in read[-2]
    assert "A different link fills up" in read[-1]
    for step in range(2, 5):
        story.get_by_role("button", name="Next").click()
        expect(story.locator("output")).to_have_text(f"{step} of {len(steps)}")
    expect(story.locator(".hopper-story-picture").nth(3)).to_have_css("opacity", "1")
    watched.assert_clean()
