"""Four readers' ways from the front page to what they came for: at most three presses, the verdict on the screen they come to."""

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
