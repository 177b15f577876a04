"""The explorer of IOR outputs: its default, its pictures, failed runs, refusals."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.cli import hopper
from hopperkit.questions.storage.darshan_answer import _jobs
from hopperkit.questions.storage.io_log import QUESTION
from hopperkit.readers.source import texts_together
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError

SAMPLES = Path(__file__).parents[3] / "data" / "samples" / "ior"


def test_default_is_the_sample_of_version_4():
    result = QUESTION.run()
    assert result.summary == "6 rows: write at best 1,682.3 MB/s, read at best 4,046.5 MB/s."
    sample = (SAMPLES / "ior-4.0.0.posix-fpp.txt").read_text(encoding="utf-8")
    assert QUESTION.run(output=sample).tables[0].rows == result.tables[0].rows
    # Two tasks on one node, 33.6 MB, in hundredths of a second: the rates are those of its memory.
    assert [finding.code for finding in result.findings] == ["cached-read", "short-run", "one-node"]


def test_spread_of_the_repetitions():
    write = QUESTION.run().values[0]
    # 346.55, 1337.12, 1604.32: mean 1095.997, standard deviation (n - 1) 662.63.
    assert write.value == pytest.approx(662.63 / 1095.997, rel=1e-4)
    assert write.note.startswith("3 repetitions")


def test_pictures():
    (figure,) = QUESTION.run().figures
    assert set(figure.data[0]["x"]) == {0, 1, 2}


def test_comparison_with_the_ceiling_of_the_nodes():
    values = {value.label: value.value for value in QUESTION.run().values}
    # 1.604 GiB/s x 1.0486 over 1.7 GB/s.
    assert values["Best write rate relative to the ceiling of 1 node of Hopper"] == pytest.approx(0.98955, abs=1e-4)


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_every_sample_has_an_answer(name):
    result = QUESTION.run(output=(SAMPLES / name).read_text(encoding="utf-8"))
    assert result.summary
    assert result.tables[0].rows
    json.dumps(result.to_dict(), allow_nan=False)


def test_failed_run_says_why():
    result = QUESTION.run(output=QUESTION.examples[2].values["output"])
    assert result.summary == "No rate in this output: cannot open file: No such file or directory."
    assert [(one.code, one.level) for one in result.findings] == [("failed", "problem")]


@pytest.mark.parametrize("text", ["", "  \n", "bought milk"])
def test_other_text_is_refused_at_its_field(text):
    with pytest.raises(InputError) as caught:
        QUESTION.run(output=text)
    assert caught.value.name == "output"


def parsed(slow):
    """Output of darshan-parser for 32 files, four of each of eight tasks and on each of eight OSTs."""
    lines = ["# darshan log version: 3.41", "# exe: ./a.out", "# nprocs: 8", "# run time: 500"]
    for n in range(32):
        task, seconds = n % 8, slow / 4 if n % 8 == 3 else (10.0 + n % 8) / 4
        rows = {"POSIX_WRITES": 100, "POSIX_BYTES_WRITTEN": 10**9 // 4, "POSIX_F_WRITE_TIME": seconds}
        rows |= {"LUSTRE_COMP1_STRIPE_SIZE": 1 << 20, "LUSTRE_COMP1_STRIPE_COUNT": 1, "LUSTRE_COMP1_OST_ID_0": task}
        lines += [
            f"{name.partition('_')[0]}\t{task}\t{n}\t{name}\t{value}\t/s/{n}\t/s\tlustre"
            for name, value in rows.items()
        ]
    return "\n".join(lines) + "\n"


def test_a_darshan_log_as_text_is_judged_as_the_command_does(tmp_path):
    result = QUESTION.run(output=parsed(800.0))
    assert result.findings[0].code == "slow-ost"
    path = tmp_path / "log.txt"
    path.write_text(parsed(800.0), encoding="utf-8")
    told = CliRunner().invoke(hopper, ["io", "darshan", str(path), "--json"])
    assert json.loads(told.stdout) == json.loads(json.dumps(result.facts))
    captions = [table.caption for table in result.tables]
    assert captions == ["Cost of the files, the most expensive 12 of 32"]
    # 895 s of eight tasks that run for 500 s: 111.9 s of each.
    assert result.figures[0].data[0]["y"] == [0.0, 111.875, 0.0, 388.125]
    assert "I/O took 112 of 500 s (22 %), 14.9 task-minutes" in result.summary


def test_several_files_at_once():
    ior = (SAMPLES / "ior-4.0.0.posix-fpp.txt").read_text(encoding="utf-8")
    texts = {"a.txt": ior, "one.txt": parsed(800.0), "two.txt": parsed(10.0), "notes.md": "milk"}
    result = QUESTION.run(output=texts_together(texts))
    assert result.summary.startswith("6 rows: ")
    assert "2 jobs: 1 with something to fix" in result.summary
    assert [one.message for one in result.findings if one.code == "not-read"] == [
        "Not read: notes.md: it contains no output of IOR or mdtest"
    ]


def test_files_of_an_io500_run():
    phases = {"ior-easy-write": (4.0, "GiB/s"), "mdtest-easy-write": (9.0, "kIOPS")}
    rows = [f"[RESULT] {name} {value} {unit} : time 300.5 seconds" for name, (value, unit) in phases.items()]
    score = "[SCORE ] Bandwidth 4.0 GiB/s : IOPS 9.0 kiops : TOTAL 6.0"
    texts = {"result_summary.txt": "\n".join([*rows, score]), "config.ini": "[ior-easy]\nblockSize = 8g"}
    result = QUESTION.run(output=texts_together(texts | {"timestampfile": "x"}))
    assert result.summary == "Score 6: 4 GiB/s, 9 kIOPS; 2 phases."
    assert result.facts["configuration"] == {"ior-easy.blocksize": "8g"}
    assert not any(one.code == "not-read" for one in result.findings)


def test_short_phases_of_io500_are_said():
    rows = [
        "[RESULT] ior-easy-write 4.0 GiB/s : time 30.5 seconds",
        "[RESULT] ior-easy-read 4.0 GiB/s : time 20 seconds",
    ]
    rows += ["[RESULT] mdtest-easy-write 9.0 kIOPS : time 301 seconds"]
    (short,) = [one for one in QUESTION.run(output="\n".join(rows)).findings if one.code == "short-phases"]
    assert short.message.startswith(
        "Under 300 s, the minimum of IO500's rules for write phases: ior-easy-write 30.5 s."
    )


def test_a_log_itself_is_told_how_to_be_printed():
    with pytest.raises(InputError, match=r"darshan-parser LOG > log.txt") as caught:
        QUESTION.run(output="3.41\0\0\0\0\ufffd\ufffd")
    assert caught.value.name == "output"


@given(st.text(max_size=200))
def test_any_text(text):
    json.loads(answer_json("io-log", json.dumps({"output": text})))


def test_what_costs_next_to_nothing_is_no_row_beside_what_is_dear():
    jobs = [dict.fromkeys(("log", "executable", "tasks", "run_time_s", "io_node_hours", "io_share")) for _ in range(3)]
    for job, hours in zip(jobs, (2.0, 0.01, 0.001), strict=True):
        job |= {"io_task_hours": hours, "waiting_share": 0.0, "bytes_read": 0, "bytes_written": 0, "findings": ""}
    dear, toys = _jobs(jobs), _jobs(jobs[1:])
    assert dear.caption == "Jobs, most expensive first; 2 others cost less than a task-minute each"
    assert (len(dear.rows), len(toys.rows)) == (1, 2)
    assert toys.caption == "Jobs, most expensive first"
