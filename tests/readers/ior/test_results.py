"""Rows of measured rates: their keys, their units, and CSV."""

import csv
import io

import pytest

from hopperkit.readers.ior.results import KEYS, STATUSES, IoResult, results_csv


def test_keys_are_those_of_the_contract():
    contract = (
        "file, status, version, api, access, type, tasks, nodes, tasks_per_node, block_bytes, transfer_bytes, segments, "
        "repetition, rate_mib_s, rate_mb_s, seconds"
    )
    assert ", ".join(KEYS) == contract
    assert tuple(IoResult(file="a").to_dict()) == KEYS


def test_unknown_is_none_and_no_zero():
    row = IoResult(file="a").to_dict()
    assert {key for key, value in row.items() if value is not None} == {"file", "status"}


def test_extra_keys_only_where_they_say_something():
    row = IoResult(file="a", status="failed", reason="no space", rank=0).to_dict()
    assert row["reason"] == "no space"
    assert row["rank"] == 0
    assert "statistic" not in row


def test_megabytes_are_decimal():
    # 2130.96 MiB/s x 1.048576; IOR prints 2234.48 beside it, from digits it does not print.
    assert IoResult(file="a", rate_mib_s=2130.96).rate_mb_s == pytest.approx(2234.48, abs=0.01)


def test_unknown_status_is_refused():
    with pytest.raises(ValueError, match="status='fine' must be one of: ok, failed"):
        IoResult(file="a", status="fine")
    assert {IoResult(file="a", status=status).status for status in STATUSES} == set(STATUSES)


def test_csv_has_extra_columns_only_if_needed():
    plain = list(csv.reader(io.StringIO(results_csv([IoResult(file="a,b")]))))
    assert plain[0] == list(KEYS)
    assert plain[1][0] == "a,b"
    more = list(csv.reader(io.StringIO(results_csv([IoResult(file="a"), IoResult(file="b", operations_s=2.0)]))))
    assert more[0] == [*KEYS, "operations_s"]
    assert [row[-1] for row in more[1:]] == ["", "2.0"]
