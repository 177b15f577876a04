"""The front door: every name is there, is shown to Tab, and answers as the command does."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import hopperkit
from hopperkit.questions.result import Result
from hopperlib.errors import InputError


@pytest.mark.parametrize("name", [name for name in dir(hopperkit) if not name.startswith("_")])
def test_every_name_is_there(name):
    assert callable(getattr(hopperkit, name))
    assert name in dir(hopperkit)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'hopperkit' has no attribute 'plcae'"):
        hopperkit.plcae  # type: ignore[attr-defined]  # noqa: B018


def test_an_answer_holds_what_programs_read():
    answer = hopperkit.memory(need_gb=2, tasks=384)
    assert isinstance(answer, Result)
    # 31 GB hold 15 tasks of 2 GB on a standard node: 26 nodes, whose 24 cores are 1.625 for each task.
    assert (answer.facts["layouts"][0]["nodes"], answer.facts["layouts"][0]["cost_factor"]) == (26, 1.625)


def test_the_line_stands_without_a_name():
    assert hopperkit.place("aprun -n 384 -N 12 vasp", machine="hopper").facts["nodes"] == 32


def test_a_machine_is_named_by_its_object_or_its_path(tmp_path, root):
    file = tmp_path / "mine.toml"
    file.write_text((root / "hopperlib" / "machines" / "franklin.toml").read_text(encoding="utf-8"), encoding="utf-8")
    named, object_, path = (
        hopperkit.memory(need_gb=1, tasks=8, machine=machine).facts["full_node_gb"]
        for machine in ("franklin", hopperkit.Machine.load("franklin"), str(file))
    )
    assert named == object_ == path


def test_what_has_a_name_needs_it():
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        hopperkit.place("aprun -n 1 a.out", "hopper")


@pytest.mark.parametrize(
    ("reader", "sample", "options"),
    [
        ("read_job_trace", "jobs/synthetic-jobs.swf", {"cores_per_node": 24}),
        ("read_swf", "jobs/synthetic-jobs.swf", {"cores_per_node": 24}),
        ("read_ior", "ior/ior-4.0.0.posix-fpp.txt", {"file": "a.txt"}),
        ("read_mdtest", "ior/mdtest-4.0.0.txt", {"file": "a.txt"}),
        ("read_run_times", "run-times/synthetic-run-times.csv", {}),
    ],
)
def test_a_reader_takes_a_path_or_a_stream_of_text(root, reader, sample, options):
    read, file = getattr(hopperkit, reader), root / "data" / "samples" / sample
    text = file.read_text(encoding="utf-8")
    by_name, by_path, by_stream, by_lines = (
        _plain(read(source, **options)) for source in (str(file), file, io.StringIO(text), text.splitlines())
    )
    assert by_name == by_path == by_stream == by_lines
    assert read is getattr(hopperkit, reader)


def _plain(read):
    """The record, without an object that is equal only to itself."""
    return (list(read.workload), read.skips, read.notes) if hasattr(read, "workload") else read


def test_a_reader_takes_the_path_of_an_accounting(tmp_path):
    file = tmp_path / "jobs.txt"
    file.write_text(
        "JobID|State|Submit|Elapsed|Timelimit|NNodes\n8|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4\n",
        encoding="utf-8",
    )
    for source in (str(file), file):
        assert [job.nodes for job in hopperkit.read_sacct(source).workload] == [4]


@pytest.mark.parametrize(
    "name", [name for name in dir(hopperkit) if name.startswith("read_") and name != "read_darshan_logs"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_reader_names_the_file_that_is_not_there(name, kind):
    with pytest.raises(InputError, match=r"^no/such\.log: "):
        getattr(hopperkit, name)(kind("no/such.log"))
