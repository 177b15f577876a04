"""The report on a Darshan log as one page: no scripts, nothing from elsewhere, every text of the log escaped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hopperlib.cli.page import page
from hopperlib.finding import Finding, Level
from hopperlib.storage.logs.darshan_findings import SEVERITIES

__all__ = ["facts", "report_page"]

# However many OSTs a log names, the page stays small: the slowest are listed.
_MOST_OSTS = 200
_LONGEST_TEXT = 4000
_WORDS: dict[Level, str] = {
    "problem": "Problem",
    "advice": "Warning",
    "note": "To know",
    "unknown": "Cannot tell",
    "ok": "Fine",
}
_STYLE = """
section.finding{border-left:.4rem solid #7a7a7a;padding:.2rem 1rem;margin:1rem 0}
.fail{border-color:#c0392b!important}.warn{border-color:#d55e00!important}.info{border-color:#0072b2!important}
"""


def facts(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a summary says, as labels and texts; what is unknown is left out."""
    if numbers["job_id"] is not None:
        yield "job", str(numbers["job_id"])
    if numbers["tasks"] is not None:
        yield "tasks", f"{numbers['tasks']:,}"
    if numbers["run_time_s"] is not None:
        yield "run time", f"{numbers['run_time_s']:,.0f} s"
    yield "files", f"{numbers['files']:,}: {numbers['shared_files']:,} shared, {numbers['unique_files']:,} of one task"
    for direction, past in (("read", "read"), ("write", "written")):
        rate = numbers[f"{direction}_rate_mb_s"]
        yield (
            past,
            f"{numbers[f'bytes_{past}']:,} bytes in {numbers[f'{direction}_calls']:,} calls"
            + (f", {rate:,.1f} MB/s from the first call to the end of the last" if rate is not None else ""),
        )
        sizes = numbers["access_sizes"][direction]
        if sizes:
            yield f"sizes {past}", ", ".join(f"{count:,} of {_bin(name)}" for name, count in sizes.items())
    for one in numbers["stripe_settings"][:5]:
        size = f" of {one['stripe_size_bytes']:,} bytes" if one["stripe_size_bytes"] else ""
        yield "stripes", f"{one['stripe_count']}{size} ({one['files']:,} file{'s' if one['files'] > 1 else ''})"
    for direction in ("write", "read"):
        rates = [one["rate_mb_s"] for one in numbers[f"ost_{direction}_rates"]]
        if rates:
            yield f"OSTs, {direction}", f"{len(rates)} told apart, {min(rates):.3g} to {max(rates):.3g} MB/s for a task"


def _bin(name: str) -> str:
    """Return the name of a bin of access sizes in words."""
    low, _, high = name.partition("_")
    return f"{low} and more" if high == "PLUS" else f"{low} to {high}"


def report_page(file: str, machine: str, found: Sequence[Finding], numbers: Mapping[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    file : str
        Name of the log.
    machine : str
        Whose file system the advice is for.
    found : sequence of Finding
    numbers : mapping
        The summary of `hopperlib.storage.logs.darshan_summary.summary`.
    """
    title = f"I/O of {numbers['executable'] or 'a job'}"
    parts = [
        f"<p>From the Darshan log <code>{_text(file)}</code>.</p>",
        "<h2>Findings</h2>",
    ]
    if not found:
        parts.append("<p>None: no slow OST, no small or misaligned accesses, not one OST or one writer for all.</p>")
    parts += [_finding(one) for one in found]
    parts.append(f"<p>Advice on striping is for the file system of {_text(machine)}.</p><h2>The job</h2><table>")
    parts += [f'<tr><th scope="row">{_text(label)}</th><td>{_text(value)}</td></tr>' for label, value in facts(numbers)]
    parts.append("</table>")
    for note in numbers["notes"]:
        parts.append(f"<p>Note: {_text(note)}.</p>")
    for direction in ("write", "read"):
        parts.append(_osts(direction, numbers[f"ost_{direction}_rates"]))
    return page(_shortened(title), "\n".join(part for part in parts if part), style=_STYLE)


def _text(value: Any) -> str:
    """Return a text of the log, escaped and of bounded length."""
    return escape(_shortened(str(value)))


def _shortened(text: str) -> str:
    """Return a text of bounded length."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."


def _finding(one: Finding) -> str:
    """Return one finding with its numbers."""
    rows = "".join(
        f'<tr><th scope="row">{_text(name)}</th><td>{_text(f"{value:,}" if isinstance(value, int) else value)}</td></tr>'
        for name, value in one.evidence.items()
    )
    advice = f"<p><strong>What to do:</strong> {_text(one.advice)}</p>" if one.advice else ""
    return (
        f'<section class="finding {SEVERITIES[one.level]}"><h3>{_WORDS[one.level]}: {_text(one.code)}</h3>'
        f"<p>{_text(one.message)}</p>{advice}<details><summary>Numbers</summary><table>{rows}</table></details></section>"
    )


def _osts(direction: str, rates: Sequence[Mapping[str, Any]]) -> str:
    """Return the rates of OSTs as bars with their table; empty if there are none."""
    if not rates:
        return ""
    shown = rates[:_MOST_OSTS]
    least = f"; the {_MOST_OSTS} slowest of {len(rates):,}" if len(rates) > len(shown) else ""
    rows = "".join(
        f'<tr><td>{_names(one)}</td><td class="n">{one["rate_mb_s"]:.4g}</td><td class="n">{one["files"]:,}</td>'
        f'<td class="n">{one["bytes"]:,}</td></tr>'
        for one in shown
    )
    return (
        f"<h2>OSTs: {direction}</h2>{_bars(direction, shown)}"
        f"<table><caption>What a task got from each OST, slowest first{least}</caption>"
        '<tr><th scope="col">OST</th><th scope="col" class="n">MB/s</th><th scope="col" class="n">files</th>'
        f'<th scope="col" class="n">bytes</th></tr>{rows}</table>'
    )


def _names(one: Mapping[str, Any]) -> str:
    """Return the numbers of OSTs that stand together; of many, the first."""
    listed = ", ".join(str(ost) for ost in one["osts"][:12])
    return escape(listed + (" ..." if len(one["osts"]) > 12 else ""))


def _bars(direction: str, rates: Sequence[Mapping[str, Any]]) -> str:
    """Return the rates as a drawing, in the order of the OSTs' numbers, on a logarithmic scale."""
    ordered = sorted(rates, key=lambda one: one["osts"][0])
    values = [max(float(one["rate_mb_s"]), 1e-9) for one in ordered]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    high = max(high, low + 1)
    width, height, left = 640.0, 160.0, 60.0
    step = (width - left) / len(values)
    bars = "".join(
        f'<rect x="{left + step * place:.1f}" y="{height * (1 - (math.log10(value) - low) / (high - low)):.1f}" '
        f'width="{max(step - 1, 0.5):.1f}" height="{height * (math.log10(value) - low) / (high - low):.1f}">'
        f"<title>OST {_names(one)}: {value:.4g} MB/s</title></rect>"
        for place, (one, value) in enumerate(zip(ordered, values, strict=True))
    )
    marks = "".join(
        f'<text x="{left - 6}" y="{height * (1 - (power - low) / (high - low)) + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        for power in range(low, high + 1)
    )
    label = f"{direction} rate of {len(values)} OSTs for a task, {min(values):.3g} to {max(values):.3g} MB/s, logarithmic scale"
    return (
        f'<svg viewBox="-10 -12 {width + 20:g} {height + 44:g}" role="img" aria-label="{escape(label)}" '
        f'font-size="12" fill="currentColor"><title>{escape(label)}</title><g fill="#0072b2">{bars}</g>{marks}'
        f'<text x="{left}" y="{height + 20:g}">OSTs by number; height: MB/s</text></svg>'
    )
