"""Needs of people with job logs, networks and benchmark histories, with the commands that they would type.

Each case is an input that was answered wrong once; the words are the answer that the person needed.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper

FIELD = Path(__file__).parent / "field"
WLCG = "JobID,JobName,User,Account,Start,End,Elapsed,CPUTimeRAW,Partition,NCPUS,NNodes,NodeList,MaxRSS,MaxVMSize,State"
CASES = {
    # Waits of a GPU cluster's log: job 1 waited ten minutes. Its headings are read by name.
    "F12": (["simulate", "--trace", "F12.csv"], ["node_num as NNodes", "(observed: 600 s)"]),
    # Jobs of a site without a database: the waits are there, only too few for rules.
    "F14": (["trace", "learn", "F14.txt"], ["Too few jobs waited to learn rules", "0 jobs waited a minute or more"]),
    # Without submissions: use and run times are there, waits are not, and no zero is shown for them.
    "L2": (["simulate", "--trace", "L2.txt", "--columns", WLCG], ["51 node-hours", "Waits are not in this log."]),
    "L6": (["simulate", "--trace", "L6.csv"], ["1,625 node-hours", "Waits are not in this log."]),
    # Accounting of PBS: waits of 10 and 510 s.
    "L8": (["simulate", "--trace", "L8.txt"], ["2 jobs on 2 nodes", "(observed: 260 s)"]),
    # A step of 3 % in noise of 8 %, 400 runs: too small to be seen, and what would have been seen is stated.
    "L11": (["watch", "L11.csv"], ["No lasting change in 1 series. A change of 5.6 % halfway through would have been seen"]),
    # 120 jobs one after another on one node, over the hour that a clock repeats: 0 to 119 times 3,000 s, mean 178,500 s.
    "L20": (["simulate", "--trace", "L20.txt", "--timezone", "Europe/Berlin"], ["120 jobs on 1 node", "a job waits 178,500 s on average (observed: 178,500 s)"]),
}  # fmt: skip


def said(words, monkeypatch):
    """Output of a command, in a folder with the inputs."""
    monkeypatch.chdir(FIELD)
    done = CliRunner().invoke(hopper, words, prog_name="hopper")
    assert done.exit_code in (0, 1), done.output
    return done.output


@pytest.mark.parametrize("case", CASES)
def test_the_answer_that_was_needed(case, monkeypatch):
    words, needed = CASES[case]
    told = " ".join(said(words, monkeypatch).split())
    assert [text for text in needed if text not in told] == []


def test_no_policy_is_shown_by_a_log_that_the_default_simulates_exactly(monkeypatch):
    told = said(CASES["L20"][0], monkeypatch)
    assert "policy: Slurm's backfill at its defaults" in told
    assert "as the log shows" not in told


@pytest.mark.parametrize("case", ["L2", "L6"])
def test_no_wait_is_invented(case, monkeypatch):
    told = said(CASES[case][0], monkeypatch)
    assert "a job waits" not in told
    assert "observed mean wait" not in told.lower()


def test_the_jobs_of_a_network_with_headings_of_chassis(monkeypatch, tmp_path):
    jobs = tmp_path / "jobs.txt"
    heading = "JobID|State|Submit|Start|End|Elapsed|NNodes|NodeList"
    times = "2026-01-05T08:00:00|2026-01-05T08:10:00|2026-01-05T09:10:00|01:00:00"
    jobs.write_text(f"{heading}\n1|COMPLETED|{times}|2|node[1-2]\n")
    words = ["trace", "places", str(jobs), "--network", "F03.topo"]
    assert said(words, monkeypatch).splitlines()[1] == "1,2,1,1,1,1,1.0,1.0,600,3600"
    # A node that the network lacks is named, not one that it has.
    jobs.write_text(f"{heading}\n1|COMPLETED|{times}|2|node[1,7]\n")
    done = CliRunner().invoke(hopper, words, prog_name="hopper")
    assert done.exit_code == 2
    assert "it has no 'node7'" in done.output
