"""The story of the page on variability, and its first half: from three printed run times to what slows one job down."""

from collections.abc import Sequence

from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.milc_samples import BASE, TIME_AXIS, TOP, named, second_half, time_axis
from hopperbook.site.stories.story import Step, Story
from hopperbook.site.stories.two_jobs import Link, dimensions, drawn_jobs, slowest_links
from hopperbook.studies.network.fragmentation import population
from hopperbook.studies.network.variability import spread_by_cause

_PRINTED = ("blue", "orange", "red")


def _three() -> Step:
    blue, orange, red = map(named, _PRINTED)
    mean = named("table-total-mean")
    drawing = Drawing()
    time_axis(drawing)
    for time_s, place, y in ((blue, "tightly packed", 70), (orange, "scattered", 135), (red, "scattered", 200)):
        # Its end is what counts, as the axis does not begin at 0: a dot, and no bar.
        at_end = time_s == red
        drawing.line(TIME_AXIS.at(time_s), y, TIME_AXIS.at(time_s), BASE, "guide")
        drawing.add("circle", "printed-dot", cx=TIME_AXIS.at(time_s), cy=y, r=7)
        words = TIME_AXIS.at(time_s) + (-13 if at_end else 13)
        drawing.words(words, y + 5, f"{place}: {time_s:,.0f} s", "strong", anchor="end" if at_end else "")
    drawing.line(TIME_AXIS.at(mean), BASE, TIME_AXIS.at(mean), BASE - 28, "printed")
    drawing.words(TIME_AXIS.at(mean) + 6, BASE - 14, f"mean of all runs: {mean:,.0f} s", "printed-words")
    alt = f"Three dots on an axis of run times: {blue:,.0f} s tightly packed, {orange:,.0f} s and {red:,.0f} s scattered. The mean of all runs is {mean:,.0f} s."
    text = (
        f"NERSC ran MILC again and again: the same input on the same {named('milc-cores'):,.0f} cores. On nodes that were close "
        f"together a run took {blue:,.0f} s. Two runs on scattered nodes took {orange:,.0f} s and {red:,.0f} s.\n\n"
        "The page shows one difference: where the nodes were. What about them makes a run take almost three times as long?"
    )
    return Step("Three runs of one input", text, drawing.svg("Three printed run times", alt), ("documented",))


def _two_maps() -> Step:
    jobs, size = drawn_jobs(), dimensions()
    maps = [job.by_column(size) for job in jobs]
    most = max(count for rows in maps for row in rows for count in row)
    drawing, descriptions = Drawing(), []
    for name, left, job, rows in zip("AB", (24, 240), jobs, maps, strict=True):
        time_s = min(job.times_s) if name == "A" else max(job.times_s)
        drawing.words(left, 20, f"job {name}: {time_s:,.0f} s", "strong")
        drawing.words(left, 38, f"{job.job.runs} pieces, {job.job.hops_geminis:.1f} hops", "muted")
        drawing.cells(left, 48, 10, rows, most)
        drawing.words(left, 306, "X, from left to right; Z, downwards", "muted small")
        descriptions.append(
            f"job {name} in {job.job.runs} pieces, {job.job.hops_geminis:.1f} hops apart on average, {time_s:,.0f} s"
        )
    drawing.words(24, 332, "darker: more nodes of the job at that X and Z", "muted")
    alt = f"Two maps of the torus with the nodes of a job, both spread over most of it: {'; '.join(descriptions)}."
    quick, slow = jobs
    text = (
        f"The figures of those runs are lost, so here is a model: {len(population()):,} jobs of this size, placed on a simulated "
        "Hopper full of other jobs. These two are its quickest and its slowest.\n\n"
        f"Both are scattered: A in {quick.job.runs} pieces, B in {slow.job.runs}. Two routers of A are {quick.job.hops_geminis:.1f} hops apart on average, "
        f"of B {slow.job.hops_geminis:.1f}. The distances do not show why B takes {max(slow.times_s) / min(quick.times_s):.1f} times as long."
    )
    return Step("Two jobs on the torus", text, drawing.svg("Two jobs on the torus", alt), ("predicted",))


def _alone() -> Step:
    use, job = slowest_links(), drawn_jobs()[1]
    shares = sorted(use.alone.values(), reverse=True)
    drawing = Drawing()
    across, up = Axis(0, len(shares), 60, 424), Axis(0, 1, BASE, TOP)
    up.up_the_side(
        drawing, 60, [(0, "0 %"), (0.5, "50 %"), (1, "100 %")], "how full a link is, with B alone on the machine"
    )
    # Few points are enough, except where the curve is steep.
    points = [*range(40), *range(40, len(shares), 60), len(shares) - 1]
    curve = [(across.at(at), up.at(shares[at])) for at in points]
    drawing.path([(60, BASE), *curve, (424, BASE)], "area")
    drawing.path(curve, "curve")
    across.along_the_bottom(drawing, BASE, range(0, len(shares), 1000), "links of job B, the fullest first")
    drawing.add("circle", "dot", cx=across.at(0), cy=up.at(1), r=5)
    drawing.words(across.at(0) + 12, up.at(1) + 5, "the busiest link", "strong")
    middle = across.at(len(shares) / 2)
    drawing.words(
        middle, up.at(use.median_alone) - 12, f"half are below {100 * use.median_alone:.0f} %", anchor="middle"
    )
    alt = f"The use of {len(shares):,} links in order: one is full, half are below {100 * use.median_alone:.0f} percent, most of the curve is flat near zero."
    text = (
        f"Remove all other jobs from the machine. B sends over {len(shares):,} links. When the first of them is full, half of the others "
        f"are not even {100 * use.median_alone:.0f} % full.\n\n"
        f"In each step MILC waits for its last message, so that one link sets the pace of all {len(job.places)} nodes. "
        f"Alone, B takes {job.alone_s:,.0f} s: still less than the printed mean."
    )
    return Step("Its busiest link", text, drawing.svg("How full the links of job B are", alt), ("predicted",))


