"""JSON and CSV of IOR; inputs are synthetic."""

import pytest

from hopperkit.readers.ior._data import is_csv, is_glued, is_json, read_csv, read_json
from hopperkit.readers.ior.reader import read_ior


def result(access, rate):
    return f'{{"access": "{access}", "bwMiB": {rate}, "blockKiB": 4096.0, "xferKiB": 1024.0, "totalTime": 0.5}}'


def run(*results, options='"api": "MPIIO", "tasks": 8, "clients per node": 4, "repetitions": 1', test=0):
    joined = ", ".join(results)
    return (
        f'{{"Version": "4.1.0", "Command line": "ior -w", "tests": [{{"TestID": {test}, "Options": {{{options}}}, '
        f'"Results": [{joined}]}}]}}'
    )


def test_on_one_line():
    (row,) = read_ior(run(result("write", 10.5)), file="a")
    assert (row.rate_mib_s, row.version, row.api, row.tasks, row.nodes, row.seconds) == (
        10.5,
        "IOR-4.1.0",
        "MPIIO",
        8,
        2,
        0.5,
    )
    assert (row.block_bytes, row.transfer_bytes, row.status) == (2**22, 2**20, "ok")


def test_banner_before_the_json():
    (row,) = read_ior("IOR-3.2.1: MPI Coordinated Test of Parallel I/O\n" + run(result("write", 1.0)), file="a")
    assert row.rate_mib_s == 1.0


def test_warnings_inside():
    text = run(result("write", 10.5)).replace("[", "[\nWARNING: late message, 12 of them\n")
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.status) == (10.5, "ok")


def test_summary_where_results_are_missing():
    text = (
        '{"tests": [], "summary": [{"operation": "write", "API": "POSIX", "TestID": 0, "blockSize": 4194304, '
        '"transferSize": 1048576, "numTasks": 4, "tasksPerNode": 2, "repetitions": 3, "filePerProc": 0, '
        '"bwMaxMIB": 30.0, "bwMinMIB": 10.0, "bwMeanMIB": 20.0, "MeanTime": 1.5}]}'
    )
    rows = read_ior(text, file="a")
    assert [(row.statistic, row.rate_mib_s, row.seconds) for row in rows] == [
        ("max", 30, None),
        ("min", 10, None),
        ("mean", 20, 1.5),
    ]
    assert {(row.tasks, row.nodes, row.type) for row in rows} == {(4, 2, "shared")}


@pytest.mark.parametrize("rate", ["0.0", "nan", "-nan", "inf", "null", '"x"'])
def test_no_rate_is_no_zero(rate):
    (row,) = read_ior(run(result("write", rate)), file="a")
    assert (row.rate_mib_s, row.status) == (None, "incomplete")


def test_several_tests_each_with_its_options():
    first = run(result("write", 1.0))
    second = (
        first.replace('"TestID": 0', '"TestID": 1').replace("8", "16").replace("1.0", "2.0").partition('"tests": [')[2]
    )
    rows = read_ior(first[:-2] + ", " + second, file="a")
    assert [(row.rate_mib_s, row.tasks) for row in rows] == [(1.0, 8), (2.0, 16)]


def test_two_runs_one_after_the_other():
    rows = read_ior(run(result("write", 1.0)) + run(result("write", 2.0), options='"tasks": 2'), file="a")
    assert [(row.rate_mib_s, row.tasks) for row in rows] == [(1.0, 8), (2.0, 2)]


def test_cut_in_the_middle():
    text = run(result("write", 1.0), result("write", 2.0)).replace('"repetitions": 1', '"repetitions": 2')
    (row,) = read_ior(text[: text.index(', {"access": "write", "bwMiB": 2.0')], file="a")
    assert (row.status, row.reason) == ("incomplete", "1 of 2 write repetitions")


def test_csv_columns_in_any_order():
    test = read_csv("access,bw(MB/s),iter,numTasks\nread,1.048576,3,2\n", file="a", version=None)[0]
    (one,) = test.measured
    assert (one.rate_mib_s, one.repetition, one.tasks) == (pytest.approx(1.0), 3, 2)


def test_csv_with_noise_and_a_banner():
    text = (
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\nCommand line : ior -F -w -i 1\n"
        "access,bw(MiB/s),total(s),iter\nWARNING, late, message\nwrite,5.0,0.1,0\n"
    )
    (row,) = read_ior(text, file="a")
    assert (row.rate_mib_s, row.type, row.version, row.status) == (5.0, "file per process", "IOR-4.0.0", "ok")


def test_forms_are_told_apart():
    assert is_json(run())
    assert not is_json('{"tests": 1'.replace("tests", "other"))
    assert is_csv("IOR\naccess,rank,runtime\n")
    assert not is_csv("access denied, sorry")
    assert is_glued("ior -O summaryFormat=CSV")
    assert not is_glued("ior -O summaryFormat=CSV\naccess,bw(MiB/s)\n")


def test_json_without_any_result_is_told():
    (test,) = read_json('{"Command line": "ior -w", "tests": [', file="a", version=None)
    assert test.rows()[0].status == "incomplete"
