"""The diagnosis explorer: its verdicts, marked lines, and hostile or huge texts."""

from __future__ import annotations

import html
import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.questions.failure._quoted_lines import LINES_LISTED
from hopperkit.questions.failure.diagnose import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError

EXPECTED = {
    "Memory ran out": ("cause", "ALPS-OOM"),
    "A node failed": ("cause", "ALPS-NODE-FAILED"),
    "The launch line requests more than the job has": ("cause", "ALPS-CLAIM-NODES"),
    "Loud network errors, quiet cause": ("cause", "FORTRAN-EOF"),
    "Memory under Slurm": ("cause", "SLURM-OOM"),
    "Two files of one job": ("cause", "LIB-MISSING"),
    "Half of the story": ("failed", None),
    "A job that succeeded": ("succeeded", None),
}


def _marks(listing):
    return {line.number: line.mark for line in listing.lines if line.mark}


@pytest.mark.parametrize("example", QUESTION.examples, ids=lambda example: example.label)
def test_examples_get_their_verdict(example):
    facts = QUESTION.run(**example.values).facts
    assert (facts["verdict"], facts["code"]) == EXPECTED[example.label]


def test_the_first_text_is_said_to_be_made_up():
    assert "made-up" in [notice.code for notice in QUESTION.run().findings]
    assert "made-up" not in [notice.code for notice in QUESTION.run(log="all is well").findings]


def test_a_cause_comes_with_lines_and_values():
    result = QUESTION.run()
    assert _marks(result.listings[0])[5] == "cause"
    assert _marks(result.listings[0])[3] == "explained"
    assert result.facts["nid"] == "1323"
    assert result.facts["explains"] == ["ALPS-INITIATED", "GNI-TRANSACTION", "KILLED"]
    shown = {value.label: value.text for value in result.values}
    assert (shown["Class"], shown["Evidence"]) == ("user (OOM)", "1")
    assert "Node ID (nid): 1323" in shown["Read from these lines"]
    assert "certain: the message is a complete explanation" in result.summary
    assert result.summary.endswith("Who acts: the job's owner.")
    assert [row[2] for row in result.tables[0].rows] == [
        "explained",
        "cause",
        "explained",
        "explained",
        "course of the job",
    ]
    assert result.tables[0].marked == (1,)
    assert "[ALPS-OOM]" in result.copyables[0].text
    assert json.loads(result.downloads[0].text)["verdict"] == "cause"


def test_a_launch_line_turns_advice_into_numbers():
    # 31 GB usable over 24 tasks: 1.29 GB each
    steps = [notice.message for notice in QUESTION.run(launch="aprun -n 384 ./a.out").findings]
    assert "each had 1.29 GB" in steps[0]


def test_line_numbers_hold_after_progress_bars_and_windows_line_ends():
    log = "10%\r50%\r100% done\r\nsecond\r\n[NID 01323] 2011-03-07 03:46:11 Apid 9: OOM killer terminated this process.\r\nlast"
    (listing,) = QUESTION.run(log=log).listings
    assert [(line.number, line.text[:9], line.mark) for line in listing.lines] == [
        (1, "100% done", ""),
        (2, "second", ""),
        (3, "[NID 0132", "cause"),
        (4, "last", ""),
    ]


def test_markup_in_a_log_is_text():
    hostile = "<script>alert(1)</script> error: <img src=x onerror=alert(1)> failed\nslurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. <b>x</b>"
    answer = json.loads(answer_json("diagnose", json.dumps({"log": hostile})))
    assert answer["result"]["facts"]["code"] == "SLURM-OOM"
    assert "<b>" not in answer["result"]["summary"]
    listing = answer["html"]["listings"]
    assert html.escape(hostile.split("\n", maxsplit=1)[0]) in listing
    assert not any(tag in part for tag in ("<script", "<img", "<b>") for part in answer["html"].values())


def test_an_empty_text_says_what_to_look_at():
    result = QUESTION.run(log="")
    assert result.summary.startswith("Nothing in this text shows that the job failed (0 lines read)")
    assert result.findings
    assert result.listings == ()


def test_unknown_lines_are_grouped():
    log = "".join(f"flux capacitor error on channel {number}\n" for number in range(40))
    unknown = QUESTION.run(log=log).tables[-1]
    assert unknown.rows[0][0] == 40
    assert unknown.rows[0][1] == "error"
    assert unknown.rows[0][3] == "output:1"


def test_a_programs_message_is_possible_where_two_voices_agree():
    result = QUESTION.run(log="FATAL ERROR: the flux is negative in cell 12, stopping\nApplication 9 exit codes: 1\n")
    assert (result.facts["code"], result.facts["confidence"]) == ("APPLICATION-MESSAGE", "possible")
    assert "a ranking of all lines puts it first, too" in result.summary


def test_another_line_of_the_ranking_is_shown_as_or():
    log = "n1 38:  negative moist layer thickness\nn1 37: model.exe  00000000037FA0A6  shr_abort_abort  110  shr_abort_mod.F90\n"
    result = QUESTION.run(log=log)
    assert result.facts["or_line"] == 1
    assert "Or, by the ranking of all lines (output:1)" in result.summary


def test_what_is_no_output_of_a_job_is_named():
    result = QUESTION.run(log="Configuration data as of 2024-03-05T14:22:33\nSlurmctldHost[0] = a\n")
    assert any("Slurm's configuration" in finding.message for finding in result.findings)


def test_a_record_that_cannot_be_read_is_pointed_at():
    with pytest.raises(InputError) as caught:
        QUESTION.run(record="this is no record")
    assert caught.value.name == "record"


def test_a_megabyte_is_quick_and_its_answer_small():
    line = "[NID 01323] 2011-03-07 03:46:11 Apid {}: OOM killer terminated this process.\n"
    log = "".join(
        line.format(number) if number % 3 else f"warning: odd thing {number} failed\n" for number in range(16_000)
    )
    assert len(log) > 900_000
    QUESTION.run()  # the rules are read once
    start = time.process_time()
    result = QUESTION.run(log=log)
    assert time.process_time() - start < 1.0
    assert sum(len(listing.lines) for listing in result.listings) <= LINES_LISTED
    assert len(json.dumps(result.to_dict())) < 100_000


_PIECES = st.sampled_from(
    [
        "[NID 01323] 2011-03-07 03:46:11 Apid 9: OOM killer terminated this process.",
        "Segmentation fault (core dumped)",
        "error: something failed",
        "\x1b[31mred\x1b[0m",
        "\r",
        "\n",
        "\x00",
        "<i>",
        "\ud800",
    ]
)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(_PIECES | st.text(max_size=30), max_size=30).map("".join), st.text(max_size=40))
def test_any_text_gets_an_answer(log, errors):
    answer = json.loads(answer_json("diagnose", json.dumps({"log": log, "errors": errors})))
    assert answer["ok"]
    facts = answer["result"]["facts"]
    assert facts["verdict"] in ("cause", "no-cause", "succeeded")
    listings = answer["html"]["listings"]
    assert ('data-mark="cause"' in listings) == (facts["verdict"] == "cause")
    assert all(int(number) >= 1 for number in re.findall('<li value="(.*?)"', listings))


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.sampled_from(["aprun ", "srun ", "#PBS -l mppwidth=48\naprun -n ", ""]),
    st.text(alphabet="-nNSdm 0123456789x:\n", max_size=25),
)
def test_any_launch_line_gets_an_answer(start, rest):
    answer = json.loads(answer_json("diagnose", json.dumps({"launch": start + rest})))
    assert answer["ok"] or answer["error"]["message"]
