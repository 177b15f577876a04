"""Regression of run times on accounting data, other columns and dates: robust effects, and shares of the variance of
ordinary runs.

The runs of a job count as one point, their median logarithm: differences within a job are noise with respect to
properties of the job. Effects are Huber's M-estimates, which a few slow runs hardly change. Runs far from that fit are
excluded and explained separately; shares are of the variance of the others. The share of a factor is the variance that
the fit loses without it, less what a factor without effect would explain by chance; variance that two factors explain
only together is reported separately. Where least squares on all runs disagrees, its result is shown with the reason.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from hopperkit.analysis.robust_terms import RobustFit
from hopperkit.analysis.variance_shares import FAR, Share, Shares, designs_of, variance_shares
from hopperkit.questions.result import Column, Result, Table, table
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.run_times import read_run_times
from hopperkit.readers.source import by_path
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.text import count, listed

FEWEST_POINTS = 12
# A value of a slow run must be this much rarer elsewhere.
_RARER, _RARE = 3.0, 0.1
# Least squares on all runs is shown if its explained share differs by this much. [fraction]
_DIFFERS = 0.1
_MAX_SLOW, _LEVEL = 12, 0.05


def explain_runs(
    runs: Any,
    jobs: Any = None,
    *,
    upgrades: Sequence[str] = (),
    column: str | None = None,
    job: str | None = None,
    seed: int = 0,
) -> Result:
    """Explain differences in run times, and list the slow runs with their distinguishing features.

    Parameters
    ----------
    runs : path, open file, DataFrame or other that `hopperkit.read_run_times` takes
        One row per run. Every additional column that is numeric or has few distinct values is a factor; dates count as
        drift, in days.
    jobs : path, open file, DataFrame, Trace or None
        Accounting data, joined by job: partition, account, first node, and when the job started (drift).
    upgrades : sequence of str
        Dates such as ``2026-03-01``, which divide the runs into periods; the period is a factor. Needs `jobs`.
    column, job : str or None
        Columns of the times and of the job; None finds them by their names.
    seed : int
        Job resamples for the intervals.

    Raises
    ------
    InputError
        If nothing can be joined, or there are fewer than `FEWEST_POINTS` jobs.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame({"jobid": range(60), "node": ["a", "b", "c"] * 20, "load": rng.normal(size=60)})
    >>> table["run_time_s"] = 100 * np.exp(0.3 * (table["node"] == "b") + 0.01 * rng.normal(size=60))
    >>> explain_runs(table).facts["shares"][0]["factor"]
    'node'
    """
    read = by_path(read_run_times)(runs, column=column, group=job)
    frame = read.to_frame().assign(_log=np.log(read.times))
    group = read.group or "run"
    if read.group is None:
        frame[group] = range(len(frame))
    frame[group] = frame[group].astype(str)
    found = _joined(frame, group, jobs, upgrades) if jobs is not None else _dated(frame, read.when)
    left = {read.column, "run_time", group, "_log", read.when}
    points = found.groupby(group, sort=False)
    numbers = [name for name in found.select_dtypes("number") if name not in left]
    words = [name for name in found.columns if name not in left and name not in numbers]
    made = points["_log"].median().to_frame()
    made = made.join(points[numbers].mean()).join(points[words].first())
    factors = designs_of(made[[*numbers, *words]])
    if len(made) < FEWEST_POINTS or not factors:
        raise InputError(
            f"{count(len(made), 'job')} with {count(len(factors), 'factor')} that differs: at least {FEWEST_POINTS} jobs and one are needed"
        )
    shares = variance_shares(made["_log"].to_numpy(), made, factors, np.random.default_rng(seed))
    return _result(made, found, group, shares, list(factors))


def _dated(frame: pd.DataFrame, when: str) -> pd.DataFrame:
    """Return the runs, with dates as days since the first; other timestamps are dropped."""
    moments = [name for name in frame if pd.api.types.is_datetime64_any_dtype(frame[name])]
    days = {}
    if when in moments and "day" not in frame:
        days["day"] = (frame[when] - frame[when].min()) / pd.Timedelta("1D")
    return frame.drop(columns=moments).assign(**days)


def _joined(frame: pd.DataFrame, group: str, jobs: Any, upgrades: Sequence[str]) -> pd.DataFrame:
    """Return the runs with the accounting data of their jobs."""
    trace = (jobs if hasattr(jobs, "workload") else by_path(read_job_trace)(jobs)).to_frame()
    accounting = trace[~trace.index.duplicated()]
    accounting = accounting.set_axis(accounting.index.astype(str))
    began = accounting["start"]
    kept = accounting[["partition", "account"]].assign(
        first_node=accounting["node_list"].str.replace(r"\[(\d+)[^\]]*\].*", r"\1", regex=True).str.partition(",")[0],
        day=(began - began.min()) / pd.Timedelta("1D"),
    )
    if upgrades:
        dates = [pd.Timestamp(date).tz_localize(began.dt.tz) for date in upgrades]
        kept["upgrade"] = began.map(lambda at: f"after {sum(at >= date for date in dates)} upgrades")
    both = frame.join(kept.rename(columns={name: f"{name}_of_job" for name in kept if name in frame}), on=group)
    if both["day"].isna().all():
        raise InputError(
            f"no {group} of the runs is in the accounting data; the first job there is {accounting.index[0]!r}"
        )
    return both[both["day"].notna()]


def _slow(
    found: pd.DataFrame, group: str, factors: Sequence[str], expected: dict[str, float], scale: float
) -> list[dict[str, Any]]:
    """Return the slow runs, slowest first: far above the fit for their job, each with its rare values."""
    off = found["_log"] - found[group].map(expected)
    inside = 1.4826 * float((off - off.median()).abs().median())
    slow = found[off > max(FAR * max(scale, inside), 0.05)]
    slow = slow.loc[off[slow.index].sort_values(ascending=False).index]
    rest = found[~found.index.isin(slow.index)]
    rows = []
    for at, run in slow.head(_MAX_SLOW).iterrows():
        different = [f"{name} {_shown(run[name])}" for name in factors if _is_rare(run[name], rest[name], slow[name])]
        rows.append(
            {
                "job": run[group],
                "times_expected": math.exp(off[at]),
                "different": ", ".join(different) or "nothing here",
            }
        )
    return rows


def _is_rare(value: Any, rest: pd.Series, slow: pd.Series) -> bool:
    """Whether a value is rare among other runs."""
    if pd.api.types.is_numeric_dtype(rest):
        return bool(value > rest.quantile(0.98) or value < rest.quantile(0.02))
    others = float((rest == value).mean())
    return others < _RARE and float((slow == value).mean()) > _RARER * others


def _shown(value: Any) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


def _mixed_up(shares: Sequence[Share]) -> list[str]:
    """Return pairs of factors that explain much alone but little together."""
    shared = [share for share in shares if share.alone.estimate > 0.1 and share.own.estimate < share.alone.estimate / 2]
    return [f"{one.factor} and {other.factor}" for one, other in combinations(shared, 2)]


def _inside(found: pd.DataFrame, group: str, far: set[str]) -> float | None:
    """Return the within-job share of the variance of ordinary jobs, by a mixed model; None if no job has two runs."""
    kept = found[~found[group].isin(far)]
    sizes = kept.groupby(group).size()
    if len(sizes) < 2 or sizes.max() < 2 or len(sizes) == len(kept) or kept["_log"].std() == 0:
        return None
    import warnings

    import statsmodels.formula.api as smf

    with warnings.catch_warnings():
        # If jobs do not differ, the estimate is at its boundary, which is valid.
        warnings.simplefilter("ignore")
        mixed = smf.mixedlm("_log ~ 1", kept[["_log", group]], groups=kept[group]).fit(reml=True)
    between = float(np.asarray(mixed.cov_re)[0, 0])
    return float(mixed.scale / (mixed.scale + between))


def _result(
    made: pd.DataFrame,
    found: pd.DataFrame,
    group: str,
    explained: Shares,
    factors: list[str],
) -> Result:
    """Return the answer in words and tables."""
    shares, together, least_squares, robust, near = explained
    far = set(made.index[~near].astype(str))
    expected = dict(zip(made.index.astype(str), made["_log"].to_numpy() - robust.residuals, strict=True))
    slow, mixed, inside = _slow(found, group, factors, expected, robust.scale), _mixed_up(shares), None
    if len(made) < len(found):
        inside = _inside(found, group, far)
    own = {share.factor: share.own.estimate for share in shares}
    sure = [effect for effect in robust.effects if effect.p_corrected <= _LEVEL]
    parts = listed(
        f"{effect.name} {100 * own[effect.name]:.0f} %" for effect in sorted(sure, key=lambda row: -own[row.name])
    )
    apart = f"{count(len(far), 'job')} far off excluded, of " if far else "Of "
    summary = (
        f"{apart[0].upper()}{apart[1:]}the differences between the {'other ' if far else ''}{count(int(near.sum()), 'job')} explain, "
        f"each by itself: {parts}."
        if parts
        else f"None of {listed(factors)} explains the differences between {count(len(made), 'job')}."
    )
    noise = (
        f" {100 * inside:.0f} % of the variance is within jobs, which properties of a job cannot explain."
        if inside
        else ""
    )
    return Result(
        summary=f"{summary} All together explain {100 * together:.0f} %.{noise}",
        findings=tuple(_findings(mixed, robust, together, least_squares, len(made), len(far))),
        tables=tuple(_tables(shares, robust, slow, group)),
        facts={
            "shares": [
                {"factor": share.factor, "own": share.own._asdict(), "alone": share.alone.estimate} for share in shares
            ],
            "together": together,
            "least_squares": least_squares,
            "effects": [effect._asdict() for effect in robust.effects],
            "found": [effect.name for effect in sure],
            "far": sorted(far),
            "inside": inside,
            "not_separated": mixed,
            "slow": slow,
        },
    )


def _findings(
    mixed: Sequence[str], robust: RobustFit, together: float, least_squares: float, jobs: int, far: int
) -> Iterator[Finding]:
    """Yield findings: factors that cannot be separated, detectable effects, and the result of least squares on all
    runs.
    """
    for pair in mixed:
        yield Finding("not-separated", f"{pair} cannot be separated: they change together in these runs.", "unknown")
    unseen = [effect for effect in robust.effects if effect.p_corrected > _LEVEL]
    if unseen:
        sizes = listed(f"{effect.name} {100 * math.expm1(effect.visible):.1f} %" for effect in unseen[:_MAX_SLOW])
        yield Finding(
            "unseen",
            f"80 of 100 data sets like this one would show an effect of this size: {sizes} (numbers: from the 10 % to the 90 % quantile; categories: between the two compared).",
            "note",
        )
    if abs(together - least_squares) > _DIFFERS:
        reason = f"the {count(far, 'job')} far off" if far else "jobs in the tails"
        yield Finding(
            "least-squares",
            f"Least squares on all {count(jobs, 'job')} explains {100 * least_squares:.0f} %, not {100 * together:.0f} %: {reason} "
            "cause most of the variance there, and no factor matches them.",
            "note",
        )


def _tables(shares: Sequence[Share], robust: RobustFit, slow: Sequence[dict[str, Any]], group: str) -> Iterator[Table]:
    """Yield shares of the bulk, effects of all jobs, and the slow runs."""
    yield table(
        "Shares of the variance of the logarithm of the run time of ordinary jobs, with intervals of 95 % over samples of jobs",
        shares,
        {
            "Factor": lambda share: share.factor,
            Column("By itself", "%", 1): lambda share: 100 * share.own.estimate,
            Column("From", "%", 1): lambda share: 100 * share.own.low,
            Column("To", "%", 1): lambda share: 100 * share.own.high,
            Column("If nothing else were known", "%", 1): lambda share: 100 * share.alone.estimate,
        },
    )
    yield table(
        "Effects with the others held (Huber's M-estimator on the logarithm, all jobs), intervals of 95 %, p corrected by Holm",
        robust.effects,
        {
            "Factor": lambda effect: effect.name,
            "Between": lambda effect: " and ".join(effect.between),
            Column("Change", "%", 1): lambda effect: 100 * math.expm1(effect.change),
            Column("Low", "%", 1): lambda effect: 100 * math.expm1(effect.low),
            Column("High", "%", 1): lambda effect: 100 * math.expm1(effect.high),
            "p corrected": lambda effect: float(f"{effect.p_corrected:.2g}"),
            Column("Would be seen from", "%", 1): lambda effect: 100 * math.expm1(effect.visible),
        },
    )
    yield table(
        "Slow runs, the slowest first",
        slow,
        {
            group.capitalize(): lambda row: row["job"],
            Column("Times the expected value", "", 2): lambda row: row["times_expected"],
            "Values that hardly any other run has": lambda row: row["different"],
        },
    )
