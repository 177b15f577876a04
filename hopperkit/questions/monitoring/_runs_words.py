"""Text of the answer on differing runs: its headline and its findings."""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from hopperkit.questions.monitoring._runs_next import next_run, nodes_among
from hopperkit.variation.effects import Effect
from hopperkit.variation.explanation import Explanation
from hopperkit.variation.factors import DATE
from hopperkit.variation.robust import spread_of
from hopperkit.variation.separation import LEVEL, Separation
from hopperkit.variation.shape import LEVEL as SHAPE_LEVEL
from hopperlib.finding import Finding, Level
from hopperlib.text import capital, count, digits, listed, share

_MOST_NAMED = 4
_MOST_SIZES, _MOST_TIED = 6, 8
_EVEN = 1.5
_HALF = 0.5


def headline(found: Explanation) -> str:
    """The shape of the runs, and the column that separates them, in one or two sentences.

    Parameters
    ----------
    found : Explanation

    Examples
    --------
    >>> from hopperkit.readers.runs_table import read_runs
    >>> from hopperkit.variation.explanation import explain
    >>> headline(explain(read_runs("815 809 822 801 1402 818 812 826 1190 820")))
    '2 of 10 runs are slow: 1,402 and 1,190 s, 1.72 and 1.46 times the 816.5 s of the others, which differ by 0.91 %.'
    """
    sentences = {
        "two groups": _two_groups,
        "step": _step,
        "drift": _drift,
        "wanders": _wanders,
        "few slow": _few,
        "few fast": _few,
        "one group": _one_group,
        "too few": _too_few,
    }[found.shape.kind](found)
    column = column_sentence(found)
    if found.scaling is not None:
        return _sizes(found)
    if found.shape.kind == "one group" and found.best is not None:
        return f"{column} {_left_over(found)}"
    return f"{sentences} {column}" if column else sentences


def _sizes(found: Explanation) -> str:
    """The time and efficiency of each size, and what stands out from the other runs of its size."""
    scaling = found.scaling
    assert scaling is not None
    shown = list(zip(scaling.sizes, scaling.times, scaling.efficiencies, strict=True))
    several = f"{len(shown)} sizes by column {scaling.column}, {scaling.sizes[0]:g} to {scaling.sizes[-1]:g}"
    if len(shown) > _MOST_SIZES:
        shown = [shown[0], *shown[1 - _MOST_SIZES :]]
    times = listed([f"{_amount(found, time)} on {size:g}" for size, time, _ in shown])
    text = f"{capital(several)}: {times}."
    if scaling.times[-1] < scaling.times[0]:
        efficiencies = listed([f"{share(part)} on {size:g}" for size, _, part in shown[1:]])
        text += f" Efficiency against {scaling.sizes[0]:g}: {efficiencies}."
    kind, apart = found.shape.kind, len(found.shape.slow)
    if kind in ("few slow", "few fast", "two groups"):
        extreme = "fast" if kind == "few fast" else "slow"
        text += f" {count(apart, 'run')} {'is' if apart == 1 else 'are'} {extreme} for {'its' if apart == 1 else 'their'} size."
    elif kind in ("step", "drift"):
        text += " For their size, the runs changed over time."
    return f"{text} Runs of one size differ by {digits(100 * scaling.spread, 2)} %."


def _left_over(found: Explanation) -> str:
    """The remaining spread after the columns."""
    if found.effects is None:
        return f"Ignoring it, {count(len(found.table.times), 'run')} differ by {_spread(found)}."
    return (
        f"All columns together explain {share(found.effects.explained)} of the variance; the rest differs by "
        f"{digits(100 * found.effects.fit.scale, 2)} %."
    )


