"""No text causes a crash or a hang: the time grows linearly with the size of any text."""

from __future__ import annotations

import io
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages import _lines as lines_module
from hopperlib.failure.messages import _templates as templates_module
from hopperlib.failure.messages import locations as facts_module
from hopperlib.failure.messages._lines import LINE_LIMIT
from hopperlib.failure.messages._matching import match
from hopperlib.failure.messages._templates import is_exit_report, suspicion, template, words_of
from hopperlib.failure.messages.locations import facts, strip_label
from hopperlib.failure.messages.rules import load_rules
from hopperlib.failure.messages.scanner import Scanner

RULES = load_rules()
CAUSES = [made for made in RULES if made.regex]


def seconds(action, text):
    """Processor time of an action on a text, the best of three."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        action(text)
        best = min(best, time.process_time() - begun)
    return best


def grows_linearly(action, piece, *, small=1024, slack_s=0.002):
    """Four times the text takes at most about four times as long; quadratic growth would take sixteen times."""
    one = seconds(action, (piece * (small // len(piece) + 1))[:small])
    four = seconds(action, (piece * (4 * small // len(piece) + 1))[: 4 * small])
    return four <= 8 * one + slack_s


def hostile_pieces(expression):
    """Adversarial texts for an expression: its literal parts repeated, and runs of characters from its classes."""
    literals = re.findall(r"[A-Za-z][A-Za-z ':_-]{3,40}", re.sub(r"\(\?P<\w+>|\\[a-zA-Z]", "", expression))
    pieces = [literal.encode() for literal in literals[:4]]
    joined = b" ".join(pieces)
    return [*pieces, joined, b"a", b"1", b" ", b".", b"1 ", b"a:", b"(", b"error: n1: task 3: ", b"/a", joined + b" 1"]


def test_every_expression_is_linear_on_hostile_lines():
    """On the expressions themselves, without the windows that shorten long lines; a text that is slow three times is
    not an accident.
    """
    tried = [(text, piece) for made in RULES for text in made.regex for piece in hostile_pieces(text) if piece]
    slow = [
        (text, piece)
        for text, piece in tried
        if not any(grows_linearly(re.compile(text.encode()).search, piece) for _ in range(3))
    ]
    assert slow == []


HELPERS = {
    "label": strip_label,
    "facts": facts,
    "suspicion": suspicion,
    "template": template,
    "only tells": is_exit_report,
    "words": lambda text: words_of(text.decode(errors="replace")),
    "escapes": lambda text: lines_module._ESCAPES.sub(b"", text),
}


PIECES = (b"a", b"1", b" ", b"/", b"'", b'"', b"\x1b[", b"\x1b]", b"\x1b[0", b"rank ", b"error ", b"n1-", b"1:", b"a/b")
PIECES += (b"Mon Jan  1 ", b"c1-", b"[NID ")


@pytest.mark.parametrize("name", HELPERS)
def test_every_other_expression_is_linear_too(name):
    slow = [piece for piece in PIECES if not any(grows_linearly(HELPERS[name], piece) for _ in range(3))]
    assert slow == []


def test_the_expressions_meant_are_all_there_are():
    """The list above covers every expression of the modules that read lines."""
    for module, names in (
        (facts_module, {"_LABEL", "_RANK", "_NID", "_CNAME", "_NODE", "_APID", "_ISO", "_UNIX", "_SYSLOG"}),
        (lines_module, {"_ESCAPES"}),
        (
            templates_module,
            {
                "_STRIPPED",
                "_SPACES",
                "_WORD",
                "_WORDS",
                "_NAMED",
                "_NO_WORDS",
                "_LEADS_ON",
                "_RAISED",
                "_CLASS",
                "_SOURCE",
                "_OBJECT",
                "_CARRIED_ON",
            },
        ),
    ):
        found = {name for name, value in vars(module).items() if isinstance(value, re.Pattern)}
        assert found == names


def test_a_line_of_all_anchors_over_and_over_is_matched_in_bounded_time():
    """Windows bound the work on a line of 64 kB: it takes no more than forty times as long as one of 2 kB."""
    anchors = b" ".join(anchor.encode() for made in RULES for anchor in made.anchors)
    short, long = (anchors * 9)[:2000], (anchors * 9)[:LINE_LIMIT]
    match(long, RULES)
    once = seconds(lambda text: [match(text, (made,)) for made in RULES], short)
    assert seconds(lambda text: [match(text, (made,)) for made in RULES], long) <= 40 * once + 0.05


@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 3_000_000,
        b"\r" * 300_000,
        b"\n" * 1_000_000,
        b"\r\n" * 500_000,
        b"\x1b[" * 300_000,
        b"error " * 300_000,
        b"Killed\r" * 20_000,
        b"\xff\xfe" + b"\x00\xd8" * 200_000,
        bytes(range(256)) * 4000,
        b"\x1f\x8b" + b"garbage" * 1000,
        b"BZh9" + b"garbage" * 1000,
        b"\xfd7zXZ\x00" + b"garbage" * 1000,
        "\u202e\u0000\ud7ff error \U0001f600 ".encode() * 20_000,
        b"%s%n%x" * 100_000,
        b"<script>error</script>\n" * 20_000,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_hostile_texts_get_a_verdict(content):
    found = diagnose([("log", content)])
    assert found.verdict in ("cause", "failed", "no-cause", "succeeded")


class Endless(io.RawIOBase):
    """A hundred megabytes of one line, generated while read."""

    def __init__(self, size, tail):
        self.left, self.tail = size, tail

    def readable(self):
        return True

    def readinto(self, buffer):
        if self.left > 0:
            part = b"error x " * (min(len(buffer), self.left) // 8)
            self.left -= len(part)
        else:
            part, self.tail = self.tail, b""
        buffer[: len(part)] = part
        return len(part)


def test_one_line_of_a_hundred_megabytes():
    scanner = Scanner()
    scanner.read("log", Endless(100_000_000, b"\nDisk quota exceeded\n"))
    assert scanner.evidence.lines_read == 2
    assert scanner.evidence.messages["IO-QUOTA"].hits[0].line == 2
    assert scanner.evidence.files[0].shortened == 1


def test_distinct_lines_that_all_look_bad_stay_linear():
    """Error lines that never repeat: twice as many take about twice as long, and memory stays bounded."""

    def text(count):
        return "".join(
            f"{chr(97 + n % 26) * (n % 23 + 1)} failed in {chr(97 + n % 7) * (n % 41)} q{n % 97 * 'z'}\n"
            for n in range(count)
        ).encode()

    def read(data):
        Scanner().read("log", io.BytesIO(data))

    small, large = text(200), text(800)
    assert seconds(read, large) <= 8 * seconds(read, small) + 0.1


@pytest.mark.parametrize(
    "tail",
    [
        ": No such file or directory",
        pytest.param(" failed", marks=pytest.mark.nightly),
        pytest.param(": Permission denied", marks=pytest.mark.nightly),
    ],
)
def test_unique_lines_that_a_rule_knows_stay_linear(tail):
    """Lines whose letters change, so that no shortcut helps: four times as many take about four times as long."""
    rng = random.Random(1)
    letters = [rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(40, 120)) for _ in range(800)]
    lines = [f"{''.join(word[:20])} {''.join(word)}{tail}\n" for word in letters]

    def read(text):
        Scanner().read("log", io.BytesIO(text))

    one, four = "".join(lines[:200]).encode(), "".join(lines).encode()
    assert seconds(read, four) <= 8 * seconds(read, one) + 0.05


@given(st.binary(max_size=20_000))
def test_arbitrary_bytes(content):
    diagnose([("log", content)]).to_dict()


@given(
    st.lists(st.sampled_from([anchor for made in RULES for anchor in made.anchors]), max_size=60),
    st.sampled_from([" ", "\n", "\r", "1", "\0", ": "]),
)
def test_anchors_in_any_order(anchors, between):
    diagnose([("log", between.join(anchors))]).to_dict()
