"""From files to a verdict: the data contract, stored parts of an output, odd files, misleading words."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.failures.context import read_context
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules
from hopperlib.machine import Machine

OOM = "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.\n"
# Accounting rows in the output of a job belong to that job: rows of several jobs are a list of jobs, not output.
SAMPLES = [re.sub(r"^\d{6,}(?=\|)", "4231907", sample) for made in load_rules() for sample in made.positive]


def test_the_data_have_the_keys_of_the_contract():
    data = diagnose(
        [("job.out", "step 1\n"), ("job.err", OOM + "Application 15379 exit signals: Killed\nmystery failed\n")]
    ).to_dict()
    json.dumps(data, allow_nan=False)
    assert data["verdict"] == "cause"
    assert data["lines_read"] == 4
    (cause,) = data["causes"]
    assert set(cause) >= {"code", "title", "class", "confidence", "lines", "explains", "advice", "fields"}
    assert cause["lines"] == [{"file": "job.err", "line": 1, "text": OOM.strip()}]
    assert (cause["code"], cause["class"], cause["confidence"]) == ("ALPS-OOM", "user", "certain")
    assert cause["explains"] == ["KILLED"]
    assert cause["fields"] == {"nid": "146", "apid": "15379", "time": "2011-05-01 19:00:18"}
    assert data["unknown"] == [
        {
            "template": "mystery failed",
            "count": 1,
            "reads": "error",
            "file": "job.err",
            "line": 3,
            "text": "mystery failed",
        }
    ]
    assert [message["code"] for message in data["messages"]] == ["ALPS-OOM", "KILLED"]


@pytest.mark.parametrize(
    ("text", "verdict"), [(OOM, "cause"), ("hello\n", "no-cause"), ("", "no-cause"), ("   JOB DONE.\n", "succeeded")]
)
def test_the_three_verdicts(text, verdict):
    found = diagnose([("log", text)])
    assert found.verdict == verdict
    assert bool(found.causes) == (verdict == "cause")
    assert bool(found.next) == (verdict == "no-cause")


def test_without_a_cause_it_says_where_to_look_next():
    found = diagnose([("log", "srun: error: n12: task 0: Exited with exit code 137\n")])
    assert sum("sacct" in step for step in found.next) == 1
    assert any("all files" in step for step in found.next)
    assert "empty" in diagnose([("log", "")]).next[0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        # The adapter's table, not a disk.
        ("Rank 271 [Mon Oct  1 12:03:56 2018] [c5-0c2s4n0] Fatal error in PMPI_Waitall: Not enough space for file , error stack:", "MPICH-NIC-REGISTER"),
        ("MR: GNI_MemRegister: ioctl(GNI_IOC_MEM_REGISTER) returned error - No space left on device", "GNI-MEMORY-REGISTER"),
        # Memory between tasks, not a disk.
        ("sys.c:619  UCX  ERROR shmget(size=4263936 flags=0x7b0) for mm_recv_desc failed: No space left on device", "OMPI-SHM-FULL"),
        ("cannot create /dev/shm/vader.1: No space left on device", "OMPI-SHM-FULL"),
        # A disk.
        ("Fatal error in PMPI_File_write_all: Not enough space for file , error stack:", "IO-NO-SPACE"),
        ("write error: No space left on device", "IO-NO-SPACE"),
        # The network, not a file.
        # No memory is missing.
        ("ImportError: /lib64/libgomp.so.1: cannot allocate memory in static TLS block", "PY-EXCEPTION"),
    ],
)  # fmt: skip
def test_words_that_lie(text, code):
    assert diagnose([("log", text)]).cause.code == code


def test_a_successful_job_may_have_been_at_its_memory_limit():
    text = "slurmstepd: error: Exceeded step memory limit at some point.\n"
    found = diagnose([("log", text)], context=read_context(sacct="JobID|State|ExitCode\n7|COMPLETED|0:0\n"))
    assert found.verdict == "succeeded"
    assert found.set_aside == ("SLURM-MEMORY-ONCE",)


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(OOM.encode()),
        bz2.compress(OOM.encode()),
        lzma.compress(OOM.encode()),
        OOM.encode("utf-16"),
        OOM.encode("utf-16-le"),
        b"\xef\xbb\xbf" + OOM.encode(),
        OOM.replace("\n", "\r\n").encode(),
        b"\x1b[31m" + OOM.encode().replace(b"OOM", b"\x1b[1mOOM\x1b[0m"),
        b"\0".join([b"x" * 40, OOM.encode()]),
        b"10%\r20%\r30%\r" + OOM.encode(),
        b"x" * 70_000 + b"\n" + OOM.encode(),
        io.BytesIO(OOM.encode()),
        OOM,
    ],
    ids=[
        "gzip",
        "bzip2",
        "xz",
        "utf-16",
        "utf-16-le",
        "byte order mark",
        "carriage returns",
        "colors",
        "nulls",
        "progress",
        "long line",
        "binary stream",
        "text",
    ],
)
def test_odd_files_are_read(content):
    assert diagnose([("log", content)]).cause.code == "ALPS-OOM"


def test_what_is_odd_is_noted():
    packed = gzip.compress(OOM.encode() * 1000)
    notes = diagnose([("a.gz", packed[:-20]), ("long", b"x" * 70_000)]).notes
    assert notes[0].startswith("a.gz: the data break off after")
    assert notes[1] == "long: 1 line is longer than 64 KiB: the rest was not read"


def test_the_record_is_read_as_a_file_too():
    context = read_context(sacct="JobID|JobName|State|ExitCode\n1|old|TIMEOUT|0:0\n7|lmp|OUT_OF_MEMORY|0:125\n")
    found = diagnose([("log", "step 1\n")], context=context)
    assert found.cause.code == "SLURM-OOM"
    assert (found.to_dict()["causes"][0]["lines"][0]["file"], found.cause.hits[0].line) == ("sacct", 3)


def test_context_turns_advice_into_numbers():
    context = read_context(launch="aprun -n 384 ./vasp", machine=Machine.load("hopper"))
    assert "each had 1.29 GB" in diagnose([("log", OOM)], context=context).cause.advice[0]
    assert "each had" not in " ".join(diagnose([("log", OOM)]).cause.advice)


def test_a_refused_launch_line_is_said_once():
    context = read_context(launch="aprun -n 384 -N 99 ./vasp", machine=Machine.load("hopper"))
    claim = "apsched: claim exceeds reservation's node-count\n"
    for text in (claim, OOM):
        found = diagnose([("log", text)], context=context)
        assert sum(context.refused in said for said in (*found.cause.advice, *found.notes)) == 1


def test_html_and_terminal_codes_stay_text():
    """Quoted text is data for a page and a terminal: no control characters; the page escapes markup."""
    found = diagnose([("log", "<script>alert(1)</script> \x1b]0;x\x07 Disk quota exceeded \x9b31m\n")])
    text = found.to_dict()["causes"][0]["lines"][0]["text"]
    assert text.startswith("<script>alert(1)</script>")
    assert "\x1b" not in text


@given(st.lists(st.binary(max_size=300), max_size=4))
def test_any_bytes_get_a_verdict(parts):
    found = diagnose([(f"f{number}", part) for number, part in enumerate(parts)])
    assert found.verdict in ("cause", "failed", "no-cause", "succeeded")
    json.dumps(found.to_dict(), allow_nan=False)


@given(st.lists(st.one_of(st.sampled_from(SAMPLES), st.text(max_size=60)), max_size=10), st.integers(1, 3))
def test_lines_are_quoted_where_they_stand(lines, files):
    """Law: a quoted line is the line of that number in that file."""
    texts = [
        "\n".join(line.replace("\n", " ").replace("\r", " ") for line in lines[part::files]) for part in range(files)
    ]
    found = diagnose([(f"f{number}", text) for number, text in enumerate(texts)])
    for cause in found.causes:
        for hit in cause.hits:
            line = texts[hit.file].split("\n")[hit.line - 1]
            words = [word for word in hit.text.rstrip(".")[:40].split() if word.isascii()][:-1]
            assert all(word in line for word in words)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=5))
def test_ordinary_lines_around_change_nothing(lines):
    """Law: with thousands of ordinary lines before and after, the code stays the same, or the lines show that the run
    continued or that the message explains nothing; no new code appears.
    """
    text = "\n".join(line.replace("\n", " ") for line in lines) + "\n"
    around = "".join(f" step {number} energy {number * 0.5:.6e}\n" for number in range(3000))
    plain, padded = diagnose([("log", text)]), diagnose([("log", around + text + around)])
    if plain.cause and plain.cause.code != "APPLICATION-MESSAGE":
        went_on = padded.verdict != "cause"
        assert went_on or padded.cause.code in {plain.cause.code, *plain.cause.explains}
    else:
        assert plain.cause or not padded.cause or padded.cause.confidence == "guess"