def _crossed(link: Link, ring: Sequence[Link]) -> str:
    """Return a link by the routers at its ends."""
    axis, router, direction = link
    return f"{router[axis]}→{(router[axis] + direction) % len(ring)}"


def _neighbors() -> Step:
    use, job = slowest_links(), drawn_jobs()[1]
    ring, full = use.ring, use.fullest
    drawing, up = Drawing(), Axis(0, 1, BASE, TOP)
    up.up_the_side(drawing, 60, [(0, "0 %"), (0.5, "50 %"), (1, "100 %")], "how full a link is, with all jobs running")
    wide = 364 / len(ring)
    for number, link in enumerate(ring):
        x, total, job_load = 66 + number * wide, use.total[link], use.own.get(link, 0.0)
        drawing.box(x, up.at(total), wide - 8, up.at(job_load) - up.at(total), "others")
        drawing.box(x, up.at(job_load), wide - 8, BASE - up.at(job_load), "job")
        drawing.words(x + wide / 2 - 4, BASE + 19, _crossed(link, ring), "muted", anchor="middle")
    axis, router, _ = full
    fixed = ", ".join(f"{'XYZ'[other]} {router[other]}" for other in range(3) if other != axis)
    drawing.words(242, BASE + 38, f"links of a ring along {'XYZ'[axis]} ({fixed})", "muted", anchor="middle")
    drawing.box(70, 80, 12, 12, "others")
    drawing.words(88, 91, "other jobs")
    drawing.box(70, 102, 12, 12, "job")
    drawing.words(88, 113, "job B")
    share = use.own[full] / use.total[full]
    alt = f"Bars of the {len(ring)} links of one ring. One is full: {100 * share:.0f} percent of what it carries is job B's, the rest is its neighbors'. The others are at most {100 * max(use.total[link] for link in ring if link != full):.0f} percent full."
    text = (
        f"Now let the other jobs run: {job.job.running - 1} were running when B started. What they send is assumed, as no source prints it.\n\n"
        f"A different link fills up. Of what it carries, {100 * share:.0f} % belongs to B; the rest is other jobs' traffic. B waits for it all "
        f"the same, and its time rises from {job.alone_s:,.0f} to {job.quiet_s[0]:,.0f} s."
    )
    return Step(
        "Neighbors added", text, drawing.svg("The ring of the link that holds job B up", alt), ("predicted", "assumed")
    )


def _noise() -> Step:
    job, spread = drawn_jobs()[1], spread_by_cause()
    causes = {
        "shape of the job alone": spread.own_shape_s,
        "added by neighbors": spread.neighbors_s,
        "added by noise": spread.noise_s,
    }
    drawing, across = Drawing(), Axis(0, 150, 36, 424)
    drawing.words(4, 26, "what makes run times differ, in standard deviations", "muted")
    for number, (name, seconds) in enumerate(causes.items()):
        y = 62 + 76 * number
        drawing.words(36, y, name)
        drawing.box(
            36, y + 10, across.at(seconds) - 36, 26, "job" if number == 0 else "others" if number == 1 else "noise"
        )
        drawing.words(across.at(seconds) + 8, y + 28, f"{seconds:.0f} s", "strong")
    across.along_the_bottom(drawing, BASE, (0, 50, 100, 150), "seconds")
    alt = "Three bars: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in causes.items()) + "."
    first, second, third = (f"{time:,.0f}" for time in job.times_s)
    text = (
        f"Each job runs MILC three times on the same nodes. With noise, B takes {first}, {second} and {third} s. NERSC's page says "
        "that runs on the same nodes varied very little, and the model takes that over.\n\n"
        f"Over all jobs the shape of a job spreads its times by {spread.own_shape_s:.0f} s, its neighbors by {spread.neighbors_s:.0f} s and noise by {spread.noise_s:.0f} s."
    )
    return Step("Noise added", text, drawing.svg("Spread of the run times by cause", alt), ("predicted", "assumed"))


def story() -> Story:
    """Return the story.

    Examples
    --------
    >>> story().steps[0].title
    'Three runs of one input'
    """
    steps = (_three(), _two_maps(), _alone(), _neighbors(), _noise(), *second_half())
    return Story("From three run times to a cause", steps)
