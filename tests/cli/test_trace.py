"""`hopper trace`: rules, their test on later weeks, why a job waited."""

import json
import random
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.questions.question import load
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a log of 400 jobs on 4 nodes: 4 nodes for an hour, one every 70 minutes, each followed by one of a single node."""
    lines = ["; MaxNodes: 4", "; UnixStartTime: 1704067200"]
    for pair in range(200):
        begun = 4200 * pair
        # A wide job starts at once; a narrow one comes a minute later and waits for its end, 3,540 s.
        lines.append(f"{2 * pair + 1} {begun} 0 3600 4 -1 -1 4 3600 -1 1 1 1 -1 1 -1 -1 -1")
        lines.append(f"{2 * pair + 2} {begun + 60} 3540 300 1 -1 -1 1 600 -1 1 2 1 -1 1 -1 -1 -1")
    path = tmp_path_factory.mktemp("logs") / "log.swf"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(*words):
    """Return the result of a command line."""
    return CliRunner().invoke(hopper, ["trace", *words])


def test_a_wait_by_its_causes(log):
    result = run("why", log, "2", "--json")
    facts = json.loads(result.stdout)
    assert (result.exit_code, facts["wait_s"], facts["parts_s"]) == (0, 3540, {"full": 3540})
    assert "waited 59 min: no node was idle (59 min)" in run("why", log, "2").stdout
    assert "did not wait" in run("why", log, "1").stdout


def test_rules_and_their_test(log):
    assert json.loads(run("learn", log, "--json").stdout)["rules"]["policy"] == "easy"
    facts = json.loads(run("backtest", log, "--json").stdout)
    told = {judged["name"]: judged for judged in facts["judged"]}
    # EASY gives just these waits, so that the simulation errs by nothing; half of the jobs waited 3,540 s.
    assert (facts["learned_from"], facts["judged_on"]) == (240, 160)
    assert (told["easy"]["rank_correlation"], told["easy"]["mean_error_s"]) == pytest.approx((1, 0))
    assert told["constant"]["mean_error_s"] == pytest.approx(1770)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("why", "LOG", "4000"), "job '4000' is not among the 400 usable jobs"),
        (("learn", "LOG", "--nodes", "0"), "0 is not in the range x>=1"),
        (("learn", "nowhere.swf"), "nowhere.swf"),
        (("learn", "LOG", "--cores-per-node", "-1"), "-1 is not in the range x>=0"),
    ],
)
def test_refusals(log, words, message):
    result = run(*(log if word == "LOG" else word for word in words))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_what_changed_at_a_date(log):
    # The log is the same before and after: 4,200 s times 100 pairs are 4.9 days.
    facts = json.loads(run("since", log, "2024-01-05T20:00", "--json").stdout)
    assert facts["before"]["jobs"] + facts["after"]["jobs"] == 400
    assert facts["change"] == pytest.approx(0, abs=0.02)
    assert facts["interval"] is None
    assert "too few to separate" in run("since", log, "2024-01-05T20:00").stdout


def test_simulating_with_learned_rules(log):
    facts = load("simulate").run(trace=log, learned=True).facts
    assert facts["mean_wait_s"] == pytest.approx(1770)
    assert "learned-order-unknown" in [note["code"] for note in facts["notes"]]
    with pytest.raises(ValueError, match="learned rules require whole nodes of one pool"):
        load("simulate").run(trace=log, learned=True, queues="widest-first")


def test_changes_side_by_side(log):
    result = run("what-if", log, "--nodes", "+1", "--depth", "0", "--json")
    facts = json.loads(result.stdout)
    # Five nodes: the narrow job starts at once. Without backfill nothing changes.
    more, depth, both = facts["changes"]
    assert (result.exit_code, facts["observed_wait_s"], facts["simulated_wait_s"]) == (0, 1770, 1770)
    assert (more["difference"], depth["difference"], both["change"]) == (-1, 0, "all together")
    assert (more["low"], facts["weeks"]) == (None, 2)
    assert "unknown: 2 weeks are too few, 8 are needed" in run("what-if", log, "--nodes", "+1").stdout


def test_a_longest_walltime_a_split_and_a_drain(log):
    words = ("--max-walltime", "30m", "--drain", "2024-01-02T00:00/12h:node[1-2]", "--partition", "split:20m:50%")
    result = run("what-if", log, *words[:4], "--json")
    pieces, drained, both = json.loads(result.stdout)["changes"]
    # A job of an hour comes in two pieces, between which the narrow one runs its 300 s: it waits 1,740 s, as do 300 s the second.
    assert pieces["wait_s"] == pytest.approx((1740 + 300) / 2)
    assert drained["wait_s"] > 1770 < both["wait_s"]
    # The wide job is wider than either side, and has nodes of both.
    assert run("what-if", log, *words[4:]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "choose a change: --nodes, --max-walltime"),
        (("--nodes", "many"), "--nodes many must be like +10%"),
        (("--nodes", "-4"), "must leave from 1 to 200,000 nodes; it gives 0 of 4"),
        (("--depth", "deep"), "--depth deep must be a number of blocked jobs, or all"),
        (("--partition", "half"), "must be like split:4h:25%"),
        (("--max-walltime", "1s"), "must be at least a minute"),
        (("--max-walltime", "long"), "'long' is not a duration"),
        (("--drain", "soon"), "must be like 2026-12-01T08:00/12h:node[1-64]"),
        (("--drain", "2026-12-01T08:00/12h"), "must be in the log, which has submissions from 2024-01-01T00:00"),
        (("--drain", "2024-01-02T00:00/12h:node[1-5]"), "must name nodes by their numbers, from 1 to 4"),
        (("--shared",), "needs a log with the cores of its jobs"),
    ],
)
def test_changes_that_are_refused(log, words, message):
    result = run("what-if", log, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.fixture(scope="module")
def sacct(tmp_path_factory):
    """Return the output of sacct: 150 pairs as in the log above, then one that runs and one that waits."""
    lines = ["JobID|User|State|Submit|Start|Elapsed|Timelimit|NNodes"]

    def stamp(at):
        return f"2024-01-{1 + at // 86_400:02d}T{at // 3600 % 24:02d}:{at // 60 % 60:02d}:{at % 60:02d}"

    for pair in range(250):
        begun = 4200 * pair
        lines.append(f"{2 * pair + 1}|a|COMPLETED|{stamp(begun)}|{stamp(begun)}|01:00:00|01:00:00|4")
        lines.append(f"{2 * pair + 2}|b|COMPLETED|{stamp(begun + 60)}|{stamp(begun + 3600)}|00:05:00|00:05:00|1")
    begun = 4200 * 250
    lines.append(f"901|a|RUNNING|{stamp(begun)}|{stamp(begun)}|00:01:00|01:00:00|4")
    lines.append(f"902|b|PENDING|{stamp(begun + 60)}|Unknown|00:00:00|00:05:00|1")
    path = tmp_path_factory.mktemp("logs") / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_when_a_waiting_job_starts(sacct):
    result = run("when", sacct, "902")
    # The job that runs ends at 250 * 4200 s + 1 h: 2024-01-13, 04:40 UTC.
    assert result.exit_code == 0
    assert "Job 902 has waited 0 s. It starts between 2024-01-13 04:40 and 2024-01-13 04:40" in result.stdout
    assert json.loads(run("when", sacct, "902", "--json").stdout)["start_s"] == 250 * 4200 + 3600
    for words, message in (
        (("when", sacct, "901"), "the job runs already"),
        (("when", sacct, "1"), "job '1' is not among the 2 running or waiting jobs"),
        (("why", sacct, "902"), "`hopper trace when` estimates the start of a waiting job"),
    ):
        refused = run(*words)
        assert (refused.exit_code, message in refused.stderr) == (2, True)


def test_places_of_jobs(tmp_path):
    (tmp_path / "topology.conf").write_text(
        "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=top Switches=a,b\n"
    )
    head = "JobID|User|State|Submit|Start|ElapsedRaw|NNodes|NodeList\n"
    times = "COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|60"
    (tmp_path / "jobs.txt").write_text(f"{head}1|ann|{times}|2|n[1,3]\n2|ann|{times}|4|n[4-7]\n")
    result = run("places", str(tmp_path / "jobs.txt"), "--network", str(tmp_path / "topology.conf"))
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "job,nodes,groups,fewest_groups,switches,runs,inside_group,inside_switch,wait_s,run_time_s",
        "1,2,1,1,1,2,1.0,1.0,0,60",
        "2,4,2,1,2,1,0.5,0.5,0,60",
    ]
    refused = run("places", str(tmp_path / "jobs.txt"), "--network", str(tmp_path / "none"))
    assert refused.exit_code == 2
    assert refused.output.startswith("hopper: ")


@pytest.fixture(scope="module")
def shared_log(tmp_path_factory):
    """Return output of sacct for 240 jobs that share two nodes of four cores, as Slurm starts them."""
    rng, jobs, now = random.Random(2), [], 0
    for number in range(240):
        now += rng.randint(0, 700) * (number > 0)
        limit, cores = rng.choice((600, 1800, 3600)), rng.choice((1, 2, 4))
        jobs.append(Job(number, now, 1, rng.randint(limit // 2, limit), limit, cores=cores, queue="batch"))
    cluster = Cluster(nodes=(NodeResources(cores=4),) * 2, partitions={"": Partition(nodes=(0, 1))})
    schedule = simulate(Workload(jobs), cluster, policy="slurm")
    lines = ["JobID|User|Partition|State|Submit|Start|Elapsed|Timelimit|NNodes|AllocCPUS|NodeList"]
    for at, job in enumerate(schedule.workload):
        times = [datetime.fromtimestamp(1704067200 + s, UTC) for s in (job.submit_time_s, schedule.start_s[at])]
        spans = [f"{s // 3600:02}:{s % 3600 // 60:02}:{s % 60:02}" for s in (job.run_time_s, job.requested_time_s)]
        node = schedule.runs(at)[0][0] + 1
        moments = "|".join(f"{time:%Y-%m-%dT%H:%M:%S}" for time in times)
        lines.append(f"{job.job}|u|batch|COMPLETED|{moments}|{'|'.join(spans)}|1|{job.cores}|n{node}")
    path = tmp_path_factory.mktemp("logs") / "sacct.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_nodes_that_jobs_share(shared_log):
    # Each node has four cores, as its jobs used them; the log is what the simulation gives, so nothing is amiss.
    facts = json.loads(run("what-if", shared_log, "--depth", "3", "--nodes", "+1", "--json").stdout)
    assert facts["simulated_wait_s"] == facts["observed_wait_s"] > 0
    assert facts["changes"][0]["use"] < facts["use"] < 1
    assert facts["single_jobs"]
    assert "cores of 8, limit" in run("why", shared_log, "200").stdout
    assert "--shared: jobs already share nodes in this log" in run("what-if", shared_log, "--shared").stderr
