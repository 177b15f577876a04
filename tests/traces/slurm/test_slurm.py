"""The simulator against runs of an unmodified Slurm under virtual time: the numbers of the page, recomputed."""

from __future__ import annotations

import csv
import re
import sys
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

import pytest

from hopperkit.traces.changes.scenario import Scenario, simulated_waits
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.backfill import Backfill

sys.path.insert(0, str(Path(__file__).parent))
from settings import (
    FOLDER,
    RESUBMITTED,
    agreement,
    bootstrapped_ratios,
    first_run,
    named_request,
    predicted_effect,
    predicted_request,
    rows_of,
    runs_in,
    simulated,
    table,
    waits,
    waits_with,
)

PAGE = (FOLDER.parents[2] / "book" / "slurm.md").read_text(encoding="utf-8")
TABLES = sorted(path.name.removesuffix(".csv.gz") for path in FOLDER.glob("*.csv.gz"))
# The model was developed on the first lists; the second ones were predicted.
FIRST, SECOND = ([name for name in TABLES if name.endswith(end)] for end in ("-1", "-2"))


def kept(name: str) -> dict[str, dict[str, str]]:
    """Rows of a file of kept numbers, by their first column."""
    with (FOLDER / name).open() as lines:
        return {next(iter(row.values())): row for row in csv.DictReader(lines)}


KEPT, MEANS, EFFECTS = kept("agreement.csv"), kept("predicted-means.csv"), kept("predicted-effects.csv")


def measured(name: str) -> dict[str, str]:
    """How well the simulator agrees with a table's runs, as the file of kept numbers has it."""
    setting, rows, observed, ours = table(name)
    runs = list(observed)
    plain = {run: simulated(setting, rows, run, policy="easy") for run in runs}
    mean = fmean(map(fmean, observed.values()))
    itself = [agreement(observed[one], observed[other]) for one, other in combinations(runs, 2)]

    def correlation(simulations: dict[int, list[int]]) -> str:
        return f"{fmean(agreement(simulations[run], observed[run]) for run in runs):.2f}"

    return {
        "table": name,
        "runs": str(len(runs)),
        "observed_mean_s": f"{mean:.0f}",
        "slurm_with_itself": f"{fmean(itself):.2f}" if itself else "",
        "correlation": correlation(ours),
        "mean_fraction": f"{fmean(map(fmean, ours.values())) / mean:.2f}",
        "easy_correlation": correlation(plain),
        "easy_mean_fraction": f"{fmean(map(fmean, plain.values())) / mean:.2f}",
    }


@pytest.mark.parametrize("name", TABLES)
def test_agreement_is_what_is_kept(name):
    assert measured(name) == KEPT[name]


def test_every_table_is_kept_and_the_page_has_its_numbers():
    assert sorted(KEPT) == TABLES
    rows = {
        cells[0]: cells[1:]
        for line in PAGE.splitlines()
        if line.startswith("| `") and len(cells := re.findall(r"[^|`\s][^|`]*[^|`\s]|[^|`\s]", line)) == 8
    }
    for name, of in KEPT.items():
        assert rows[name] == [
            of["runs"],
            of["slurm_with_itself"] or "-",
            of["correlation"],
            of["easy_correlation"],
            of["observed_mean_s"],
            f"{round(100 * float(of['mean_fraction']))} %",
            f"{round(100 * float(of['easy_mean_fraction']))} %",
        ]


@pytest.mark.parametrize("name", TABLES)
def test_slurms_backfill_is_nearer_than_easy(name):
    of = KEPT[name]
    assert float(of["correlation"]) >= float(of["easy_correlation"])
    if of["slurm_with_itself"]:
        assert float(of["correlation"]) >= 0.75 * float(of["slurm_with_itself"])