def column_sentence(found: Explanation) -> str:
    r"""The column that makes the difference, or the statement that none of those compared does.

    Examples
    --------
    >>> from hopperkit.readers.runs_table import read_runs
    >>> from hopperkit.variation.explanation import explain
    >>> runs = "seconds,build\n10,a\n10.2,a\n15,b\n15.1,b\n10.1,a\n15.2,b\n10.3,a\n15.3,b\n"
    >>> column_sentence(explain(read_runs(runs)))
    'Column build separates them without overlap: b is 49.3 % slower than a.'
    """
    if found.shared is not None:
        names = [_named(found.shared), *_tied_names(found, found.shared)]
        if len(names) > 1:
            return (
                f"{capital(together(names))} are common to the {_extreme(found)} runs, and these runs cannot tell which of "
                f"them matters."
            )
        return f"{capital(names[0])} is common to the {_extreme(found)} runs."
    best = found.best
    if best is None:
        if not found.factors:
            return ""
        if (
            len([factor for factor in found.factors if factor.column != DATE or factor.kind != "set"])
            == len(found.factors)
            == 1
        ):
            return f"{capital(_compared(found))} does not separate them."
        return f"None of {_compared(found)} separates them."
    tied = found.tied(best)
    same = {best.factor.name, *tied, *_same_nodes(found, best), *_spans(found)}
    others = [name for name in found.found if name not in same]
    more = (
        f" {capital(listed(others[:_MOST_NAMED]))} {'makes' if len(others) == 1 else 'make'} a difference, too."
        if others
        else ""
    )
    also = ""
    if tied:
        also = f" {capital(together(_tied_names(found, best)))} {'coincides' if len(tied) == 1 else 'coincide'} with it in these runs: any of them may be the cause."
    return _separates(found, best) + also + more


def _tied_names(found: Explanation, row: Separation) -> list[str]:
    """Names of the nodes and columns that these runs cannot distinguish from one, with the word column where it is one."""
    words = {factor.name for factor in found.factors if factor.kind != "set"}
    return [f"column {name}" if name in words else name for name in found.tied(row)]


def together(names: Sequence[str]) -> str:
    """Names in one list, with the word node once.

    Parameters
    ----------
    names : sequence of str

    Examples
    --------
    >>> together(["node c1", "node c2", "column build"]), together(["rack r1"])
    ('nodes c1 and c2, and column build', 'rack r1')
    """
    nodes = nodes_among(names)
    rest = [name for name in names if not name.startswith("node ")]
    shown = nodes if len(nodes) <= _MOST_TIED else [*nodes[:_MOST_TIED], f"{len(nodes) - _MOST_TIED:,} more"]
    first = f"node{'s' if len(nodes) > 1 else ''} {listed(shown)}" if nodes else ""
    if not rest:
        return first
    return f"{first}, and {listed(rest)}" if first else listed(rest)


def _spans(found: Explanation) -> set[str]:
    """Names of the spans of the day: they overlap, so they are no separate evidence."""
    return {factor.name for factor in found.factors if factor.kind == "set" and factor.column == DATE}


def _same_nodes(found: Explanation, best: Separation) -> set[str]:
    """Nodes and racks that coincide with the best factor, and thus are not separate evidence."""
    if best.factor.kind != "set":
        return set()
    return {factor.name for factor in found.factors if factor.kind == "set"}


def _separates(found: Explanation, best: Separation) -> str:
    """How the best factor separates the runs."""
    factor, overlap = best.factor, " without overlap" if best.exact else ""
    if factor.kind == "set":
        times = _points(found)
        having, without = (median(times[place] for place in side) for side in factor.members())
        slower = having > without
        if factor.column == DATE:
            return (
                f"The hour of the day separates them{overlap}: runs that start from {factor.name.removeprefix('hours ')} take "
                f"{_amount(found, having)}, the others {_amount(found, without)}."
            )
        return (
            f"{capital(factor.name)} separates them{overlap}: runs on it take {_amount(found, having)}, "
            f"the others {_amount(found, without)}{'' if slower else ', so it is the faster one'}."
        )
    effect = found.effect(factor.name)
    if factor.kind == "number":
        if effect is None:
            towards = "longer" if best.z > 0 else "shorter"
            return f"Column {factor.name} is correlated with the time: the larger it is, the {towards} the runs."
        low, high = effect.between
        return f"{capital(_named(best))} makes a difference: from {low} to {high} the time {_changes(effect)}."
    times = _points(found)
    middles = {factor.values[side[0]]: median(times[place] for place in side) for side in factor.members()}
    fast, slow = (
        min(middles, key=lambda kind: (middles[kind], kind)),
        max(middles, key=lambda kind: (middles[kind], kind)),
    )
    verb = "separates them" if best.exact else "makes a difference"
    if effect is not None and not best.exact:
        fast, slow = effect.between
        return f"Column {factor.name} {verb}: {slow} against {fast} is {_percent(effect)}."
    return f"Column {factor.name} {verb}{overlap}: {slow} is {times_slower(middles[slow] / middles[fast])} than {fast}."


