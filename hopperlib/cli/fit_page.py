"""The report on run times as one page: drawings with their tables, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

import numpy as np

from hopperlib.analysis.distributions import qq
from hopperlib.analysis.run_times import CAVEATS, FamilyReport, RunTimeReport
from hopperlib.cli.page import page

__all__ = ["facts", "fit_page", "groups", "number"]

_LONGEST_TEXT = 400
# Points of the quantile plot that are drawn and listed: of more values, evenly spread ones.
_MOST_POINTS = 200


def number(value: float) -> str:
    """Return a number with five digits, or all in front of the point.

    Examples
    --------
    >>> number(1234.567), number(0.012345), number(58396.17)
    ('1,234.6', '0.012345', '58,396')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 4 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}" if decimals <= 8 else f"{value:.4e}"


def facts(report: RunTimeReport) -> Iterator[tuple[str, str]]:
    """Yield what the times are, as labels and texts."""
    unit = f" {report.table.unit}" if report.table.unit else ""
    yield "mean", f"{number(report.mean)}{unit}"
    yield "standard deviation", f"{number(report.sd)}{unit} ({100 * report.sd / report.mean:.2f} % of the mean)"
    yield "median", f"{number(report.median)}{unit}"
    yield "range", f"{number(report.minimum)} to {number(report.maximum)}{unit}"


def groups(report: RunTimeReport) -> Iterator[tuple[str, str]]:
    """Yield the spread within and between groups, as labels and texts; nothing if it was not split."""
    split = report.split
    if split is None:
        return
    unit = f" {report.table.unit}" if report.table.unit else ""
    share = split.between_fraction
    yield "groups", f"{split.groups:,} of column {report.table.group}"
    yield (
        "standard deviation within a group",
        f"{number(split.within_sd)}{unit} ({100 * split.within_sd / split.mean:.2f} %)",
    )
    yield (
        "standard deviation between groups",
        f"{number(math.sqrt(split.between_variance))}{unit} ({100 * math.sqrt(split.between_variance) / split.mean:.2f} %)",
    )
    yield (
        "variance that lies between groups",
        f"{100 * share.estimate:.1f} % (95 %: {100 * share.low:.1f} to {100 * share.high:.1f} %)",
    )


def fit_page(file: str, report: RunTimeReport) -> str:
    """Return the page.

    Parameters
    ----------
    file : str
        Name of the file, or "standard input".
    report : RunTimeReport
    """
    table = report.table
    left_out = "".join(f"<li>{_text(message)}</li>" for message in table.messages())
    parts = [
        f"<p>{len(table.times):,} times from column <code>{_text(table.column)}</code> of <code>{_text(file)}</code>.</p>",
        f"<p><strong>{_text(report.verdict)}</strong></p>",
        f"<ul>{left_out}</ul>" if left_out else "",
        "<h2>The times</h2>",
        _pairs("What the times are", facts(report)),
        _histogram(report),
        f"<h2>Families</h2><p>Fitted to {_text(report.fitted_what)}.</p>",
        _families(report),
        _quantiles(report),
        "<h2>Spread within and between groups</h2>",
        _pairs("Spread", groups(report)) if report.split else f"<p>Not split: {_text(report.no_split)}.</p>",
        "<h2>Repeats that show a change</h2>",
        _repeats(report),
        "<h2>What to keep in mind</h2>",
        "<ul>" + "".join(f"<li>{_text(note)}</li>" for note in (*report.notes, *CAVEATS)) + "</ul>",
    ]
    return page("Run times", "\n".join(part for part in parts if part))


def _text(value: str) -> str:
    """Return a text of the file, escaped and of bounded length."""
    return escape(value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + " ...")