def test_the_page_has_the_means_that_were_predicted():
    near = 0
    for name in SECOND:
        setting = name.removesuffix("-2")
        slurm_s, easy_s = (int(MEANS[setting][column]) for column in ("slurm_s", "easy_s"))
        observed_s = int(KEPT[name]["observed_mean_s"])
        off = round(100 * (slurm_s / observed_s - 1))
        assert f"| `{setting}` | {slurm_s:,} | {easy_s:,} | {observed_s:,} | {off:+d} % |" in PAGE
        near += abs(slurm_s / observed_s - 1) <= 0.1
    assert f"{near} of {len(SECOND)} predictions are within 10 %" in PAGE
    assert near >= 0.75 * len(SECOND)


def test_the_page_has_what_changes_did_to_slurm():
    """Effects were predicted from one run of fifo, before the other settings ran."""
    before_s = int(KEPT["fifo-2"]["observed_mean_s"])
    right, inside = {}, {}
    for setting, row in EFFECTS.items():
        low, effect, high = (100 * float(row[column]) for column in ("low", "effect", "high"))
        observed = 100 * (int(KEPT[f"{setting}-2"]["observed_mean_s"]) / before_s - 1)
        inside[setting] = low <= observed <= high
        if low > 0 or high < 0:
            right[setting] = (effect > 0) == (observed > 0)
        told = f"| `{setting}` | {effect:+.0f} % | {low:+.0f} to {high:+.0f} % | {observed:+.0f} % | {'yes' if inside[setting] else 'no'} |"
        assert told in PAGE
    assert f"the sign is right in {sum(right.values())} of {len(right)}" in PAGE
    assert all(right.values())
    assert f"the band holds the effect in {sum(inside.values())} of {len(inside)}" in PAGE


@pytest.mark.nightly
@pytest.mark.parametrize("setting", EFFECTS)
def test_the_effects_are_those_that_the_model_predicts(setting):
    own = [row["partition"] for row in table(f"{setting}-2").rows]
    found = predicted_effect(setting, table("fifo-2").rows, 1, own)
    assert [f"{number:.3f}" for number in found] == [EFFECTS[setting][column] for column in ("low", "effect", "high")]


@pytest.mark.parametrize(("names", "called"), [(FIRST, "all first lists"), (SECOND, "all second lists")])
def test_the_page_has_the_ratio_to_slurms_agreement_with_itself(names, called):
    """With the interval of 95 % over jobs that are drawn with replacement."""
    for name, numbers in bootstrapped_ratios(names).items():
        low, point, high = (f"{number:.2f}" for number in numbers)
        assert f"| {called if name == 'all' else f'`{name}`'} | {point} | {low} to {high} |" in PAGE
        assert numbers[1] >= (0.9 if name == "all" else 0.75)


with (FOLDER / "predicted-requests.csv").open() as lines:
    REQUESTS = list(csv.DictReader(lines))


def resubmitted(row):
    """Sorted waits of a job in Slurm: with the original and with the changed request; and the change. [s]"""
    name, number = row["table"], int(row["job"])
    before = rows_of(FOLDER / f"{name}.csv.gz")
    rounded = "-rounded" if row["resolution_s"] != "1" else ""
    after = rows_of(FOLDER / "resubmitted" / f"{name}-{number}{rounded}.csv.gz")
    request = ("submit_s", "nodes", "cpus", "limit_s", "run_s", "partition")
    changed = {
        (job, column): (old[column], new[column])
        for job, (old, new) in enumerate(zip(before, after, strict=True))
        for column in request
        if old[column] != new[column]
    }
    return [sorted(waits([rows[number]], run)[0] for run in runs_in(rows)) for rows in (before, after)], changed


@pytest.mark.parametrize("row", REQUESTS, ids=lambda row: f"{row['table']}-{row['job']}-{row['resolution_s']}")
def test_slurm_was_given_the_request_that_was_predicted(row):
    (_, with_request), changed = resubmitted(row)
    assert len(with_request) == 3
    (kind,) = {column for _, column in changed} - {"cpus"}
    assert {job for job, _ in changed} == {int(row["job"])}
    old, new = changed[int(row["job"]), kind]
    minutes = {"limit_s": lambda seconds: f"{seconds // 60} min" if seconds < 3600 else "1 h"}.get(kind, str)
    told = {"limit_s": "a limit of {} instead of {}", "nodes": "{} nodes instead of {}, for as long"}
    assert row["request"] == told.get(kind, "partition {} instead of {}").format(minutes(new), minutes(old))