def _points(found: Explanation) -> Sequence[float]:
    """Times of the points compared: for a job, the median of its runs."""
    table = found.table
    if found.points == len(table.times):
        return table.times
    members: dict[str, list[float]] = {}
    for job, time in zip(table.jobs, table.times, strict=True):
        members.setdefault(job, []).append(time)
    return [median(times) for times in members.values()]


def _changes(effect: Effect) -> str:
    """How a time changes, as a verb: by a percentage, or to so many times as much, or as little."""
    low, change, high = (math.exp(part) for part in (effect.low, effect.change, effect.high))
    if change > 1 / _EVEN:
        return f"grows by {_percent(effect)}" if change >= _EVEN else f"changes by {_percent(effect)}"
    return f"is {digits(1 / change, 3)} times shorter (95 %: {digits(1 / high, 3)} to {digits(1 / low, 3)})"


def _percent(effect: Effect) -> str:
    """The size of an effect with its interval: a percentage, or a factor where it is large."""
    low, change, high = (math.exp(part) for part in (effect.low, effect.change, effect.high))
    if 1 / _EVEN < change < _EVEN:
        return f"{100 * (change - 1):+.1f} % (95 %: {100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %)"
    return f"a factor of {digits(change, 3)} (95 %: {digits(low, 3)} to {digits(high, 3)})"


def times_slower(ratio: float) -> str:
    """How much slower, as a percentage or a factor.

    Examples
    --------
    >>> times_slower(1.08), times_slower(3.04)
    ('8.0 % slower', '3.0 times slower')
    """
    return f"{_times(ratio)} times slower" if ratio >= _EVEN else f"{100 * (ratio - 1):.1f} % slower"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else digits(ratio, 3)


def _apart(ratio: float) -> str:
    return f"{_times(ratio)} times" if ratio >= _EVEN else f"{100 * (ratio - 1):.1f} %"


def _amount(found: Explanation, time: float) -> str:
    """A time in its original form: a rate if rates were given."""
    value = 1 / time if found.table.rate else time
    return f"{_number(value)} {found.table.unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _middle(found: Explanation, places: Sequence[int]) -> str:
    return _amount(found, median(found.table.times[place] for place in places))


def _rest(found: Explanation) -> list[int]:
    apart = set(found.shape.slow)
    return [place for place in range(len(found.table.times)) if place not in apart]


def _spread(found: Explanation) -> str:
    return f"{digits(100 * found.shape.spread, 2)} %"


def _untested(found: Explanation) -> str:
    if found.shape.tested:
        return ""
    return f" {capital(count(len(found.table.times), 'run'))} are too few for a test."


def _two_groups(found: Explanation) -> str:
    slow, fast = found.shape.slow, _rest(found)
    return (
        f"Two groups, {_apart(found.shape.ratio)} apart: {count(len(slow), 'run')} near {_middle(found, slow)} "
        f"and {len(fast):,} near {_middle(found, fast)}; within a group they differ by {_spread(found)}.{_untested(found)}"
    )


def _at(found: Explanation, place: int) -> str:
    """A run by its number, and its moment where that is known."""
    when = f", {found.table.when[place]}" if found.table.when else ""
    return f"run {place + 1:,}{when}"


