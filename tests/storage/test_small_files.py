"""Many small files in four ways: hand-derived cases, laws, errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.filesystems.small_files import WAYS, files_cost
from hopperkit.questions.storage.small_files import QUESTION
from hopperlib.machine import Machine

# 1,000 files per second, 0.2 GB/s per OST on 15: the toy machine's rates do not matter here.
SYSTEM = replace(
    Machine.load("perlmutter").file_systems[0], creates_per_s=1000, peak_gb_s=10.0, node_write_ceiling_gb_s=1.0
)


def test_by_hand():
    job = {"files": 10_000, "size_bytes": 10**6, "tasks": 100, "nodes": 5, "system": SYSTEM}
    one, own, archive, shared = (files_cost(way, **job) for way in WAYS)
    # 10 GB at 5 GB/s whatever the way; 10,000 files at 1,000 per second, four times faster or slower.
    assert {each.moving_s for each in (one, own, archive, shared)} == {2.0}
    assert one.metadata_s == (2.5, 10.0, 40.0)
    assert own.metadata_s.usual == pytest.approx((10_000 + 100) / 3600)
    assert (archive.metadata_s.usual, shared.metadata_s.usual) == (0.005, 0.001)
    assert [each.files for each in (one, own, archive, shared)] == [10_000, 10_000, 5, 1]


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**4))
def test_fewer_files_never_cost_more(files, size, tasks, nodes):
    one, _, archive, shared = (
        files_cost(way, files=files, size_bytes=size, tasks=tasks, nodes=nodes, system=SYSTEM) for way in WAYS
    )
    assert shared.total_s.usual <= archive.total_s.usual <= one.total_s.usual
    assert all(low <= usual <= high for low, usual, high in (each.total_s for each in (one, archive, shared)))


def test_a_million_is_refused_in_words_and_a_hundred_is_not():
    assert QUESTION.run(machine="perlmutter").summary.startswith("Don't: 1,000,000 files in one folder of scratch")
    few = QUESTION.run(machine="perlmutter", files=100)
    assert [finding.code for finding in few.findings] == ["few-files"]
    assert not few.summary.startswith("Don't")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"files": 0}, "files=0 must be at least 1"),
        ({"way": "zip"}, "way='zip' must be one of: one folder, own folders"),
    ],
)
def test_refusals(change, message):
    job = {"way": "one file", "files": 1, "size_bytes": 1, "tasks": 1, "nodes": 1, "system": SYSTEM} | change
    with pytest.raises(ValueError, match=message):
        files_cost(**job)
