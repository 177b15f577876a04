"""The scanner: counts and stored lines; shortcuts do not change the result."""

from __future__ import annotations

import io
import re
from collections import Counter

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hopperlib.failure.messages import _lines as lines_module
from hopperlib.failure.messages._matching import match
from hopperlib.failure.messages._quotations import foreign
from hopperlib.failure.messages.rules import load_rules
from hopperlib.failure.messages.scanner import Scanner

RULES = load_rules()
SAMPLES = [sample for made in RULES for sample in made.positive]
# The last fifty of the runs that headers separate are kept.
OF_ONE_RUN = [sample for made in RULES if not made.begins for sample in made.positive]
NEGATIVES = [sample for made in RULES for sample in made.negative]


def scan(text, name="log"):
    scanner = Scanner()
    scanner.read(name, io.BytesIO(text if isinstance(text, bytes) else text.encode()))
    return scanner.evidence


def plain_counts(text):
    """Match each line without any shortcut: the first rule with a matching expression and anchor."""
    counts = {}
    for line in text.splitlines():
        for made in RULES:
            bare = line.lower().translate(str.maketrans("", "", "0123456789")).encode()
            matched = match(line.encode(), (made,))
            if matched and any(key in bare for key in made.keys):
                counts[matched[0].code] = counts.get(matched[0].code, 0) + 1
                break
    return counts


def counts_of(evidence):
    """Counts in all runs of a text: findings that a header sets aside belong to the run before it."""
    runs = (evidence, *evidence.earlier)
    return dict(sum((Counter({code: found.count for code, found in run.messages.items()}) for run in runs), Counter()))


def test_counts_every_line_and_keeps_the_first():
    text = "".join(f"srun: error: nid{rank // 24:05d}: task {rank}: Killed\n" for rank in range(24_576))
    found = scan(text).messages["KILLED"]
    assert found.count == 24_576
    assert len(found.hits) == Scanner.HITS
    assert [(hit.line, hit.fields["rank"]) for hit in found.hits[:2]] == [(1, "0"), (2, "1")]


def test_one_line_among_many_of_its_shape_is_found():
    """Exit code 137 has another meaning than 1, and follows thousands of lines that differ only in digits."""
    lines = [f"srun: error: n{rank}: task {rank}: Exited with exit code 1" for rank in range(20_000)]
    lines[17_777] = "srun: error: n17777: task 17777: Exited with exit code 137"
    found = scan("\n".join(lines)).messages
    assert (found["KILLED"].count, found["KILLED"].hits[0].line) == (1, 17_778)
    assert found["SLURM-TASK-EXIT"].count == 19_999


@pytest.mark.parametrize(
    "made", [made for made in RULES if made.digit_keys and made.code != "EXIT-STATUS"], ids=lambda made: made.code
)
def test_digits_that_matter_are_seen_behind_lines_that_differ_in_them(made):
    """Law: two thousand lines of its shape with other digits precede each sample."""
    for sample in made.positive:
        other = re.sub(r"\d+", lambda digits: "9" * len(digits[0]), sample)
        text = "\n".join([other] * 2000 + [sample])
        assert scan(text).messages[made.code].hits, sample


def test_a_status_of_a_signal_is_seen_behind_statuses_of_other_kinds():
    """Law: an exit status counts by its number, regardless of how many lines of its shape precede it."""
    for status, code in (
        ("139", "SEGV"),
        ("134", "ABORT-SIGNAL"),
        ("137", "KILLED"),
        ("143", "SIGNALLED"),
        ("136", "FPE"),
    ):
        found = scan("\n".join(["solver: exit code 111"] * 2000 + [f"solver: exit code {status}"])).messages
        assert found[code].hits[0].line == 2001


def test_fields_come_from_the_rule_and_from_the_line():
    line = "12: [NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process."
    hit = scan(line).messages["ALPS-OOM"].hits[0]
    assert hit.fields == {"rank": "12", "nid": "146", "apid": "15379", "time": "2011-05-01 19:00:18"}
    assert hit.moment.isoformat() == "2011-05-01T19:00:18"


def test_the_earliest_in_time_is_kept_whatever_the_order():
    text = "".join(
        f"Rank {rank} [Wed May 11 00:55:{59 - rank} 2011] [c1-0c0s4n2] GNI transaction error detected\n"
        for rank in range(50)
    )
    found = scan(text).messages["GNI-TRANSACTION"]
    assert found.hits[0].fields["rank"] == "0"
    assert found.first.fields["rank"] == "49"


def test_numbers_files_and_lines_across_blocks():
    """A message in the second megabyte, after lines with carriage returns."""
    bar = b"".join(b"\r%3d%%" % done for done in range(100)) + b"\n"
    text = b"ok\n" + bar * 4000 + b"Disk quota exceeded\n"
    scanner = Scanner()
    scanner.read("one", io.BytesIO(b"nothing\n"))
    scanner.read("two", io.BytesIO(text))
    hit = scanner.evidence.messages["IO-QUOTA"].hits[0]
    assert (hit.file, hit.line) == (1, 4002)
    assert scanner.evidence.lines_read == 1 + 4002


def test_unknown_lines_are_grouped_by_template():
    text = "".join(f"rank {rank}: cannot decode block {rank * 7} of '/scratch/u{rank}/x'\n" for rank in range(500))
    evidence = scan(text + "frobnicator failed in widget Q\n")
    assert [(group.count, group.template) for group in evidence.unknown] == [
        (500, "rank #: cannot decode block # of #"),
        (1, "frobnicator failed in widget Q"),
    ]