def _step(found: Explanation) -> str:
    before, after = range(found.shape.order.at), range(found.shape.order.at, len(found.table.times))
    slower = "slower" if found.shape.order.change > 0 else "faster"
    ratio = max(found.shape.ratio, 1 / found.shape.ratio)
    return (
        f"The runs became {times_slower(ratio).replace('slower', slower)} with {_at(found, found.shape.order.at)}: from "
        f"{_middle(found, before)} to {_middle(found, after)}; before and after they differ by {_spread(found)}."
    )


def _drift(found: Explanation) -> str:
    ratio = found.shape.ratio
    slower = "slower" if ratio > 1 else "faster"
    amount = times_slower(max(ratio, 1 / ratio)).replace("slower", slower)
    if _sorted_rows(found):
        times = found.table.times
        return (
            f"The rows have a trend, from {_amount(found, times[0])} to {_amount(found, times[-1])}: if that is the order of the runs, they "
            f"drift, the last {amount} than the first; if the table is sorted, they are one group that differs by "
            f"{digits(100 * spread_of([math.log(time) for time in times]), 2)} %."
        )
    return (
        f"The runs drift: the last is {amount} than the first, over {count(len(found.table.times), 'run')}; around "
        f"that they differ by {_spread(found)}."
    )


def _sorted_rows(found: Explanation) -> bool:
    return found.table.one_way and not found.table.when


def _wanders(found: Explanation) -> str:
    return "The runs vary slowly: consecutive runs are similar, but no single drift or step explains this. Whether time matters is unknown. They differ by {_spread(found)}."


def _extreme(found: Explanation) -> str:
    return "fast" if found.shape.kind == "few fast" else "slow"


def _few(found: Explanation) -> str:
    times, rest = found.table.times, _rest(found)
    usual = median(times[place] for place in rest)
    apart = sorted(found.shape.slow, key=lambda place: -abs(times[place] / usual - 1))
    named = listed(_number(found.table.values[place]) for place in apart[:_MOST_NAMED])
    unit = f" {found.table.unit}".rstrip()
    more = " and more" if len(apart) > _MOST_NAMED else ""
    # 1.31 and 1.30: one format, so that they compare at a glance.
    ratios = listed(
        f"{ratio:.2f}" if ratio < 10 else digits(ratio, 3)
        for ratio in (times[place] / usual for place in apart[:_MOST_NAMED])
    )
    days = ""
    if found.table.when:
        days = f" ({listed(found.table.when[place] for place in apart[:_MOST_NAMED])})"
    verb = "is" if len(apart) == 1 else "are"
    return (
        f"{len(apart):,} of {count(len(times), 'run')} {verb} {_extreme(found)}: {named}{unit}{more}{days}, {ratios} times the "
        f"{_amount(found, usual)} of the others, which differ by {_spread(found)}.{_untested(found)}"
    )


def _one_group(found: Explanation) -> str:
    if found.shape.spread == 0:
        return f"All {count(len(found.table.times), 'run')} took {_middle(found, range(len(found.table.times)))}."
    return (
        f"One group: {count(len(found.table.times), 'run')} near {_middle(found, range(len(found.table.times)))} that "
        f"differ by {_spread(found)} (standard deviation), without a second group, a drift or slow runs.{_between_jobs(found)}"
    )


def _between_jobs(found: Explanation) -> str:
    """Where most of the spread is, if runs share jobs."""
    parts = found.components
    if parts is None:
        return ""
    if parts.low > _HALF:
        return f" Most of that is between jobs ({share(parts.share)} of the variance)."
    return f" Most of that is within jobs ({share(1 - parts.share)} of the variance)." if parts.high < _HALF else ""


def _too_few(found: Explanation) -> str:
    times = found.table.times
    if len(times) < 2:
        return "One run is not enough: give at least three."
    ratio = max(times) / min(times)
    return (
        f"Cannot tell: {count(len(times), 'run')} from {_amount(found, min(times))} to {_amount(found, max(times))}, the "
        f"longest {times_slower(ratio)} than the shortest, are too few, and there is no clear gap."
    )


