"""The answer of ``hopper place`` for people: picture, warnings, lines, numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import click

from hopperlib.node.review.review import Review
from hopperlib.node.review.text_drawing import headline, node_picture

__all__ = ["print_review"]


class _Part(NamedTuple):
    """A paragraph: its first words with a style of their own, and the rest."""

    lead: str
    style: str
    text: str


_STYLES = {"problem": "bold red", "advice": "bold yellow", "note": "bold"}


def _parts(review: Review, node: int, low: float, high: float, ascii_only: bool) -> Iterator[_Part]:
    """Yield the paragraphs of the answer; an empty one is a blank line."""
    placement, cost = review.placement, review.cost
    kind = placement.node_kind
    yield _Part(placement.machine.title, "bold", f": {headline(placement)}")
    yield _Part("", "", "")
    yield _Part(f"Node {node} of {len(placement.nodes):,}", "bold", "")
    for line in node_picture(kind, placement.nodes[node], ascii_only=ascii_only).splitlines():
        yield _Part("", "", line)
    yield _Part("", "", "")
    for one in review.advice:
        yield _Part(one.level, _STYLES[one.level], f": {one.message} [{one.code}]")
    if review.advice:
        yield _Part("", "", "")
    other = "srun" if placement.launch.launcher == "aprun" else "aprun"
    better = review.suggestion.better
    if better is not None:
        yield _Part("better line", "bold green", f": {better.line}")
        yield _Part("", "", f"  {headline(better.placement)}")
        gain = review.gain_range(low, high)
        if gain is not None and gain[1] > 1.005:
            bought = f"{gain[0]:.2f} to {gain[1]:.2f} times as fast (predicted, by memory bandwidth and shared cores)"
            yield _Part("", "", f"  {bought}")
    same = review.suggestion.equivalent
    yield _Part(f"this line for {other}", "bold", f": {same or 'none found that keeps each task on its cores'}")
    least, most = cost.slowdown_range(low, high)
    worst = cost.worst
    yield _Part(
        "run time over the same tasks spread evenly",
        "bold",
        f": {least:.2f} to {most:.2f} (predicted) where {low:.0%} to {high:.0%} of the spread run waits for memory; "
        f"{worst.rate_gb_s:.2f} against {worst.spread_rate_gb_s:.2f} GB/s a thread, "
        f"channels alone {worst.channel_ratio:.2f}",
    )
    cap = placement.machine.provenance.get(f"node.{kind.name}.core_bandwidth_cap_gb_s")
    badge = "assumed" if cap is None or cap.source is None else "documented"
    yield _Part("one core draws at most", "bold", f": {cost.core_cap_gb_s:g} GB/s ({badge})")


def _can_draw() -> bool:
    """Return whether standard output takes the characters of boxes."""
    try:
        "─┌·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def print_review(review: Review, *, node: int, low: float, high: float, ascii_only: bool) -> None:
    """Print the answer: wrapped and colored on a terminal, plain lines elsewhere."""
    parts = _parts(review, node, low, high, ascii_only or not _can_draw())
    if not sys.stdout.isatty():
        # Without rich, which takes longer to import than all the rest takes to run.
        for part in parts:
            click.echo(part.lead + part.text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for part in parts:
        # Pictures are not to be wrapped, sentences are.
        console.print(Text.assemble((part.lead, part.style), part.text), soft_wrap=not part.lead)
