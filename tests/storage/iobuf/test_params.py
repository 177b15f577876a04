"""IOBUF_PARAMS: settings from public job scripts are read, written back the same, and checked."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.iobuf.params import (
    Rule,
    buffer_bytes,
    check_params,
    read_params,
    suited_rule,
    write_params,
)

SEEN = (
    "*:size=64M:count=4:verbose",
    "*wrk:verbose,*cqc_*:verbose",
    "GRIBFILE.*:size=32M:count=12:verbose",
    "*:size=8M",
    "*:size=4M,%stdout:size=2M:verbose",
    "*IOR_POSIX*:size=1G:count=32:prefetch=8:preflush=8",
)


@pytest.mark.parametrize("text", SEEN)
def test_settings_in_use_are_read_and_written_back(text):
    rules = read_params(text)
    assert write_params(rules) == text
    assert check_params(rules) == ()


def test_order_of_options_and_case_of_units_do_not_matter():
    (rule,) = read_params("*IOR_POSIX*:preflush=8:count=32:size=1g:prefetch=8")
    assert (rule.size_bytes, rule.count, rule.prefetch, rule.others) == (1 << 30, 32, 8, ("preflush=8",))


def test_virtual_buffers_are_kept():
    (rule,) = read_params("*:size=8M:count=32:vbuffer_count=4096:prefetch=1")
    assert rule.others == ("vbuffer_count=4096",)
    assert check_params([rule]) == ()


@pytest.mark.parametrize(
    "line", ["export IOBUF_PARAMS='*:size=8M'", 'IOBUF_PARAMS="*:size=8M"', "setenv IOBUF_PARAMS *:size=8M"]
)
def test_the_line_that_sets_it_is_read_too(line):
    assert read_params(line) == (Rule(pattern="*", size_bytes=8 << 20),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "IOBUF_PARAMS is empty"),
        ("IOBUF_PARAMS=", "IOBUF_PARAMS is empty"),
        (":size=2M", "':size=2M' has no file name before its options"),
        ("*,,x", "'' has no file name"),
        ("*:", "'*:' has an empty option"),
        ("*:size", "option size of '*' needs a value, as in size=2M"),
        ("*:count", "option count of '*' needs a value, as in count=2"),
        ("*:size=2MB", "size=2MB must be a size in bytes, such as 2M, 64k or 1048576"),
        ("*:size=0", "size=0 must be a size in bytes"),
        ("*:count=0", "count=0 must be a whole number from 1"),
        ("*:prefetch=-1", "prefetch=-1 must be a whole number from 0"),
        ("*:size=2M:size=4M", "option size of '*' is given twice"),
    ],
)
def test_what_cannot_be_read_is_named(text, message):
    with pytest.raises(ValueError) as error:
        read_params(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "code", "level"),
    [
        # seen in a public job script: the pattern was forgotten
        ("12M:verbose", "pattern-is-size", "problem"),
        ("*:sise=2M", "unknown-option", "problem"),
        ("*:count=2:prefetch=2", "prefetch-needs-buffers", "problem"),
    ],
)
def test_findings(text, code, level):
    assert [(one.code, one.level) for one in check_params(read_params(text))] == [(code, level)]


def test_large_calls():
    assert [one.code for one in check_params(read_params("*"), transfer_bytes=1 << 20)] == ["buffer-too-small"]


def test_memory_by_hand():
    # 3 buffers x 2 MiB x 5 files x 7 tasks = 210 MiB
    assert buffer_bytes(Rule(pattern="*", size_bytes=2 << 20, count=3), files=5, tasks=7) == 210 << 20
    with pytest.raises(ValueError, match="files=-1 must not be negative"):
        buffer_bytes(Rule(pattern="*"), files=-1)


def test_what_cannot_be_written_is_refused():
    with pytest.raises(ValueError, match="must hold at least one rule"):
        write_params([])
    with pytest.raises(ValueError, match="must be a file name without commas and colons"):
        write_params([Rule(pattern="a:b")])


names = st.text(alphabet="abcXYZ*?._-%/", min_size=1, max_size=12)
maybe = st.none() | st.integers(min_value=1, max_value=4096)
rules = st.builds(
    Rule, pattern=names, size_bytes=maybe, count=maybe, prefetch=maybe, others=st.sampled_from(((), ("verbose",)))
)


@given(st.lists(rules, min_size=1, max_size=4))
def test_what_is_written_is_read_back(given_rules):
    assert read_params(write_params(given_rules)) == tuple(given_rules)


@given(st.integers(min_value=1, max_value=1 << 40))
def test_sizes_keep_every_byte(size):
    (rule,) = read_params(write_params([Rule(pattern="*", size_bytes=size)]))
    assert rule.size_bytes == size


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(ValueError):
        check_params(read_params(text))


@pytest.mark.parametrize(("size", "text"), [(2 << 20, "2M"), (65_536, "64k"), (3 << 30, "3G"), (1000, "1000")])
def test_sizes_are_written_in_the_largest_unit(size, text):
    assert write_params([Rule(pattern="*", size_bytes=size)]) == f"*:size={text}"


def test_the_suited_rule_takes_the_memory_of_the_default():
    assert buffer_bytes(suited_rule("*")) == buffer_bytes(Rule(pattern="*"))
    assert check_params([suited_rule("*", reading=True)]) == ()