def test_the_lines_after_an_unknown_one_are_kept_over_the_end_of_a_block():
    filler = "plain text without trouble\n" * (524_288 // 27)
    for missing in range(20, 60, 7):
        text = (
            filler[: -missing or None]
            + "\nsolver: fatal error in module x\nfirst after\nsecond after\n"
            + filler[:5000]
        )
        group = next(group for group in scan(text).unknown if "solver" in group.template)
        assert group.following[:2] == ["first after", "second after"]


def test_memory_stays_bounded_on_lines_that_never_repeat(monkeypatch):
    monkeypatch.setattr(lines_module, "BLOCK_SIZE", 65_536)
    monkeypatch.setattr(Scanner, "SHAPES", 500)
    monkeypatch.setattr(Scanner, "UNKNOWN", 30)
    words = ["".join(chr(97 + (number * step) % 26) for step in (1, 3, 7, 11, 17)) for number in range(26)]
    scanner = Scanner()
    text = "".join(
        f"{words[n % 26]}{words[n // 26 % 26]}{words[n // 676 % 26]} error {words[n % 7]} {words[n // 50 % 26]}zz\n"
        for n in range(4_000)
    )
    scanner.read("log", io.BytesIO(text.encode()))
    # Several blocks: the state from the first blocks was forgotten.
    assert len(scanner._shapes) < 3_000
    assert len(scanner._boring) <= 500 + 2_500
    assert len(scanner.evidence.unknown) <= 30
    assert scanner.evidence.unknown_left_out > 0


def test_quotes_carry_no_control_characters():
    hit = scan(b"a\x08b\x1b[31m\tDisk quota exceeded \x07\x9b31m\n").messages["IO-QUOTA"].hits[0]
    assert not re.search(r"[\x00-\x1f\x7f]", hit.text)


def test_a_long_line_is_quoted_around_its_message():
    hit = scan("x" * 5000 + " Disk quota exceeded " + "y" * 5000).messages["IO-QUOTA"].hits[0]
    assert "Disk quota exceeded" in hit.text
    assert len(hit.text) < 500


def test_a_line_alone_is_what_the_plain_loop_says():
    for line in [*SAMPLES, *NEGATIVES]:
        text = line.replace("\n", " ")
        assert counts_of(scan(text)) == plain_counts(text), line


@given(st.lists(st.sampled_from([*SAMPLES, *NEGATIVES, "step 12 done", "all is well 7"]), max_size=40))
@example(["java.lang.NullPointerException"])
@example(
    [
        "Sender: LSF System <lsfadmin@node03>",
        "[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.",
        "Sender: LSF System <lsfadmin@node03>",
    ]
)
def test_shortcuts_change_nothing(lines):
    """Law: the counts are those of a plain loop over lines and rules."""
    text = "\n".join(line.replace("\n", " ") for line in lines)
    assert counts_of(scan(text)) == plain_counts(text)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.permutations(SAMPLES[:60]))
def test_order_of_lines_does_not_change_the_counts(lines):
    """Law: relabeling lines only moves them."""
    assert counts_of(scan("\n".join(lines))) == counts_of(scan("\n".join(SAMPLES[:60])))


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.sampled_from(OF_ONE_RUN), min_size=1, max_size=6), st.integers(2, 3000))
def test_a_text_repeated_counts_as_often(lines, times):
    """Law: n copies count n times, regardless of the scanner's method."""
    text = "\n".join(line.replace("\n", " ") for line in lines) + "\n"
    # Three records of jobs are a list of jobs.
    assume(not foreign((text * times).encode()))
    once = counts_of(scan(text))
    assert counts_of(scan(text * times)) == {code: count * times for code, count in once.items()}


def test_fresh_and_repeating_texts_are_read_alike():
    """The same messages among lines that never repeat and among lines that always do."""
    samples = [sample for sample in SAMPLES if "\n" not in sample]
    fresh = [
        f"{'abcdefghijklmnopqrstuvwxyz'[n % 26] * (1 + n % 40)} {n**3} {'ghijklmnop'[n % 10] * (n // 100)}"
        for n in range(6000)
    ]
    same = ["every line is this line"] * 6000
    for position, sample in enumerate(samples):
        fresh.insert(position * 30, sample)
        same.insert(position * 30, sample)
    assert counts_of(scan("\n".join(fresh))) == counts_of(scan("\n".join(same)))


WRAPPED = [
    (
        "./a.out: error while loading shared libraries: libhdf5_parallel_gnu_123_fortran.so.103: cannot open shared object file: No such file",
        "library",
        "libhdf5_parallel_gnu_123_fortran.so.103",
    ),
    (
        "forrtl: severe (24): end-of-file during read, unit 12, file /scratch/sd/user/project/case/INPUT/restart_00012.dat",
        "file",
        "/scratch/sd/user/project/case/INPUT/restart_00012.dat",
    ),
    ("[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.", "apid", "1925046"),
]


@pytest.mark.parametrize("width", [79, 80])
@pytest.mark.parametrize(("line", "field", "value"), WRAPPED)
def test_a_message_that_a_terminal_broke_is_read_as_one(line, field, value, width):
    (whole,) = scan(line).messages.values()
    pieces = "\n".join(line[start : start + width] for start in range(0, len(line), width))
    (broken,) = scan(f"begin\n{pieces}\nThe end of the output").messages.values()
    assert (broken.rule, broken.hits[0].line, broken.hits[0].fields[field]) == (whole.rule, 2, value)


def test_what_stands_below_a_wide_line_is_no_part_of_its_last_name():
    name = "/scratch/" + 7 * "u" + ".dat"
    line = f"forrtl: severe (24): end-of-file during read, unit 12, file {name}"
    assert len(line) == 80
    (found,) = scan(f"{line}\naborting the run").messages.values()
    assert found.hits[0].fields["file"] == name
