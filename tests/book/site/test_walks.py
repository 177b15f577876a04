"""Readers' ways from the front page to what they came for: at most three presses, the verdict on the screen they come to.

Five walks are held to: a student, a trainee and a support engineer here, a lecturer who wants two pages in `test_teaching`
(`test_a_handout_fills_two_pages_of_paper`), a veteran of MILC in `test_scrolling` and `test_stories`.
"""

from __future__ import annotations

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