def _pairs(caption: str, pairs: Iterator[tuple[str, str]]) -> str:
    """Return labels and texts as a table."""
    rows = "".join(f'<tr><th scope="row">{_text(label)}</th><td>{_text(value)}</td></tr>' for label, value in pairs)
    return f"<table><caption>{escape(caption)}</caption>{rows}</table>"


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column names the rows and whose others hold numbers."""
    first, *rest = heads
    head = f'<th scope="col">{escape(first)}</th>' + "".join(
        f'<th scope="col" class="n">{escape(one)}</th>' for one in rest
    )
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>'
        + "".join(f'<td class="n">{_text(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _p(value: float, one: FamilyReport) -> str:
    """Return a p-value; the smallest there can be is a bound."""
    return f"{'≤ ' if value <= 1 / (one.goodness.repeats + 1) else ''}{value:.2g}"


def _families(report: RunTimeReport) -> str:
    """Return the families with how good they are, and their parameters."""
    best = report.families[0].fit.aic
    fits = _table(
        f"Families, the best first; p-values from {report.resamples:,} samples",
        ("Family", "AIC", "above the best", "Anderson-Darling", "its p", "Kolmogorov-Smirnov", "its p"),
        [
            (
                one.fit.family,
                f"{one.fit.aic:,.1f}",
                f"{one.fit.aic - best:,.1f}" if not one.fit.note else "not comparable",
                f"{one.goodness.anderson_darling:.3g}",
                _p(one.goodness.anderson_darling_p, one),
                f"{one.goodness.kolmogorov_smirnov:.3g}",
                _p(one.goodness.kolmogorov_smirnov_p, one),
            )
            for one in report.families
        ],
    )
    parameters = _table(
        "Parameters with 95 % intervals",
        ("Parameter", "estimate", "from", "to"),
        [
            (f"{one.fit.family}: {name}", number(interval.estimate), number(interval.low), number(interval.high))
            for one in report.families
            for name, interval in one.intervals.items()
        ],
    )
    notes = "".join(
        f"<p>{_text(one.fit.family.capitalize())}: {_text(one.fit.note)}.</p>"
        for one in report.families
        if one.fit.note
    )
    return f"{fits}{notes}{parameters}"


def _repeats(report: RunTimeReport) -> str:
    """Return the runs needed."""
    return _table(
        f"Runs before and as many after, to see a change of {100 * report.change_fraction:g} % in "
        f"{100 * report.power:g} % of cases (two-sided t-test, level {report.alpha:g})",
        ("How the runs are made", "spread [%]", "runs on each side"),
        [(way.how, f"{100 * way.spread_fraction:.2f}", f"{way.runs:,}") for way in report.repeats],
    )


def _details(title: str, table: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{table}</details>"


def _heading(report: RunTimeReport) -> str:
    """Return the name of the column with its unit."""
    unit = report.table.unit
    return f"{report.table.column} [{unit}]" if unit else report.table.column


class _Scale:
    """A range of values laid over a range of the drawing."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return four to ten round numbers inside the range."""
        rough = (self.high - self.low) / 5
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [step * i for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640.0, 300.0, 70.0, 46.0, 26.0


def _drawing(label: str, x: _Scale, y: _Scale, x_title: str, y_title: str, inside: str) -> str:
    """Return a drawing with its axes."""
    base = _HEIGHT - _BOTTOM
    marks = "".join(
        f'<path d="M{x(at):.1f} {base}v5" stroke="currentColor"/>'
        f'<text x="{x(at):.1f}" y="{base + 18}" text-anchor="middle">{at:,.10g}</text>'
        for at in x.ticks()
    ) + "".join(
        f'<path d="M{_LEFT} {y(at):.1f}h-5" stroke="currentColor"/>'
        f'<text x="{_LEFT - 8}" y="{y(at) + 4:.1f}" text-anchor="end">{at:,.10g}</text>'
        for at in y.ticks()
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH + 20:g} {_HEIGHT:g}" role="img" aria-label="{escape(label)}" font-size="12" '
        f'fill="currentColor">{inside}<path d="M{_LEFT} {_TOP}V{base}H{_WIDTH}" fill="none" stroke="currentColor"/>{marks}'
        f'<text x="{_WIDTH}" y="{_HEIGHT - 8}" text-anchor="end">{_text(x_title)}</text>'
        f'<text x="{_LEFT}" y="{_TOP - 10}" text-anchor="middle">{_text(y_title)}</text></svg>'
    )


