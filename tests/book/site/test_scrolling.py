"""Figures that are scrolled through, on the built pages: with and without a script, by keys, on a phone, on paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

PAGES = {
    "milc": "notebooks/network/variability.html",
    "placement": "notebooks/node/placement.html",
    "striping": "notebooks/storage/striping.html",
    "iobuf": "notebooks/storage/iobuf.html",
}


# Each story has each of its tests, and at night each has all of them.
def pages(*in_every_run):
    return [name if name in in_every_run else pytest.param(name, marks=pytest.mark.nightly) for name in PAGES]


WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

# Of each step: whether it is the one shown, and where its text and its picture are on the screen.
STEPS = """(story) => [...story.querySelectorAll(".hopper-story-step")].map((step) => {
  const [text, picture] = [".hopper-story-text", ".hopper-story-picture"].map((part) => step.querySelector(part));
  const box = (each) => { const { top, bottom, left, right } = each.getBoundingClientRect(); return { top, bottom, left, right }; };
  const words = [...text.children].map(box);
  return {
    now: step.classList.contains("hopper-now"), seen: Number(getComputedStyle(picture).opacity), picture: box(picture), svg: box(picture.querySelector("svg")),
    words: { top: words[0].top, bottom: words.at(-1).bottom, left: words[0].left, right: Math.max(...words.map(({ right }) => right)) },
  };
})"""
# The text of a step is brought to where it is read, at once.
READ = """(story, [step, block]) => story.querySelectorAll(".hopper-story-text")[step].scrollIntoView({ block, behavior: "instant" })"""


def steps_of(page):
    return page.locator(".hopper-story").first.evaluate(STEPS)


def read(page, step, block="center"):
    """Scroll to a step, and wait until its picture is shown."""
    story = page.locator(".hopper-story").first
    story.evaluate(READ, [step, block])
    expect(story.locator(".hopper-story-step").nth(step)).to_have_class("hopper-story-step hopper-now")
    expect(story.locator(".hopper-story-picture").nth(step)).to_have_css("opacity", "1")


def apart(one, other):
    """Whether two boxes have nothing in common."""
    return (
        one["right"] <= other["left"] + 1
        or other["right"] <= one["left"] + 1
        or one["bottom"] <= other["top"] + 1
        or other["bottom"] <= one["top"] + 1
    )


@pytest.mark.parametrize("name", pages("milc"))
def test_the_picture_follows_the_text(looking, name):
    looking.page.set_viewport_size(WIDE)
    page = looking.go(PAGES[name])
    count = len(steps_of(page))
    for step in (*range(count), 0):
        read(page, step)
        steps = steps_of(page)
        assert [each["now"] for each in steps] == [number == step for number in range(count)]
        shown = steps[step]
        assert 0 <= shown["svg"]["top"] < shown["svg"]["bottom"] <= WIDE["height"], step
        assert apart(shown["words"], shown["picture"]), step
    tall = page.locator(".hopper-story").first.evaluate("(story) => story.offsetHeight")
    assert tall <= 12 * WIDE["height"]


@pytest.mark.parametrize("name", pages("placement"))
def test_on_a_phone_the_text_is_read_below_the_picture(looking, name):
    looking.page.set_viewport_size(PHONE)
    page = looking.go(PAGES[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for step in range(len(steps_of(page))):
        read(page, step, "end")
        shown = steps_of(page)[step]
        # The first has its place below what is above the figure.
        lowest = PHONE["height"] * (0.6 if step else 1)
        assert 0 <= shown["svg"]["top"] < shown["svg"]["bottom"] <= lowest, step
        assert shown["picture"]["bottom"] <= shown["words"]["top"] + 1, step
        assert shown["words"]["bottom"] <= PHONE["height"], step
        # 13 units of 440 are a letter's height.
        assert 13 / 440 * (shown["svg"]["right"] - shown["svg"]["left"]) >= 9
    assert page.locator(".hopper-story").first.evaluate("(story) => story.offsetHeight") <= 12 * PHONE["height"]


def test_by_keys(looking):
    page = looking.go(PAGES["milc"])
    story = page.locator(".hopper-story")
    count = len(steps_of(page))
    following, back = (story.get_by_role("button", name=name) for name in ("Next", "Back"))
    following.focus()
    for step in range(1, count):
        page.keyboard.press("Enter")
        expect(story.locator("output")).to_have_text(f"{step + 1} of {count}")
        expect(story.locator(".hopper-story-picture").nth(step)).to_have_css("opacity", "1")
    # At the end the button stays where it is, with the focus, and does nothing.
    expect(following).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Enter")
    expect(story.locator("output")).to_have_text(f"{count} of {count}")
    expect(following).to_be_focused()
    back.press("Enter")
    expect(story.locator("output")).to_have_text(f"{count - 1} of {count}")
    # Three stops at most for who only passes: two buttons, and the box for times.
    assert story.locator("a[href], button, input, textarea, [tabindex]").count() == 3


def test_nothing_moves_for_those_who_want_less_motion(looking):
    looking.page.emulate_media(reduced_motion="reduce")
    page = looking.go(PAGES["milc"])
    story = page.locator(".hopper-story")
    story.evaluate(READ, [0, "center"])
    assert (
        story.locator(".hopper-story-picture").first.evaluate("(each) => getComputedStyle(each).transitionDuration")
        == "0s"
    )
    before = page.evaluate("scrollY")
    moved = page.evaluate(
        """() => { document.querySelector(".hopper-story-bar [data-by='1']").click();
          return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(scrollY)))); }"""
    )
    # It is there at the next frame, and stays.
    assert moved > before + 100
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") == moved


@pytest.mark.parametrize("name", pages("striping"))
def test_without_a_script_the_pictures_stand_one_after_the_other(watch, site_url, name):
    watched = watch(site_url, java_script_enabled=False, viewport=WIDE)
    page = watched.page
    page.goto(f"{site_url}/{PAGES[name]}")
    pictures, texts = page.locator(".hopper-story-picture").all(), page.locator(".hopper-story-text").all()
    bottom = 0.0
    for picture, text in zip(pictures, texts, strict=True):
        box, words = picture.bounding_box(), text.bounding_box()
        assert min(box["y"], words["y"]) >= bottom
        assert box["x"] >= words["x"] + words["width"]
        bottom = max(box["y"] + box["height"], words["y"] + words["height"])
        expect(picture).to_have_css("opacity", "1")
    for button in page.locator(".hopper-story button, .hopper-story textarea").all():
        expect(button).to_be_hidden()
    assert watched.strangers == []


@pytest.mark.parametrize("name", pages("iobuf"))
def test_on_paper_each_step_is_a_printed_picture(looking, name):
    page = looking.go(PAGES[name])
    read(page, 2)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 794, "height": 1123})
    steps = steps_of(page)
    assert [step["seen"] for step in steps] == [1] * len(steps)
    boxes = [step["svg"] for step in steps]
    assert all(apart(one, other) for at, one in enumerate(boxes) for other in boxes[:at])
    assert all(apart(step["svg"], step["words"]) for step in steps)
    assert all(step["svg"]["right"] - step["svg"]["left"] >= 250 for step in steps)
    expect(page.locator(".hopper-story-bar").first).to_be_hidden()


def test_the_readers_times_are_laid_over(looking):
    page = looking.go(PAGES["milc"])
    box = page.get_by_label("Your run times")
    status = page.locator(".hopper-story-times [role=status]")
    lines = page.locator(".hopper-story .readers line")
    box.fill("400 500 1000 s")
    expect(status).to_have_text("Your slowest run takes 2.50 times as long as your quickest.")
    # The axis reaches from 1 to 3.
    left, right = 36, 424
    assert [float(line.get_attribute("x1")) for line in lines.all()] == pytest.approx(
        [left, left + 0.125 * (right - left), left + 0.75 * (right - left)]
    )
    box.fill("100 1000 350")
    expect(status).to_contain_text("10.00 times as long as your quickest; 2 of 3 are beyond the axis")
    box.fill("no time")
    expect(status).to_contain_text("No run time is in this text")
    expect(lines).to_have_count(0)
    box.fill("")
    expect(status).to_be_empty()


@pytest.mark.parametrize("page", ["placement", pytest.param("milc", marks=pytest.mark.nightly)])
def test_nothing_of_a_story_is_covered(watch, site_url, page):
    page = watch(site_url, viewport=WIDE).go(PAGES[page])
    expect(page.locator(".hopper-story-text").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_a_story(looking, axe, theme):
    looking.page.emulate_media(color_scheme=theme)
    page = looking.go(PAGES["milc"])
    page.evaluate(axe)
    found = page.evaluate(
        "axe.run('.hopper-story').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
    )
    assert found == []
