"""What explains run times: runs joined with the accounting, other columns and dates of upgrades; shares of the variance.

Runs of one job count as one point, their mean logarithm: what differs inside a job is noise to all that a job shares.
The share of a factor is what the fit loses without it, less what a factor without effect would take by chance; what two
factors explain only together belongs to neither, and is said.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from hopperkit.analysis.clustered import Array
from hopperkit.analysis.regression import Interval, variance_split
from hopperkit.questions.result import Column, Result, table
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.run_times import read_run_times
from hopperkit.readers.source import by_path
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.text import count, listed

FEWEST_POINTS = 12
# A factor with more kinds than this share of the points tells points apart, not kinds of them.
_MOST_KINDS = 0.34
# So far above the middle, in spreads of the middle half, a run is slow; and so much rarer elsewhere is what it had.
_SLOW_SPREADS, _RARER, _RARE = 3.0, 3.0, 0.1
_MAX_SLOW, _SAMPLES = 12, 199


class Share(NamedTuple):
    """What a factor explains of the variance of the logarithm of run times.

    Parameters
    ----------
    factor : str
    own : Interval
        Only it, with the others held. [fraction]
    alone : float
        If nothing else were known. [fraction]
    """

    factor: str
    own: Interval
    alone: float


def explain_runs(
    runs: Any,
    jobs: Any = None,
    *,
    upgrades: Sequence[str] = (),
    column: str | None = None,
    job: str | None = None,
    seed: int = 0,
) -> Result:
    """Return what explains run times, and the slow runs with what was different.

    Parameters
    ----------
    runs : path, open file, DataFrame or other that `hopperkit.read_run_times` takes
        A row a run. Every further column with a few kinds, or numbers, is a factor.
    jobs : path, open file, DataFrame, Trace or None
        The accounting, joined by the job: partition, account, first node, and when the job started (drift).
    upgrades : sequence of str
        Dates such as ``2026-03-01``: the time between two of them is a factor. Needs `jobs`.
    column, job : str or None
        Columns of the times and of the job; None finds them by their names.
    seed : int
        Of the samples of jobs behind the intervals.

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
    found = _joined(frame, group, jobs, upgrades) if jobs is not None else frame
    left = {read.column, "run_time", group, "_log", read.when}
    points = found.groupby(group, sort=False)
    numbers = [name for name in found.select_dtypes("number") if name not in left]
    words = [name for name in found.columns if name not in left and name not in numbers]
    made = points["_log"].mean().to_frame()
    made = made.join(points[numbers].mean()).join(points[words].first())
    factors = {name: design for name in [*numbers, *words] if (design := _design(made[name])) is not None}
    if len(made) < FEWEST_POINTS or not factors:
        raise InputError(
            f"{count(len(made), 'job')} with {count(len(factors), 'factor')} that differs: at least {FEWEST_POINTS} jobs and one are needed"
        )
    shares, together = _shares(made["_log"].to_numpy(), factors, np.random.default_rng(seed))
    return _result(made, found, group, shares, together, list(factors))


def _joined(frame: pd.DataFrame, group: str, jobs: Any, upgrades: Sequence[str]) -> pd.DataFrame:
    """Return the runs with what the accounting says of their jobs."""
    trace = (jobs if hasattr(jobs, "workload") else by_path(read_job_trace)(jobs)).to_frame()
    told = trace[~trace.index.duplicated()]
    told = told.set_axis(told.index.astype(str))
    began = told["start"]
    kept = told[["partition", "account"]].assign(
        first_node=told["node_list"].str.replace(r"\[(\d+)[^\]]*\].*", r"\1", regex=True).str.partition(",")[0],
        day=(began - began.min()) / pd.Timedelta("1D"),
    )
    if upgrades:
        dates = [pd.Timestamp(date).tz_localize(began.dt.tz) for date in upgrades]
        kept["upgrade"] = began.map(lambda at: f"after {sum(at >= date for date in dates)} upgrades")
    both = frame.join(kept.rename(columns={name: f"{name}_of_job" for name in kept if name in frame}), on=group)
    if both["day"].isna().all():
        raise InputError(f"no {group} of the runs is in the accounting, whose first is {told.index[0]!r}")
    return both[both["day"].notna()]