def _histogram(report: RunTimeReport) -> str:
    """Return the counts as bars, with what the best family expects as a line, and their table."""
    edges, counts = report.histogram()
    best = report.families[0].fit
    n = len(report.fitted)
    expected = report.expected(best)
    x = _Scale(edges[0], edges[-1], _LEFT, _WIDTH)
    y = _Scale(0, max(*counts, *expected) * 1.05, _HEIGHT - _BOTTOM, _TOP)
    bars = "".join(
        f'<rect x="{x(low) + 0.5:.1f}" y="{y(count):.1f}" width="{max(x(high) - x(low) - 1, 0.5):.1f}" '
        f'height="{y(0) - y(count):.1f}"/>'
        for (low, high), count in zip(pairwise(edges), counts, strict=True)
    )
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in zip(middles, expected, strict=True))
    fullest = counts.index(max(counts))
    label = (
        f"Histogram of {n:,} times from {number(min(report.fitted))} to {number(max(report.fitted))}; most, {counts[fullest]:,}, "
        f"lie from {number(edges[fullest])} to {number(edges[fullest + 1])}. The line is what the {best.family} expects."
    )
    table = _table(
        "Times counted",
        (_heading(report), "times", f"expected by the {best.family}"),
        [
            (f"{number(low)} to {number(high)}", f"{count:,}", f"{value:,.1f}")
            for (low, high), count, value in zip(pairwise(edges), counts, expected, strict=True)
        ],
    )
    inside = (
        f'<g fill="#0072b2">{bars}</g>'
        f'<polyline points="{line}" fill="none" stroke="#d55e00" stroke-width="2.5" stroke-dasharray="7 3"/>'
    )
    return (
        _drawing(label, x, y, _heading(report), "times", inside)
        + f"<p>Bars: times counted. Dashed line: what the {_text(best.family)} expects in each bar.</p>"
        + _details("The numbers of this drawing", table)
    )


def _points(report: RunTimeReport) -> list[tuple[float, float]]:
    """Return expected and observed quantiles of the best family, at most 200 points, evenly picked, both ends in."""
    points = qq(report.fitted, report.families[0].fit)
    n = len(points.observed)
    picked = np.unique(np.linspace(0, n - 1, min(n, _MOST_POINTS)).round().astype(int))
    return list(zip(points.expected[picked].tolist(), points.observed[picked].tolist(), strict=True))


def _quantiles(report: RunTimeReport) -> str:
    """Return the quantile-quantile plot of the best family with its table."""
    best = report.families[0].fit
    points = _points(report)
    low = min(min(point) for point in points)
    high = max(max(point) for point in points)
    margin = 0.03 * (high - low)
    x = _Scale(low - margin, high + margin, _LEFT, _WIDTH)
    y = _Scale(low - margin, high + margin, _HEIGHT - _BOTTOM, _TOP)
    dots = "".join(f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="3"/>' for at, value in points)
    worst = max(points, key=lambda point: abs(point[1] - point[0]))
    label = (
        f"Quantiles of the times against those of the {best.family}. On the line both are equal; farthest from it is "
        f"{number(worst[1])} where {number(worst[0])} is expected."
    )
    inside = (
        f'<path d="M{x(low):.1f} {y(low):.1f}L{x(high):.1f} {y(high):.1f}" stroke="#d55e00" stroke-width="2" '
        f'stroke-dasharray="7 3"/><g fill="#0072b2">{dots}</g>'
    )
    fewer = f", {len(points)} of {len(report.fitted):,}" if len(points) < len(report.fitted) else ""
    table = _table(
        f"Quantiles{fewer}",
        (f"expected by the {best.family}", "observed"),
        [(number(at), number(value)) for at, value in points],
    )
    return (
        f"<h3>Quantiles of the {_text(best.family)}</h3>"
        + _drawing(label, x, y, f"expected {_heading(report)}", "observed", inside)
        + "<p>Dots: the times in order. Dashed line: where they would be if the family were right.</p>"
        + _details("The numbers of this drawing", table)
    )