def _compared(found: Explanation) -> str:
    """The comparison, in words."""
    sets = sum(factor.kind == "set" and factor.column != DATE for factor in found.factors)
    names = [f"column {factor.name}" for factor in found.factors if factor.kind != "set"]
    if any(factor.kind == "set" and factor.column == DATE for factor in found.factors):
        names.append("the hour of the day")
    parts = names[:_MOST_NAMED] + ([f"{len(names) - _MOST_NAMED} more columns"] if len(names) > _MOST_NAMED else [])
    if sets:
        parts.append(count(sets, "node or rack", "nodes and racks"))
    return listed(parts)


def _named(row: Separation) -> str:
    return row.factor.name if row.factor.kind == "set" else f"column {row.factor.name}"


def findings(found: Explanation) -> Iterator[Finding]:
    """Yield the reasons: probabilities, confounded columns, variance within jobs, omissions, detectable effects.

    Parameters
    ----------
    found : Explanation

    Examples
    --------
    >>> from hopperkit.readers.runs_table import read_runs
    >>> from hopperkit.variation.explanation import explain
    >>> [finding.code for finding in findings(explain(read_runs("10 11 12 10 11 12 11 10 12 11 12 10")))][-1]
    'next-run'
    """
    yield from (Finding("left-out", f"{note}.") for note in found.table.notes)
    yield from _chances(found)
    for name in found.with_order:
        yield Finding(
            "with-order",
            f"{capital(name)} changes together with the order of the runs, so these runs cannot show which of the two matters.",
            "unknown",
        )
    if found.effects and found.effects.left_out:
        same = "; ".join(f"{name} is determined by {other}" for name, other in found.effects.left_out.items())
        yield Finding(
            "not-separated", f"These columns duplicate others, and cannot be separated from them: {same}.", "unknown"
        )
    if parts := found.components:
        yield Finding(
            "jobs",
            f"Of the variance of ordinary runs, {share(parts.share)} is between jobs (95 %: {share(parts.low)} to "
            f"{share(parts.high)}) and {share(1 - parts.share)} within them, over {count(parts.groups, 'job')}.",
            "note",
        )
    if sizes := [
        f"{row.what} of {100 * (row.ratio - 1):.0f} %" for row in found.unseen[:_MOST_NAMED] if row.ratio is not None
    ]:
        yield Finding(
            "unseen",
            f"Not found, with the size that 80 of 100 data sets like this one would show: {'; '.join(sizes)}.",
            "note",
        )
    if hidden := [row.what for row in found.unseen[:_MOST_NAMED] if row.ratio is None]:
        yield Finding(
            "unseen-at-any-size",
            f"With so few runs, these could not be found at any size: {'; '.join(hidden)}.",
            "note",
        )
    yield Finding("next-run", next_run(found), "advice")


def _chances(found: Explanation) -> Iterator[Finding]:
    """Yield the probability of each result by chance."""
    shape, best = found.shape, found.best
    if shape.tested and shape.kind not in ("one group", "too few"):
        key = "order" if shape.kind in ("step", "drift", "wanders") else shape.kind
        reference = "runs in random order" if key == "order" else "runs that differ only by chance"
        yield Finding("shape", f"{capital(reference)} look like this in {_chance(shape.chances[key])}.", "note")
        also = [
            name
            for name, chance in shape.chances.items()
            if name not in (key, "order") and chance <= SHAPE_LEVEL and not (key == "order" and name == "two groups")
        ]
        if also:
            yield Finding("also", f"They also include {listed(also)}.", "note")
    if best is not None:
        level: Level = "note" if best.chance <= LEVEL else "unknown"
        few = (
            f" {capital(count(found.points, 'run'))} are too few to exclude chance: confirm it."
            if best.chance > LEVEL
            else ""
        )
        yield Finding(
            "separated",
            f"If the times were shuffled at random, the best of {count(len(found.factors), 'comparison')} would be as clear in "
            f"{_chance(best.chance)}.{few}",
            level,
        )
    elif found.shared is not None:
        yield Finding(
            "separated",
            f"As many runs drawn at random have a value in common that the others lack in {_chance(found.shared.chance)}.",
            "note",
        )


def _chance(chance: float) -> str:
    return "fewer than 1 in 1,000 cases" if chance <= 0.001 else f"{share(chance, 1)} of cases"
