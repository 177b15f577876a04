"""Rules as data: every sample of every rule, invalid rule files, required coverage."""

from __future__ import annotations

import io
import json
import re
import tomllib
from dataclasses import asdict
from typing import get_args

import pytest

from hopperlib.errors import InputError
from hopperlib.failure.messages.rules import (
    Link,
    NerscClass,
    load_rules,
    read_rules,
    rule,
    rule_texts,
    rules_of,
    staged_rules,
)
from hopperlib.failure.messages.scanner import Scanner
from hopperlib.schema import TableError

RULES = load_rules()
GOOD = """
[[rule]]
code = "TEST-ONE"
title = "A test"
class = "user"
role = "cause"
anchors = ["went wrong"]
regex = '''went wrong at (?P<place>\\w{1,20})'''
who = "user"
confirm = "Look."
advice = ["Act."]
source = "a manual, sec. 1"
sample = "composed"
positive = ["it went wrong at noon"]
negative = ["it went right"]
"""


def codes_in(line, rules=None):
    """Codes that the scanner finds in a text of one line."""
    scanner = Scanner(rules)
    scanner.read("sample", io.BytesIO(line.encode()))
    return list(scanner.evidence.messages)


def test_positive_samples_are_known_as_this_message_and_no_other():
    found = {sample: (codes_in(sample), made.code) for made in RULES for sample in made.positive}
    assert {sample: codes for sample, codes in found.items() if codes[0] != [codes[1]]} == {}


def test_negative_samples_are_not_taken_for_it():
    assert [(made.code, sample) for made in RULES for sample in made.negative if made.code in codes_in(sample)] == []


def _unsaid(made):
    """Missing or invalid parts of a rule."""
    # Commands stay in lower case.
    commands = ("srun", "aprun", "aprun's", "torchrun")
    if not (made.title[0].isupper() or made.title.split()[0] in commands or made.title[0] == "`"):
        yield "title: a capital letter"
    if made.title.endswith("."):
        yield "title: no full stop"
    if made.role == "cause" and not (made.advice and made.confirm):
        yield "advice, confirm: are missing"
    if not all(step.endswith((".", "?")) for step in (*made.advice, made.confirm) if step):
        yield "advice, confirm: whole sentences"
    # Sources of the verbatim messages: public documents, not addresses.
    if len(made.source) <= 8 or "http" in made.source:
        yield "source: a place, no address"


def test_a_rule_says_all_that_a_reader_needs():
    assert [(made.code, fault) for made in RULES for fault in _unsaid(made)] == []


def test_the_rules_of_the_library_hold_what_they_must():
    """Rules are not checked when they are loaded, so they are checked here."""
    assert [made.code for made in read_rules(rule_texts())] == [made.code for made in RULES]


def test_a_misspelled_key_of_the_library_is_told_with_its_rule(monkeypatch):
    tables = [{"code": "A", "title": "A", "anchors": ["abc"], "regex": "abc", "source": "a place", "positive": "abc"}]
    monkeypatch.setattr("hopperlib.failure.messages.rules._tables", lambda _: [tables[0] | {"fatl": True}])
    with pytest.raises(TableError, match=r"rule\.A\.fatl = true: is not a key; did you mean 'fatal'\?"):
        load_rules.__wrapped__()


def test_the_form_staged_for_the_pages_is_the_same_rules():
    staged = {table["code"]: table for table in json.loads(staged_rules())}
    assert sorted(staged) == sorted(made.code for made in RULES)
    assert all(staged[made.code]["positive"] == list(made.positive) for made in RULES)


def test_there_are_enough_rules_of_every_kind():
    by_role = {
        role: sum(made.role == role for made in RULES) for role in ("cause", "symptom", "cascade", "noise", "info")
    }
    assert len(RULES) >= 160
    assert by_role["cause"] >= 120
    assert all(by_role.values())
    assert {made.fault for made in RULES} == {"user", "system", "either"}
    assert {made.who for made in RULES} >= {"user", "staff"}


def test_nersc_classes_are_used_where_there_is_one():
    """Classes of the report that refer to a message, not to a batch script's bookkeeping."""
    used = {made.nersc_class for made in RULES if made.nersc_class}
    # SHMEMATOMIC, JOBPROLOG and APWRAP have no verbatim message in any source; PATHRUNTIME, CCERUNTIME have.
    assert used >= set(get_args(NerscClass)) - {"SHMEMATOMIC", "JOBPROLOG", "APWRAP"}


