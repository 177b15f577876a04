"""The tables of the page on forecasts."""

from itertools import groupby

from hopperbook.forecasts import LEVELS, Forecast, holds, kept, score, settings
from hopperkit.questions.result import Column, Table
from hopperlib.text import count


def bets(*, told: bool) -> Table:
    """Return the forecasts whose outcome is told, or those that are still open.

    Examples
    --------
    >>> len(bets(told=True).rows) + len(bets(told=False).rows)
    79
    """
    made = [each for each in kept() if bool(each.outcome) == told]
    titles = ["Situation", "Asked", "Median", "80 % interval", "Rival", *(["Outcome"] if told else []), "How"]
    return Table(
        caption="Forecasts with outcome" if told else "Open bets",
        columns=tuple(Column(title=title) for title in titles),
        rows=[_row(each, told) for each in made],
        marked=tuple(number for number, each in enumerate(made) if told and each.intervals and not holds(each, 80)),
        marked_label="the 80 % interval does not hold the outcome",
    )


def _row(made: Forecast, told: bool) -> tuple[str, ...]:
    """Return a forecast in words."""
    id, setting = made.row["id"], settings()[made.row["id"]]
    cells = [f"{id}: {made.row['situation']} ({made.row['inputs']})", made.row["asked"]]
    if made.intervals:
        low, high = made.intervals[80]
        cells += [f"{made.median:.3g}", f"{low:.3g} to {high:.3g}"]
        how = f"{setting['ask']}. {setting['why']}"
    else:
        cells += ["cannot say", "-"]
        how = f"Missing: {made.missing}."
    cells.append(made.row["rival"])
    if told:
        cells.append(made.row["value"])
    return (*cells, how)


def scores() -> Table:
    """Return how the forecasts with outcome did, by family and together.

    Examples
    --------
    >>> scores().rows[-1][0]
    'all'
    """
    told = sorted((each for each in kept() if each.outcome), key=lambda each: each.row["family"])
    families = [(name, list(group)) for name, group in groupby(told, key=lambda each: each.row["family"])]
    rows = []
    for name, made in [*families, ("all", told)]:
        found = score(made)
        if found is None:
            rows.append((name, str(len(made)), "0", *("-",) * 6))
            continue
        held = (f"{each} of {found.answered}" for each in found.held)
        points = (found.interval_score, found.rival_interval_score)
        rows.append(
            (name, str(found.rows), str(found.answered), *held, *(f"{each:.2f}" for each in points), str(found.nearer))
        )
    columns = ["Family", "Rows", "Answered", *(f"{level} % intervals that hold" for level in LEVELS)]
    columns += ["Interval score", "Rival's", "Median nearer than the rival"]
    return Table(caption="Scores", columns=tuple(Column(title=title) for title in columns), rows=rows)


def summary() -> str:
    """Return what there is of forecasts in a clause, as the README prints it before the retrodictions.

    Examples
    --------
    >>> "forecasts" in summary()
    True
    """
    blind = [each for each in kept() if "practice" not in each.row]
    answered = sum(bool(each.intervals) for each in blind)
    found = score(blind)
    if found is None:
        return (
            f"None of the {answered} forecasts of measurements that nobody here has seen is scored yet "
            f"(for {count(len(blind) - answered, 'more situation')} the book has no model)"
        )
    return (
        f"Of {found.answered} forecasts of measurements that nobody here had seen, the 80 % intervals hold {found.held[1]}, "
        f"with a mean interval score of {found.interval_score:.2f} against {found.rival_interval_score:.2f} for a rival "
        "without the physics"
    )