def _design(column: pd.Series) -> Array | None:
    """Return a factor as columns of numbers, centered; None if it does not differ, or tells points apart."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(float)[:, None]
    else:
        if column.nunique() > _MOST_KINDS * len(column):
            return None
        values = pd.get_dummies(column.fillna("unknown"), drop_first=True).to_numpy(float)
    if not values.size or not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    return np.asarray(values - values.mean(axis=0))


def _left(y: Array, designs: Sequence[Array]) -> tuple[float, int]:
    """Return the squares that a fit leaves, and its rank."""
    x = np.column_stack([np.ones(len(y)), *designs])
    solution, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
    return float(((y - x @ solution) ** 2).sum()), int(rank)


def _explained(y: Array, factors: dict[str, Array]) -> tuple[dict[str, tuple[float, float]], float]:
    """Return of each factor the share of its own and alone, and the share of all."""
    total = float(((y - y.mean()) ** 2).sum())
    rest, rank = _left(y, list(factors.values()))
    noise = rest / max(1, len(y) - rank)
    shares = {}
    for name, design in factors.items():
        without, fewer = _left(y, [other for key, other in factors.items() if key != name])
        only, kinds = _left(y, [design])
        alone = total - only - (kinds - 1) * only / max(1, len(y) - kinds)
        shares[name] = (max(0.0, (without - rest - (rank - fewer) * noise) / total), max(0.0, alone / total))
    return shares, max(0.0, (total - rest - (rank - 1) * noise) / total)


def _shares(y: Array, factors: dict[str, Array], rng: np.random.Generator) -> tuple[list[Share], float]:
    """Return the shares with intervals over samples of jobs, the largest first, and the share of all together."""
    own, together = _explained(y, factors)
    draws: dict[str, list[float]] = {name: [] for name in factors}
    while len(draws[next(iter(factors))]) < _SAMPLES:
        rows = rng.integers(len(y), size=len(y))
        if np.ptp(y[rows]):
            for name, (share, _) in _explained(y[rows], {key: part[rows] for key, part in factors.items()})[0].items():
                draws[name].append(share)
    ends = {name: np.quantile(draws[name], (0.025, 0.975)).tolist() for name in factors}
    made = [Share(name, Interval(ends[name][0], own[name][0], ends[name][1]), own[name][1]) for name in factors]
    return sorted(made, key=lambda share: -share.own.estimate), together


def _slow(found: pd.DataFrame, group: str, factors: Sequence[str]) -> list[dict[str, Any]]:
    """Return the slow runs, the slowest first, with what hardly any other run had."""
    off = found["_log"] - found["_log"].median()
    spread = 1.4826 * float(off.abs().median())
    slow = found[off > max(_SLOW_SPREADS * spread, 0.05)].sort_values("_log", ascending=False)
    rest = found[~found.index.isin(slow.index)]
    rows = []
    for at, run in slow.head(_MAX_SLOW).iterrows():
        different = [f"{name} {_shown(run[name])}" for name in factors if _is_rare(run[name], rest[name], slow[name])]
        rows.append(
            {
                "job": run[group],
                "times_the_median": math.exp(off[at]),
                "different": ", ".join(different) or "nothing here",
            }
        )
    return rows


def _is_rare(value: Any, rest: pd.Series, slow: pd.Series) -> bool:
    """Whether a value is one that other runs hardly have."""
    if pd.api.types.is_numeric_dtype(rest):
        return bool(value > rest.quantile(0.98) or value < rest.quantile(0.02))
    others = float((rest == value).mean())
    return others < _RARE and float((slow == value).mean()) > _RARER * others


def _shown(value: Any) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


def _mixed_up(shares: Sequence[Share]) -> list[str]:
    """Return the pairs of factors that explain much alone and little beside each other."""
    shared = [share for share in shares if share.alone > 0.1 and share.own.estimate < share.alone / 2]
    return [f"{one.factor} and {other.factor}" for one, other in combinations(shared, 2)]


def _result(
    made: pd.DataFrame, found: pd.DataFrame, group: str, shares: list[Share], together: float, factors: list[str]
) -> Result:
    """Return the answer in words and tables."""
    sure = [share for share in shares if share.own.low > 0.01]
    slow, mixed, inside = _slow(found, group, factors), _mixed_up(shares), None
    if len(made) < len(found):
        inside = variance_split(found["_log"], found[group]).within_fraction
    parts = listed(f"{share.factor} {100 * share.own.estimate:.0f} %" for share in sure) if sure else ""
    noise = (
        f" Inside a job lies {100 * inside:.0f} % of the variance, which no property of a job explains."
        if inside
        else ""
    )
    findings = [
        Finding("not-separated", f"{pair} cannot be separated: they change together in these runs.", "unknown")
        for pair in mixed
    ]
    return Result(
        summary=(
            f"Of the differences between {count(len(made), 'job')} explain, each by itself: {parts}."
            if parts
            else f"None of {listed(factors)} surely explains the differences between {count(len(made), 'job')}."
        )
        + f" All together explain {100 * together:.0f} %."
        + noise,
        findings=tuple(findings),
        tables=(
            table(
                "Shares of the variance of the logarithm of the run time, with intervals of 95 % over samples of jobs",
                shares,
                {
                    "Factor": lambda share: share.factor,
                    Column("By itself", "%", 1): lambda share: 100 * share.own.estimate,
                    Column("From", "%", 1): lambda share: 100 * share.own.low,
                    Column("To", "%", 1): lambda share: 100 * share.own.high,
                    Column("If nothing else were known", "%", 1): lambda share: 100 * share.alone,
                },
            ),
            table(
                "Slow runs, the slowest first",
                slow,
                {
                    group.capitalize(): lambda row: row["job"],
                    Column("Times the median", "", 2): lambda row: row["times_the_median"],
                    "What hardly any other run had": lambda row: row["different"],
                },
            ),
        ),
        facts={
            "shares": [{**share._asdict(), "own": share.own._asdict()} for share in shares],
            "together": together,
            "inside": inside,
            "not_separated": mixed,
            "slow": slow,
        },
    )