# The messages of the CUG paper's section on problem reports and of the error table of the sources that name a cause.
PRINTED = {
    "ERROR - nem_gni_error_handler(): a transaction error": "GNI-TRANSACTION",
    "Rank 0 [Mon Mar 7 03:46:10 2011] [c6-3c1s5n1] GNI": "GNI-TRANSACTION",
    "ERROR - MPID_nem_gni_check_localCQ(): Replaying": "GNI-REPLAY",
    "[NID 03782] 2011-04-20 18:45:43 Apid 1925046 killed. Received node failed or halted event for nid xxxx": "ALPS-NODE-FAILED",
    "PtINIInit failed : PTL_NOT_REGISTERED": "PORTALS-NOT-REGISTERED",
    "[NID 01083] 2011-04-20 09:39:07 distributeControlMsg:": "ALPS-CONTROL-WRITE",
    "error while loading shared libraries: libxxxx.so not found": "LIB-MISSING",
    "OOM killer terminated this process": "ALPS-OOM",
    "node count exceeds reservation claim": "ALPS-CLAIM-NODES",
    "segmentation fault": "SEGV",
    "compute nodes initiated termination": "ALPS-INITIATED",
    "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.": "ALPS-OOM",
    "[NID 04371] 2012-06-02 03:12:09 Apid 23764253: initiated application termination": "ALPS-INITIATED",
    "Application 23764253 exit signals: Killed": "KILLED",
    "Application 23764253 resources: utime ~0s, stime ~68s, Rss ~4848, inblocks ~4163, outblocks ~166": "ALPS-RESOURCES",
    "apsched: claim exceeds reservation's node-count": "ALPS-CLAIM-NODES",
    "apsched: claim exceeds reservation's CPUs": "ALPS-CLAIM-RESOURCES",
    "apsched: claim exceeds reservation's memory": "ALPS-CLAIM-RESOURCES",
    "apsched: claim exceeds reservation's resources": "ALPS-CLAIM-RESOURCES",
    "aprun: [NID 94]Exec /lustre/scratch/userid/a.out failed: chdir /nics/b/home/userid No such file or directory": "ALPS-CHDIR",
    "execve error: No such file or directory": "ALPS-EXECVE",
    "_pmii_daemon(SIGCHLD): PE 12 exit signal Segmentation fault": "SEGV",
    "MEMORY_REGISTER; err=GNI_RC_ERROR_NOMEM": "GNI-MEMORY-REGISTER",
    "Failed to allocate memory for an unexpected message. 3 unexpected messages queued": "MPICH-UNEXPECTED",
    "No space left on device": "IO-NO-SPACE",
    "PGFIO/stdio: Permission denied": "PGI-IO",
    "PTL_NAL_FAILED": "PORTALS-SYSTEM",
    "PTL_PT_NO_ENTRY": "PORTALS-SYSTEM",
    "Identifier removed": "IO-IDENTIFIER-REMOVED",
    "MOM could not start job": "PBS-START",
    "Input/output error": "IO-EIO",
}  # fmt: skip


@pytest.mark.parametrize(("message", "code"), PRINTED.items(), ids=PRINTED.values())
def test_every_message_of_the_sources_is_known(message, code):
    assert codes_in(message) == [code]


def test_rules_are_tried_noise_first_and_general_ones_last():
    places = {made.code: place for place, made in enumerate(RULES)}
    assert (
        places["NOISE-PRELOAD"]
        < places["LIB-MISSING"]
        < places["GFORTRAN-MEMORY"]
        < places["IFORT-RUNTIME"]
        < places["SEGV"]
    )
    assert places["SIGNALLED"] < places["KILLED"] < places["SLURM-TASK-EXIT"] < places["ALPS-RESOURCES"]


def test_a_link_ending_in_a_star_names_a_family():
    assert Link(code="IO-*").names("IO-QUOTA")
    assert not Link(code="IO-*").names("MPIIO-LOCK")
    assert not Link(code="IO-QUOTA").names("IO-QUOTA-2")


