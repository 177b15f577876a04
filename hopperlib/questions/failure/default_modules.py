"""Question: which modules everybody gets at login, weighed by whom each choice breaks."""

from __future__ import annotations

from hopperlib.failure.builds.default_modules import (
    OPTIONS,
    PROGRAMS,
    WORKS,
    Shares,
    Trouble,
    Weights,
    flip_weight,
    outcomes,
    troubles,
)
from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

_STEPS = 20
# Code of a problem -> what the table says.
_WORDS = {
    WORKS: "works",
    "MPT-DEPRECATED": "stops, and says what to load",
    "SHMEM-NOT-LOADED": "fails: the module is not there",
    "MPICH2-SHMEM-DYNAMIC": "builds; some fail when they run",
}


def _names(option: str) -> str:
    """Return an option with its modules."""
    return f"{option}: {' and '.join(OPTIONS[option])}"


def _figure(shares: Shares, weights: Weights, flip: float | None) -> Figure:
    """Return the cost of each option over the weight of a failure at run time."""
    high = max(10.0, 2 * weights.run, min(1.5 * (flip or 0), 100.0))
    runs = [high * step / _STEPS for step in range(_STEPS + 1)]
    costs = [
        troubles(shares, Weights(told=weights.told, fails=weights.fails, run=run, contacted=weights.contacted))
        for run in runs
    ]
    series = [
        Series(name=_names(option), x=runs, y=[100 * row[place].cost for row in costs])
        for place, option in enumerate(OPTIONS)
    ]
    cheapest = min(troubles(shares, weights), key=lambda one: one.cost)
    crosses = (
        f"C meets the cheaper of the others at {flip:.1f}"
        if flip is not None and flip > 0
        else "C never meets the others"
    )
    return chart(
        title="What each default costs",
        alt=f"Cost per hundred users over the weight of a failure at run time, from 0 to {high:g}: A and B are flat, C rises; {crosses}. "
        f"A dotted line marks the cheapest at the weight that is set, {weights.run:g}.",
        x=Axis(title="Weight of a failure at run time", low=0, decimals=1),
        y=Axis(title="Cost per hundred users", low=0, decimals=2),
        series=series,
        references=(Reference(name="cheapest now", y=100 * cheapest.cost),),
    )


def _breaks() -> Table:
    """Return what each option does to each kind of program."""
    found = {option: outcomes(option) for option in OPTIONS}
    return Table(
        caption="What each default does to a program, by the rules",
        columns=(Column("Program"), *(Column(_names(option), badge="documented") for option in OPTIONS)),
        rows=[(program, *(_WORDS[found[option][program]] for option in OPTIONS)) for program in PROGRAMS],
    )


def _costs(found: tuple[Trouble, ...]) -> Table:
    """Return whom each option touches, and what that costs."""
    best = min(one.cost for one in found)
    return Table(
        caption="For a hundred users",
        columns=(
            Column("Default"),
            Column("Programs broken", "%", 2, "assumed"),
            Column("Asked to change scripts", "%", 2, "assumed"),
            Column("Cost", decimals=2, badge="assumed"),
        ),
        rows=[
            (_names(one.option), 100 * one.broken_fraction, 100 * one.contacted_fraction, 100 * one.cost)
            for one in found
        ],
        marked=tuple(place for place, one in enumerate(found) if one.cost == best),
        marked_label="costs least with these weights",
    )


def _sensitivity(cheapest: list[str], flip: float | None, run: float) -> str:
    """Say how far the answer is from another one."""
    if flip is None:
        return "No weight of a failure at run time changes that."
    if flip <= 0:
        return "However little a failure at run time counts, C does not become cheapest."
    if "C" in cheapest:
        return f"It stays so until a failure at run time counts {flip:.1f}; now it counts {run:g}."
    return f"C would be cheapest if a failure at run time counted less than {flip:.1f}; now it counts {run:g}."


def _answer(
    *,
    dynamic: float,
    shmem: float,
    hit: float,
    pinned: float,
    told: float,
    fails: float,
    run: float,
    contacted: float,
) -> Result:
    """Answer for one setting."""
    shares = Shares(dynamic=dynamic / 100, shmem=shmem / 100, hit=hit / 100, pinned=pinned / 100)
    weights = Weights(told=told, fails=fails, run=run, contacted=contacted)
    costs = troubles(shares, weights)
    flip = flip_weight(shares, weights)
    least, fewest = min(option.cost for option in costs), min(option.broken_fraction for option in costs)
    cheapest = [option.option for option in costs if option.cost - least < 1e-12]
    touched = [option.option for option in costs if option.broken_fraction - fewest < 1e-12]
    verb = "costs least" if len(cheapest) == 1 else "cost least, and the same"
    given = {"told": told, "fails": fails, "run": run, "contacted": contacted}
    return Result(
        summary=f"Default {' and '.join(cheapest)} {verb} with these shares and weights. {_sensitivity(cheapest, flip, run)}",
        findings=() if touched == cheapest else (_apart(touched, cheapest),),
        values=(
            *(Value(f"Cost of {one.option} per hundred users", 100 * one.cost, "assumed", decimals=2) for one in costs),
            Value(
                "Weight at which C stops being cheapest", flip, "assumed", decimals=2, note="of a failure at run time"
            ),
            Value("What was chosen on Hopper", "C", "documented", note="antypas2011, sec. 3"),
        ),
        figures=(_figure(shares, weights, flip),),
        tables=(_breaks(), _costs(costs)),
        facts={
            "cheapest": "".join(cheapest),
            "fewest": "".join(touched),
            "flip": flip,
            "dynamic": dynamic,
            "shmem": shmem,
            "hit": hit,
            "run": run,
            "weights_as_given": all(given[name] == QUESTION.defaults[name] for name in given),
            **{f"cost_{option.option.lower()}": option.cost for option in costs},
        },
    )


def _apart(touched: list[str], cheapest: list[str]) -> Finding:
    """Say that the default which breaks the fewest programs is not the one that costs least."""
    fewest, least = " and ".join(touched), " and ".join(cheapest)
    message = f"Default {fewest} breaks the fewest programs, and {least} costs least: the weights decide."
    return Finding("fewest-is-not-cheapest", message, "note")


QUESTION = declared(__name__, _answer)
