"""The tables and sentences of the page on forecasts."""

from collections.abc import Sequence
from itertools import groupby

from hopperbook.forecasts import LEVELS, Forecast, kept, second, settings
from hopperbook.forecasts.scoring import (
    Group,
    Score,
    groups,
    lessons,
    overlaps,
    score,
    share_range,
    source_coverage,
    widened,
)
from hopperkit.questions.result import Column, Table
from hopperlib.text import count, share


def bets(group: str | None = None) -> Table:
    """Return the forecasts with outcome of the sealed or the practice rows; without a name, those that are still open.

    Examples
    --------
    >>> len(bets("sealed").rows), len(bets("practice").rows), len(bets().rows)
    (54, 25, 0)
    """
    if group is None:
        made: Sequence[Forecast] = [each for each in kept() if not each.outcome]
    else:
        made = [each for each in _named(group).forecasts if each.outcome]
    titles = ["Situation", "Quantity", "Median", "80 % interval", "Rival", *(["Outcome"] if group else []), "How"]
    return Table(
        caption=f"Forecasts of the {group} rows" if group else "Open forecasts",
        columns=tuple(Column(title=title) for title in titles),
        rows=[_row(each, bool(group)) for each in made],
        marked=tuple(number for number, each in enumerate(made) if group and each.intervals and not overlaps(each, 80)),
        marked_label="the 80 % interval does not overlap the outcome",
    )


def _named(name: str) -> Group:
    """Return a group of rows by name."""
    return next(group for group in groups() if group.name == name)


def _outcome_text(made: Forecast) -> str:
    """Return an outcome with its band."""
    low, high = made.row["low"], made.row["high"]
    return f"{made.row['value']} ({low} to {high})" if high else f"at least {low}"


def _row(made: Forecast, with_outcome: bool) -> tuple[str, ...]:
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
    if with_outcome:
        cells.append(_outcome_text(made))
    return (*cells, how)


def scores(group: str) -> Table:
    """Return the scores of one group of forecasts, by family and together. Groups are never added up.

    Examples
    --------
    >>> scores("sealed").rows[-1][:4]
    ('all', '54', '53', '23 of 53')
    """
    known = sorted((each for each in _named(group).forecasts if each.outcome), key=lambda each: each.row["family"])
    families = [(name, list(found)) for name, found in groupby(known, key=lambda each: each.row["family"])]
    rows = [_score_row(name, made) for name, made in [*families, ("all", known)]]
    columns = ["Family", "Rows", "Answered", *(f"{level} % intervals that overlap" for level in LEVELS)]
    columns += ["80 % intervals that hold the value", "Interval score", "Rival's", "Median nearer than the rival"]
    return Table(
        caption=f"Scores of the {group} rows", columns=tuple(Column(title=title) for title in columns), rows=rows
    )


def _score_row(name: str, made: Sequence[Forecast]) -> tuple[str, ...]:
    """Return the cells of one line of scores."""
    found = score(made)
    if found is None:
        return (name, str(len(made)), "0", *("-",) * 7)
    overlapping = (f"{each} of {found.answered}" for each in found.overlapping)
    points = ("-", "-", "-")
    if found.rivals:
        points = (
            f"{found.interval_score:.2f}",
            f"{found.rival_interval_score:.2f}",
            f"{found.nearer} of {found.rivals}",
        )
    holding = f"{found.holding[LEVELS.index(80)]} of {found.answered}"
    return name, str(found.rows), str(found.answered), *overlapping, holding, *points


def misses() -> Table:
    """Return the sealed rows whose 80 % interval does not overlap the outcome, with the mechanism of the miss.

    Examples
    --------
    >>> len(misses().rows)
    21
    """
    made = [each for each in _named("sealed").forecasts if each.intervals and not overlaps(each, 80)]
    titles = ("Row", "80 % interval", "Outcome", "Forecast is too", "Mechanism")
    return Table(
        caption="Misses",
        columns=tuple(Column(title=title) for title in titles),
        rows=[
            (
                each.row["id"],
                f"{each.intervals[80][0]:.3g} to {each.intervals[80][1]:.3g}",
                _outcome_text(each),
                "low" if _is_low(each) else "high",
                lessons()["misses"][each.row["id"]],
            )
            for each in made
        ],
    )


def _is_low(made: Forecast) -> bool:
    """Whether the 80 % interval is below the outcome."""
    return made.outcome is not None and made.intervals[80][1] < made.outcome[1]


def _coverage(made: Sequence[Forecast]) -> str:
    """Return the number of 80 % intervals that overlap, and their total number."""
    answered = [each for each in made if each.intervals]
    return f"{sum(overlaps(each, 80) for each in answered)} of {len(answered)}"


def sensitivity() -> Table:
    """Return the coverage of the sealed rows as committed, without the narrowing, and without doubtful outcomes.

    Examples
    --------
    >>> [row[1] for row in sensitivity().rows]
    ['32 of 53', '36 of 53', '30 of 48', '29 of 46']
    """
    made = _named("sealed").forecasts
    certain = [each for each in made if each.row["id"] not in lessons()["doubtful"]]
    given = [each for each in certain if each.row["id"] not in lessons()["inferred_input"]]
    rows = [
        ("as committed", _coverage(made)),
        ("without the narrowing to 0.8 of the width", _coverage([widened(each) for each in made if each.intervals])),
        (f"without {', '.join(lessons()['doubtful'])}, whose outcome or input is in doubt", _coverage(certain)),
        (f"also without {' and '.join(lessons()['inferred_input'])}, whose input is inferred", _coverage(given)),
    ]
    return Table(
        caption="What the coverage of the sealed rows depends on",
        columns=(Column(title="Rows and intervals"), Column(title="80 % intervals that overlap")),
        rows=rows,
    )