def test_the_page_has_what_changed_requests_did():
    earlier, near = {"1": [], "60": []}, {"1": [], "60": []}
    for row in REQUESTS:
        before, after = resubmitted(row)[0]
        # A tenth of the wait is what the command takes for a gain.
        earlier[row["resolution_s"]].append(median(before) - median(after) >= 0.1 * median(before))
        near[row["resolution_s"]].append(abs(median(after) - int(row["with_s"])) <= 0.1 * median(before))
        predicted = " | ".join(
            f"{int(row[f'{when}_s']):,} ({int(row[f'{when}_low_s']):,} to {int(row[f'{when}_high_s']):,})"
            for when in ("before", "with")
        )
        observed = " | ".join(f"{median(of):,.0f} ({of[0]:,} to {of[-1]:,})" for of in (before, after))
        assert f"| `{row['table']}`, {row['job']} | {row['request']} | {predicted} | {observed} |" in PAGE
    total = {kind: sum(sum(of) for of in found.values()) for kind, found in (("earlier", earlier), ("near", near))}
    assert f"in Slurm in {total['earlier']} of {len(REQUESTS)} cases" in PAGE
    for of, well in zip(earlier.values(), near.values(), strict=True):
        assert f"{sum(of)} of {len(of)} jobs started clearly earlier, {sum(well)} of them about when predicted" in PAGE


@pytest.mark.parametrize(
    "row", [row for row in REQUESTS[:8] if row["table"] + row["job"] in ("overlap-166", "more-nodes-214")]
)
def test_rounding_explains_the_changes_that_did_nothing(row):
    rules = Learned(policy=Backfill())
    asked = row["table"], int(row["job"]), row["request"], rules
    with_request = median(waits_with(*asked, times=3)[1])
    assert abs(with_request - median(resubmitted(row)[0][1])) <= 30
    assert f"{row['job']} of `{row['table']}`" in PAGE
    assert f" {with_request:,.0f} s" in PAGE
    assert named_request(*asked[:2], rules) != row["request"]


@pytest.mark.nightly
@pytest.mark.parametrize("resolution_s", RESUBMITTED)
def test_the_requests_are_those_that_the_model_predicts(resolution_s):
    found = [predicted_request(resolution_s, *job) for job in RESUBMITTED[resolution_s]]
    assert found == [row for row in REQUESTS if row["resolution_s"] == str(resolution_s)]


@pytest.mark.parametrize(("depth", "observed"), [(5, "shallow-2"), (0, "no-backfill-2")])
def test_a_change_of_depth_is_one_of_slurms_backfill(depth, observed):
    """The mean wait at another depth, from a run of fifo, is near that of Slurm at that depth: more than twice as long."""
    log, room = first_run("fifo-2")
    scenario = Scenario(name="depth", depth=depth)
    after = fmean(simulated_waits(log, room, Clock(0), Learned(policy=Backfill()), scenario)[0])
    assert after == pytest.approx(int(KEPT[observed]["observed_mean_s"]), rel=0.2)
    assert after > 1.7 * int(KEPT["fifo-2"]["observed_mean_s"])


@pytest.mark.parametrize(
    ("name", "depths", "order"),
    [
        ("fifo-2", {500}, "submission"),
        ("more-nodes-2", {500}, "submission"),
        ("shallow-2", {3, 10}, "submission"),
        ("no-backfill-2", {"fcfs"}, "submission"),
        ("wide-first-2", {500}, "size"),
    ],
)
def test_what_is_learned_of_a_run_is_how_slurm_was_set(name, depths, order):
    """From Slurm's defaults; these runs were seen when the thresholds for it were set."""
    rules, _ = learn(*first_run(name), Clock(0), base=Learned(policy=Backfill()))
    assert getattr(rules.policy, "depth", rules.policy) in depths
    assert (rules.order, rules.closed, rules.limits, rules.preferred) == (order, (), (), None)
