"""`hopper diagnose`: text, the contract of the JSON, exit status, context, and one message for each mistake."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperlib.failure.diagnosis.causes import measured
from hopperlib.failure.messages.rules import load_rules

OOM = "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.\n"
RECORD = """JobID|State|ExitCode|MaxRSS|ReqMem|Elapsed|Timelimit
77|OUT_OF_MEMORY|0:125||4G|00:10:00|01:00:00
77.0|OUT_OF_MEMORY|0:125|4194304K||00:10:00|
"""


def diagnose(*words, text=None):
    return CliRunner().invoke(hopper, ["diagnose", *map(str, words)], input=text, prog_name="hopper")


@pytest.fixture
def file(tmp_path):
    def write(content, name="job.out"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (OOM, 1, "ALPS-OOM"),
        ("hello\n", 0, "Nothing in this text shows that the job failed"),
        ("   JOB DONE.\n", 0, "This job succeeded"),
        ("", 0, "The text is empty"),
    ],
)
def test_the_status_tells_whether_a_cause_was_found(file, text, status, said):
    path = file(text)
    for result in (diagnose(path), diagnose("-", text=text)):
        assert result.exit_code == status
        assert said in result.output


def test_the_answer_holds_what_a_reader_needs(file):
    path = file(OOM * 40 + "Application 15379 exit signals: Killed\nmystery failed\n")
    short, full = diagnose(path).output, diagnose("--all", path).output
    for said in (
        "This is certain",
        "Who acts: the job's owner.",
        "\n1. Run fewer",
        f"{path}:1: {OOM.strip()}",
        "(--verbose prints the rest",
    ):
        assert said in short
    assert short.splitlines()[0].startswith("A node ran out of memory")
    assert short.splitlines()[1] == f"{path}:1: {OOM.strip()}"
    assert len(short.splitlines()) <= 12
    assert diagnose("--verbose", path).output == full
    for said in (
        "Class: user (OOM)",
        "Evidence: 40",
        "Node ID (nid): 146",
        "note: To confirm: ",
        "mystery failed",
    ):
        assert said in full
    # Where the lines break depends on how long the name of the file is.
    assert "(42 lines read)" in diagnose(file("all is well\n" * 42, "other.out")).output


def test_the_json_keeps_its_contract(file):
    path = file(OOM + "Application 15379 exit signals: Killed\nodd thing failed\n")
    result = diagnose("--json", path)
    data = json.loads(result.output)
    assert result.exit_code == 1
    assert (data["verdict"], data["lines_read"]) == ("cause", 3)
    cause = data["causes"][0]
    assert {"code", "title", "class", "confidence", "lines", "explains", "advice", "fields"} <= set(cause)
    assert cause["lines"] == [{"file": str(path), "line": 1, "text": OOM.strip()}]
    assert data["unknown"][0]["text"] == "odd thing failed"
    assert json.loads(diagnose("--json", "-", text="hello").output)["causes"] == []


def test_several_files_are_one_job(file):
    output = diagnose(
        "--all",
        file("Application 7 exit codes: 127\n"),
        file(
            gzip.compress(
                b"./a.out: error while loading shared libraries: libx.so.1: cannot open shared object file\n"
            ),
            "job.err.gz",
        ),
    ).output
    assert "LIB-MISSING" in output
    assert "ALPS-EXIT-CODES" in output


def test_no_name_and_no_text_moves_the_terminal(file):
    """Neither C1 controls nor direction marks nor ESC are printed, from a name or from a line."""
    path = file("ERROR: \x9b31m \u202e lost \u2066cells\x1b[2J\nApplication 7 exit codes: 1\n", "a\x1b[31m\u202eb.out")
    for words in ((path,), ("--all", path), ("--json", path), (f"{path}.none",)):
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", diagnose(*words).output
        )


@pytest.mark.parametrize(
    "text", ["all is well\n", "ERROR: x\n" * 500, "", "".join(f"step {n} failed on c{n}\n" for n in range(900))]
)
def test_a_short_answer_has_twelve_lines_at_most(file, text):
    assert len(diagnose(file(text), file(text, "b\nc.out")).output.splitlines()) <= 12


def test_context_turns_advice_into_numbers(file):
    record = file(RECORD, "record.txt")
    output = diagnose(
        file("step 1\n"), "--sacct", record, "--machine", "hopper", "--launch", "aprun -n 48 ./a.out"
    ).output
    # Where lines break depends on how long the name of the file is.
    output = " ".join(output.split())
    assert "used 4.00 GB at its last sample, requested 4G" in output
    # 31 GB usable over 24 tasks
    assert "each had 1.29 GB" in output
    assert diagnose("--sacct", record).exit_code == 1


def test_a_job_script_may_stand_for_the_launch_line(file):
    script = file("#!/bin/bash\n#PBS -l mppwidth=48\naprun -n 96 ./chombo\n", "job.sh")
    output = diagnose(file("apsched: claim exceeds reservation's node-count\n"), "--launch", script).output
    assert "-n 96 at 24 tasks per node needs 4 nodes; mppwidth=48 reserves 2" in " ".join(output.split())


def test_all_messages_are_listed_and_each_is_explained():
    codes = [made.code for made in load_rules()]
    lines = diagnose("--list").output.splitlines()
    assert [line.split()[0] for line in lines] == sorted(codes)
    assert [entry["code"] for entry in json.loads(diagnose("--list", "--json").output)["rules"]] == sorted(codes)
    for code in codes[::20]:
        said = json.loads(diagnose("--explain", code, "--json").output)
        assert said["advice"] or said["role"] in ("noise", "info")
        assert said["source"]
    assert "confirm: " in diagnose("--explain", "alps-oom").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give the files of the job, or pipe its output into the command"),
        (["no-such-file"], "cannot read no-such-file: No such file or directory"),
        (["."], "cannot read .: it is a directory; use --each to answer for every output in it"),
        (["--explain", "NOBODY"], "there is no rule 'NOBODY'"),
        (["-", "--machine", "bigger"], "machine='bigger' is neither a machine"),
        (["-", "--sacct", "no-such-file"], "no-such-file"),
    ],
)
def test_each_mistake_gets_one_message(words, message):
    result = diagnose(*words, text="hello\n")
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_record_that_is_none_is_refused(file):
    path = file("hello\n")
    assert "this is not output of sacct" in diagnose(path, "--sacct", path).output
    refused = diagnose(path, "--sacct", file(RECORD, "record.txt"), "--job", "5", "--json")
    assert json.loads(refused.output)["error"]["message"].endswith(
        "job '5' is not in the output of sacct, which holds: 77"
    )


@pytest.fixture
def night(tmp_path):
    """Write a night of outputs: a bad node, some failures by chance, jobs with two files, one that succeeded."""
    folder = tmp_path / "night"
    (folder / "deeper").mkdir(parents=True)
    for number in range(60):
        node = "nid000017" if number < 20 else f"nid{100 + number:06d}"
        (folder / "deeper" / f"job-{number}.out").write_text(f"step 1\nsrun: error: {node}: task 3: Bus error\n")
    (folder / "a.out").write_text("step 1\n")
    (folder / "a.err").write_text(OOM)
    (folder / "b.log").write_text("   JOB DONE.\n")
    return folder


def test_each_output_of_a_folder_is_a_row(night, tmp_path):
    result = diagnose("--each", night, "--json", "--csv", tmp_path / "rows.csv", "--html", tmp_path / "page.html")
    answer = json.loads(result.output)
    rows = {row["file"].removeprefix(f"{night}/"): row for row in answer["rows"]}
    assert result.exit_code == 1
    assert len(rows) == answer["outputs"] == 62
    assert (rows["a.out"]["code"], rows["a.out"]["node"], rows["a.out"]["confidence"]) == (
        "ALPS-OOM",
        "nid00146",
        "certain",
    )
    assert rows["b.log"]["verdict"] == "succeeded"
    assert (rows["deeper/job-3.out"]["node"], rows["deeper/job-3.out"]["task"]) == ("nid000017", 3)
    assert [suspect["node"] for suspect in answer["suspects"]] == ["nid000017"]
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 63
    page = (tmp_path / "page.html").read_text()
    assert "nid000017" in page
    assert "<script" not in page


def test_a_night_in_text_names_the_bad_node(night):
    output = diagnose("--each", night).output
    assert "62 outputs: 61 have a cause of failure" in output
    assert "nid000017 failed first in 20 jobs" in output


def test_each_says_what_it_cannot_read(night, tmp_path):
    (tmp_path / "none").mkdir()
    assert "no files in" in diagnose("--each", tmp_path / "none").output
    assert "no such file or folder" in diagnose("--each", tmp_path / "nothing").output
    assert "--each needs" in diagnose("--each").output


def test_who_failed_first_is_told(file):
    text = "srun: error: co5112: task 4504: Segmentation fault\n" + "".join(
        f"srun: error: co{5200 + node}: tasks {40 * node}-{40 * node + 39}: Killed\n" for node in range(100)
    )
    output = diagnose(file(text)).output
    assert "Task 4504 on co5112 is named first; 4,000 tasks followed, on 101 nodes" in output
    first = json.loads(diagnose(file(text), "--json").output)["first_failure"]
    assert (first["task"], first["node"], first["line"], first["tasks"]) == (4504, "co5112", 1, 4001)


def test_output_is_piped_into_the_command():
    """`cat job.err | hopper diagnose`: no name, no dash; an empty input is still a mistake."""
    command = [sys.executable, "-c", "from hopperkit.cli import main; main()", "diagnose"]
    done = subprocess.run(command, input=OOM, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ALPS-OOM" in done.stdout
    assert "standard input:1" in done.stdout
    empty = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert empty.returncode == 2
    assert "pipe its output into the command" in empty.stderr


def test_how_often_a_word_was_right_is_said(file):
    right, answers, *_ = measured()["certain"]
    assert f'"Certain" was right in {right} of {answers} foreign outputs' in diagnose(file(OOM), "--verbose").output


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0. Some of your processes may have been killed.\n",
            1,
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'lr'\nJob completed.\n",
            1,
        ),
        ("step 1\nstep 2\n", 0),
    ],
)
def test_a_file_alone_ends_as_its_diagnosis_does(tmp_path, text, status):
    file = tmp_path / "job.out"
    file.write_text(text, encoding="utf-8")
    assert CliRunner().invoke(hopper, [str(file)], prog_name="hopper").exit_code == status