def model_split() -> Table:
    """Return the scores of sealed rows whose forecast uses a model, and of those with a one-line estimate and typed
    ranges.

    Examples
    --------
    >>> [row[1:3] for row in model_split().rows]
    [('28', '19'), ('25', '13')]
    """
    answered = [each for each in _named("sealed").forecasts if each.intervals]
    calls = [settings()[each.row["id"]]["ask"] in lessons()["library_functions"] for each in answered]
    rows = []
    for name, wanted in (("calls a model of the library", True), ("one line with typed ranges", False)):
        made = [each for each, called in zip(answered, calls, strict=True) if called == wanted]
        found = score(made)
        assert found is not None
        rows.append((name, str(len(made)), str(found.overlapping[LEVELS.index(80)]), f"{found.factor:.2f}"))
    titles = ("Forecast", "Rows", "80 % intervals that overlap", "Typical factor")
    return Table(caption="Models and typed ranges", columns=tuple(Column(title=title) for title in titles), rows=rows)


def _sealed_score() -> Score:
    """Return the score of the sealed rows."""
    found = score(_named("sealed").forecasts)
    assert found is not None
    return found


def verdict() -> str:
    """Return the result of the first sealed set as a paragraph.

    Examples
    --------
    >>> verdict()[:57]
    'Of 53 forecasts, the 80 % intervals overlap 32 outcomes ('
    """
    found = _sealed_score()
    place = LEVELS.index(80)
    low, high = share_range(found.overlapping[place], found.answered)
    by_source, sources = source_coverage(_named("sealed").forecasts)
    missed = [each for each in _named("sealed").forecasts if each.intervals and not overlaps(each, 80)]
    ratios = f"{found.factor:.2f} (the rival's by {found.rival_factor:.2f})"
    others = " and ".join(
        f"those of {level} % overlap {found.overlapping[at]} and hold {found.holding[at]}"
        for at, level in enumerate(LEVELS)
        if level != 80
    )
    return (
        f"Of {found.answered} forecasts, the 80 % intervals overlap {found.overlapping[place]} outcomes "
        f"({share(found.overlapping[place] / found.answered)}; 95 % interval {share(low)} to {share(high)}; {share(by_source)} with one "
        f"vote for each of {sources} sources) and hold {found.holding[place]} of the values; {others}. "
        f"The intervals are too narrow. Of {count(len(missed), 'miss', 'misses')} at 80 %, {sum(map(_is_low, missed))} "
        f"are too low: most underestimate an effect. {found.sharp} intervals are at most half the value wide. "
        f"Forecasts of quantities other than percentages are typically wrong by a factor of {ratios}. "
        f"The median is nearer than the rival's value in {found.nearer} of {found.rivals} rows, the interval score is "
        f"{found.interval_score:.2f} against {found.rival_interval_score:.2f}, and the pinball loss {found.pinball:.3f} "
        f"against {found.rival_pinball:.3f}."
    )


def summary() -> str:
    """Return the scores of the sealed forecasts as a clause, for the README before the retrodictions.

    Examples
    --------
    >>> summary()[:62]
    'Of 53 forecasts of measurements that nobody here had seen when'
    """
    found = _sealed_score()
    place = LEVELS.index(80)
    return (
        f"Of {found.answered} forecasts of measurements that nobody here had seen when they were committed, the 80 % "
        f"intervals overlap {found.overlapping[place]} outcomes ({share(found.overlapping[place] / found.answered)}) and hold "
        f"{found.holding[place]}, so they are too narrow, and most misses underestimate the effect; the typical error is a "
        f"factor of {found.factor:.2f}, against {found.rival_factor:.2f} without the physics"
    )


def second_bets() -> Table:
    """Return the forecasts of the second sealed set, whose outcomes are not known here.

    Examples
    --------
    >>> len(second_bets().rows)
    71
    """
    rows = []
    for each in second.kept():
        if "practice" in each.row:
            continue
        setting = second.settings()[each.row["id"]]
        if each.intervals:
            low, high = each.intervals[80]
            cells = (f"{each.median:.3g}", f"{low:.3g} to {high:.3g}")
            how = f"{setting['ask']}. {setting['why']}"
        else:
            cells, how = ("cannot say", "-"), f"Missing: {each.missing}."
        situation = f"{each.row['id']}: {each.row['situation']} ({each.row['inputs']})"
        rows.append((situation, each.row["asked"], *cells, each.row["rival"], how))
    titles = ("Situation", "Quantity", "Median", "80 % interval", "Rival", "How")
    return Table(caption="Second sealed set", columns=tuple(Column(title=title) for title in titles), rows=rows)


def second_summary() -> str:
    """Return the number of rows of the second sealed set with a forecast, in a sentence.

    Examples
    --------
    >>> second_summary()[:11]
    'Of 71 rows '
    """
    made = [each for each in second.kept() if "practice" not in each.row]
    seen = sum("seen" in second.settings()[each.row["id"]] for each in made)
    answered = sum(bool(each.intervals) for each in made)
    return (
        f"Of {len(made)} rows {answered} are forecast, {len(made) - answered - seen} say what is missing, and {seen} are left out "
        f"because their source became known here. SHA-256 of the forecasts: `{second.digest()}`."
    )
