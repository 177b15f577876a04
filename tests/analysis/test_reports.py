"""Reports on files: output of the notebooks on a site's data and of ``hopper report``."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from hopperkit.analysis.job_report import by_week
from hopperkit.analysis.reports import KINDS, report, since_time
from hopperkit.cli import hopper
from hopperkit.readers.jobs import read_job_trace
from hopperlib.errors import InputError

HISTORY = "time,value\n" + "".join(
    f"2026-{month:02}-{day:02},{100 if month < 3 else 80 + day % 3}\n" for month in range(1, 5) for day in range(1, 29)
)
OOM = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. Some of your processes may have been killed\n"


@pytest.fixture
def files(tmp_path):
    """A folder of each kind of file, small."""
    for name, text in {
        "history/triad.csv": HISTORY,
        "errors/a.log": OOM,
        "errors/b.log": OOM + "\n",
        "errors/c.log": "all is well\n",
        "launch/job.sh": "#!/bin/bash\n#PBS -l mppwidth=768\naprun -n 384 -N 12 vasp\n",
        "runs/x.csv": "job,run_time_s\n"
        + "".join(f"{job},{100 + job * 3 + run}\n" for job in range(8) for run in range(3)),
        "jobs/x.swf": "".join(f"{n} {n * 60} -1 300 2 -1 -1 2 400 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n in range(1, 30)),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


SETTINGS = {"runs": {"resamples": 19}, "jobs": {"nodes": 4}}


@pytest.mark.parametrize("kind", ["history", "errors", "launch", "runs", "jobs"])
def test_the_command_gives_the_numbers_of_the_function(files, kind):
    result = report(kind, files / kind, **SETTINGS.get(kind, {}))
    options = [word for name, value in SETTINGS.get(kind, {}).items() for word in ("--set", f"{name}={value}")]
    page = files / "report.html"
    done = CliRunner().invoke(hopper, ["report", kind, str(files / kind), *options, "-o", str(page), "--json"])
    assert done.exit_code in (0, 1), done.output
    given = json.loads(done.stdout)
    assert given["answer"]["summary"] == result.summary
    assert {name: given[name] for name in result.facts} == json.loads(json.dumps(dict(result.facts)))
    html = page.read_text(encoding="utf-8")
    assert len(html) < 2_000_000
    assert "<script" not in html
    assert not any(f"{mark}http" in html.replace("http://www.w3.org", "") for mark in ('src="', 'href="', "url("))


def test_logs_are_counted_by_cause(files):
    result = report("errors", files / "errors")
    assert [(row[1], row[0]) for row in result.tables[0].rows if row[1] != "no-cause"] == [("SLURM-OOM", 2)]
    assert result.to_frame("rows")["text"].eq("").tolist() == [False, False, True]
    assert result.summary.startswith("3 outputs: 2 have a cause of failure")


def test_since_counts_runs_where_they_tell_their_times(files):
    # Changed in March; from April on there is one level, and nothing to tell.
    assert "changed by" in report("history", files / "history").summary
    assert report("history", files / "history", since="2026-03-15").summary.startswith("No lasting change in 1 series.")


def test_since_counts_files_elsewhere(files):
    os.utime(files / "errors" / "b.log", (0, 0))
    assert report("errors", files / "errors", since="30d").summary.startswith("2 outputs: 1 has a cause")


def test_outputs_of_io_and_what_is_none(root, files):
    result = report("io", [root / "data" / "samples" / "ior" / "ior-4.0.0.posix-fpp.txt", files / "errors" / "c.log"])
    assert "write at best" in result.summary
    assert [finding.code for finding in result.findings][-1] == "not-read"


# An IO500 run: bandwidths whose mean is the fourth root of 25,000, and ten thousand operations a second of each kind.
BANDWIDTHS = {"ior-easy-write": 40.0, "ior-hard-write": 2.5, "ior-easy-read": 50.0, "ior-hard-read": 5.0}
METADATA = [f"mdtest-{way}-{what}" for way in ("easy", "hard") for what in ("write", "stat", "delete")]
PHASES = [(name, value, "GiB/s") for name, value in BANDWIDTHS.items()]
PHASES += [(name, 10.0, "kIOPS") for name in (*METADATA, "mdtest-hard-read", "find")]
IO500 = "".join(f"[RESULT] {name} {value:.6f} {unit} : time 300.5 seconds\n" for name, value, unit in PHASES)
IO500 += f"[SCORE ] Bandwidth {25_000**0.25:.6f} GiB/s : IOPS 10.0 kiops : TOTAL {(25_000**0.25 * 10) ** 0.5:.6f}\n"
# What darshan-parser prints of a log: one task wrote 1,000,000,000 bytes in 100 calls.
PARSED = """# darshan log version: 3.41
# exe: /home/u/a.out
# jobid: 77
# nprocs: 24
# run time: 40.5000
# mount entry:\t/scratch\tlustre
POSIX\t0\t9\tPOSIX_OPENS\t1\t/scratch/out\t/scratch\tlustre
POSIX\t0\t9\tPOSIX_WRITES\t100\t/scratch/out\t/scratch\tlustre
POSIX\t0\t9\tPOSIX_BYTES_WRITTEN\t1000000000\t/scratch/out\t/scratch\tlustre
"""


def test_io500_folders_and_darshan_logs_stand_in_one_report(files):
    for name, text in (("2026-11-01/result_summary.txt", IO500), ("logs/job.txt", PARSED), ("logs/notes.txt", "later")):
        (files / "io" / name).parent.mkdir(parents=True, exist_ok=True)
        (files / "io" / name).write_text(text)
    result = report("io", files / "io")
    assert result.summary.startswith("Score 11.2135: 12.5743 GiB/s, 10 kIOPS; 12 phases. 1 job: ")
    assert "1 GB written." in result.summary
    assert (result.facts["score"], [job["tasks"] for job in result.facts["jobs"]]) == (
        pytest.approx(11.2135, abs=5e-5),
        [24],
    )
    assert [finding.message.rpartition("/")[2] for finding in result.findings if finding.code == "not-read"] == [
        "notes.txt: it contains no output of IOR or mdtest"
    ]
    done = CliRunner().invoke(hopper, ["report", "io", str(files / "io"), "--json"])
    assert json.loads(done.stdout)["answer"]["summary"] == result.summary


def test_a_log_as_darshan_writes_it_is_read_by_pydarshan(files):
    darshan = pytest.importorskip("darshan")
    examples = sorted(Path(darshan.__file__).parent.rglob("*.darshan"))
    shutil.copy(examples[0], files / "job.darshan")
    result = report("io", files / "job.darshan")
    assert result.summary.startswith("1 job: ")
    assert result.facts["jobs"][0]["log"] == str(files / "job.darshan")


@pytest.mark.parametrize("kind", ["errors", "launch", "history"])
def test_without_files_it_is_about_the_samples(kind):
    assert len(report(kind).to_frame()) > 1


@pytest.mark.parametrize(
    ("kind", "paths", "options", "message"),
    [
        ("job", [], {}, "kind='job' must be one of: jobs, runs"),
        ("runs", [], {"spalte": "x"}, "a report on runs has no setting 'spalte'; it has: column, group"),
        ("runs", ["no/such.csv"], {}, "no/such.csv: there is no such file"),
        ("errors", [], {"since": "yesterday"}, "since='yesterday' must be a date such as 2026-11-01, or a span"),
    ],
)
def test_what_makes_no_report_is_refused(kind, paths, options, message):
    with pytest.raises(InputError, match=message):
        report(kind, paths, **options)


def test_an_empty_folder_and_old_files_are_told(files):
    (files / "nothing").mkdir()
    with pytest.raises(InputError, match="the folder has no files"):
        report("runs", files / "nothing")
    os.utime(files / "launch" / "job.sh", (0, 0))
    with pytest.raises(InputError, match="no file was changed since 1h"):
        report("launch", files / "launch", since="1h")
    with pytest.raises(InputError, match="the trace has no dates"):
        report("jobs", files / "jobs", since="1h", nodes=4)


def test_spans_and_dates():
    assert since_time("2w", now=2_000_000) == 2_000_000 - 14 * 86_400
    assert since_time("2026-01-02") - since_time("2026-01-01") == 86_400
    assert set(KINDS) == {"jobs", "runs", "history", "io", "errors", "launch"}


def test_an_ensemble_at_the_prompt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["ensemble", "memory", "--vary", "need_gb=1:2:0.5", "--vary", "machine=hopper,franklin", "--workers", "0"]
    done = CliRunner().invoke(hopper, [*words, "--answer", "best_nodes", "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert (result["runs"], result["answer"]) == (6, "best_nodes")
    assert [row["need_gb"] for row in result["summary"]] == [1.0, 1.0, 1.5, 1.5, 2.0, 2.0]
    assert len(list((tmp_path / "ensemble-memory").glob("*.parquet"))) == 6


def test_seeds_begin_where_the_question_lets_them(tmp_path, monkeypatch):
    # The control of `fragmentation` takes 1 to 9999.
    monkeypatch.chdir(tmp_path)
    words = ["ensemble", "fragmentation", "--vary", "days=2", "--seeds", "1", "--workers", "0", "--csv", "rows.csv"]
    done = CliRunner().invoke(hopper, words)
    assert done.exit_code == 0, done.output
    assert pd.read_csv("rows.csv")["seed"].tolist() == [1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vary", "need_gb=2:1:1"], "--vary need_gb=2:1:1 must be NAME=LOW:HIGH:STEP"),
        (["--vary", "need_gb=x"], "need_gb='x' must be a number"),
        (["--vary", "needs=1"], "needs=1 is not a control of 'memory'"),
        (["--seeds", "3"], "--seeds 3 is for questions that use random numbers; memory"),
    ],
)
def test_what_makes_no_ensemble_is_told(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(hopper, ["ensemble", "memory", *words])
    assert done.exit_code == 2
    assert message in done.output


def test_weeks_are_used_as_much_as_the_log_covers_of_them():
    """Two nodes busy from Saturday noon to Monday noon: all of the two weeks that the log covers, 36 and 12 hours."""
    lines = ["JobID|State|Submit|Start|Elapsed|NNodes"]
    lines += [f"{job}|COMPLETED|2026-03-07T12:00:00|2026-03-07T12:00:00|2-00:00:00|1" for job in (1, 2)]
    weeks = by_week(read_job_trace(lines).to_frame(), nodes=2)
    assert weeks["used_fraction"].tolist() == [1, 1]
    assert weeks["node_h"].tolist() == [72, 24]