def test_a_new_message_takes_one_table():
    made = read_rules([GOOD])
    scanner = Scanner(made)
    scanner.read("log", io.BytesIO(b"all is well\nit WENT WRONG at all\nit went wrong at noon"))
    found = scanner.evidence.messages["TEST-ONE"]
    assert [(hit.line, hit.fields) for hit in found.hits] == [(3, {"place": "noon"})]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TEST-ONE", "test one", "rule[0].code = 'test one': must be upper-case words joined by -"),
        ('title = "A test"', "", "rule.TEST-ONE.title: is missing"),
        ('title = "A test"', 'title = "A"\ncolour = "red"', "rule.TEST-ONE.colour = 'red': is not a key; there are: code, title, class"),
        ('"cause"', '"reason"', "rule.TEST-ONE.role = 'reason': must be one of cause, symptom, cascade, noise, info"),
        ('class = "user"', 'class = "users"', "rule.TEST-ONE.class = 'users': must be one of user, system, either"),
        ('["went wrong"]', "[]", "rule.TEST-ONE.anchors = []: must be a list of texts, at least one"),
        ('["went wrong"]', '["-1"]', "rule.TEST-ONE.anchors: '-1' must hold a word of at least 3 letters"),
        ('["went wrong"]', "[7]", "rule.TEST-ONE.anchors = [7]: must be a list of texts, at least one"),
        ("{1,20}", "+", "holds *, + or {n,}; every quantifier needs an upper bound"),
        ("{1,20}", "{1,}", "holds *, + or {n,}; every quantifier needs an upper bound"),
        ("{1,20}", "{1,20", "rule.TEST-ONE.regex = "),
        ("(?P<place>", "(?P<place", "cannot be compiled"),
        ("went wrong at (", "went wrong at 7 (", "matches specific digits, so an anchor or `digits` must contain them"),
        ('["it went right"]', "[]", "rule.TEST-ONE.negative = []: must be a list of texts, at least one"),
        ('who = "user"', 'who = "user"\nnersc_class = "LOST"', "rule.TEST-ONE.nersc_class = 'LOST': must be one of APEXIT, "),
        ('who = "user"', 'who = "user"\nexplains = ["NOBODY"]', "rule.TEST-ONE.code: 'NOBODY' in its links names no rule"),
        ('who = "user"', 'who = "user"\nrefutes = ["@nothing"]', "rule.TEST-ONE.code: '@nothing' in its links names no rule"),
        ('who = "user"', 'who = "user"\nexplains = [{ code = "TEST-ONE", rank = "own" }]', "rule.TEST-ONE.explains[0].rank = 'own': must be one of any, same, other"),
        ('who = "user"', 'who = "user"\nfatal = "yes"', "rule.TEST-ONE.fatal = 'yes': must be true or false"),
        ('title = "A test"', "title = 7", "rule.TEST-ONE.title = 7: must be text"),
        ('who = "user"', 'who = "user"\nexplains = [{ lines = 3 }]', "rule.TEST-ONE.explains[0].code: is missing"),
        ('who = "user"', 'who = "user"\n[[rule]]\ncode = "TEST-ONE"', "rule.TEST-ONE.code = 'TEST-ONE': occurs twice"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refused_by_name(old, new, message):
    assert old in GOOD
    with pytest.raises(TableError) as raised:
        read_rules([GOOD.replace(old, new, 1)])
    assert any(message in problem for problem in raised.value.problems)


def test_two_rules_may_not_share_a_code():
    with pytest.raises(
        TableError, match=r"rule.TEST-ONE.code = 'TEST-ONE': occurs twice; each \[\[rule\]\] needs a different one"
    ):
        read_rules([GOOD, GOOD])


def test_an_unknown_code_is_refused_with_the_way_to_find_it():
    with pytest.raises(ValueError, match="there is no rule 'NO-SUCH'; `hopper diagnose --list` prints all codes"):
        rule("NO-SUCH")


def test_no_two_messages_look_alike_to_the_scanner():
    """Lines count as the same if they are equal without hexadecimal digits: different messages must not be. Digits that
    distinguish messages must be in an anchor.
    """
    seen = {}
    for made in RULES:
        for sample in made.positive:
            key = sample.encode().translate(None, b"ABCDEFabcdef")
            assert seen.setdefault(key, made.code) == made.code, sample


def test_each_sample_is_quoted_with_its_source_or_composed():
    """A quoted sample names the file, thread, manual or document that contains it."""
    place = re.compile(r"/|#\d|[Mm]anual|sec\. |CUG|run-time error|module|\(\d\)")
    assert {made.sample for made in RULES} == {"quoted", "composed"}
    assert [made.code for made in RULES if made.sample == "quoted" and not place.search(made.source)] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("{1,20}", "+"), r"own.toml: rule.TEST-ONE.regex = .*every quantifier needs an upper bound"),
        (GOOD.replace('"TEST-ONE"', "3"), r"own.toml: rule\[0\].code = 3: must be upper-case words"),
        ("not toml", r"own.toml: rules: is not TOML"),
        (None, r"HOPPER_RULES=.*own.toml: cannot be read: No such file"),
    ],
)
def test_rules_of_ones_own_that_cannot_be_used_are_named(monkeypatch, tmp_path, text, message):
    if text is not None:
        (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HOPPER_RULES", str(tmp_path / "own.toml"))
    with pytest.raises(InputError, match=message):
        load_rules.__wrapped__()


def test_rules_of_ones_own_are_known(monkeypatch, tmp_path):
    (tmp_path / "own.toml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setenv("HOPPER_RULES", str(tmp_path / "own.toml"))
    assert "TEST-ONE" in {rule.code for rule in load_rules.__wrapped__()}


def test_rules_made_without_checks_are_those_that_are_checked():
    assert [asdict(made) for made in load_rules()] == [asdict(made) for made in read_rules(rule_texts())]


def test_a_group_stands_for_its_codes_in_a_link():
    text = GOOD.replace('who = "user"', 'who = "user"\nrefutes = ["@not_started", "SEGV"]')
    (made,) = rules_of([tomllib.loads(text)])
    assert {"LIB-*", "EXEC-FORMAT", "SEGV"} <= {link.code for link in made.refutes}
    assert all(
        any(link.names("SHELL-NOT-FOUND") for link in rule(code).refutes) for code in ("SLURM-OOM", "PBS-WALLTIME")
    )
