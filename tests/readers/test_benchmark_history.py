"""Benchmark histories: CSV in its kinds, ReFrame's logs."""

from __future__ import annotations

import pytest

from hopperkit.readers.benchmark_history import read_benchmark_history
from hopperlib.errors import InputError

# The form of ReFrame's own tutorial, version 4.7; the values are ours.
REFRAME = """\
result|job_completion_time|environ|job_nodelist|jobid|name|num_tasks|partition|copy_bw_value|copy_bw_unit|copy_bw_ref|copy_bw_lower_thres|copy_bw_upper_thres|system
pass|2024-02-21T22:51:16|gnu|n1|65|stream_test|1|compute|21000.5|MB/s|0|None|None|cluster
pass|2024-02-21T22:51:19|clang|n1|66|stream_test|1|compute|18000|MB/s|0|None|None|cluster
pass|2024-02-20T20:45:17|gnu|n2|69|stream_test|1|compute|21100|MB/s|0|None|None|cluster
fail|2024-02-25T20:45:17|gnu|n2|70|stream_test|1|compute|null|MB/s|0|None|None|cluster
"""


def test_a_log_of_reframe():
    found = read_benchmark_history(REFRAME)
    gnu, clang = found.series
    assert (gnu.name, gnu.values) == ("gnu copy_bw", (21100.0, 21000.5))
    assert gnu.times[0] == "2024-02-20T20:45:17"
    assert (gnu.better, gnu.kind) == ("higher", "memory")
    assert gnu.covariates == {"job_nodelist": ("n2", "n1")}
    assert clang.values == (18000.0,)
    assert found.skips.messages() == ["1 value left out, there is none (first at line 5)"]


@pytest.mark.parametrize(
    "text", ["1,100\n2,101\n", "1;100\n2;101\n", "time,value\n1,100\n2,101\n", "t\tx\n1\t100\n2\t101\n"]
)
def test_the_plain_form(text):
    (series,) = read_benchmark_history(text, name="triad").series
    assert series.values == (100.0, 101.0)
    assert series.times == ("1", "2")


def test_durations_on_a_clock_are_seconds():
    (series,) = read_benchmark_history("date,Elapsed,build\n2026-03-01,00:13:35,v1\n2026-03-02,1-00:00:01,v2\n").series
    assert series.values == (815.0, 86401.0)
    assert series.covariates == {"build": ("v1", "v2")}


def test_runs_are_in_the_order_of_one_clock():
    """In the night in which an hour is repeated, 2:15 in winter time comes after 2:45 in summer time."""
    text = "time,value\n2026-10-25T02:15:00+01:00,3\n2026-10-25T02:45:00+02:00,2\n2026-10-25T02:10:00+02:00,1\n"
    assert read_benchmark_history(text).series[0].values == (1.0, 2.0, 3.0)


def test_a_wide_table_holds_several_series():
    found = read_benchmark_history("date,ior_write,NPB FT 64 tasks,nodes\n2026-01-01,1,2,4\n2026-01-02,3,4,8\n")
    assert [(series.name, series.values) for series in found.series] == [
        ("ior_write", (1.0, 3.0)),
        ("NPB FT 64 tasks", (2.0, 4.0)),
    ]
    assert found.series[0].covariates == {"nodes": ("4", "8")}


def test_a_long_table_holds_several_series():
    found = read_benchmark_history(
        "date,benchmark,value,better\n1,a,5,lower\n1,b,6,higher\n2,a,7,lower\n2,b,8,higher\n"
    )
    assert [(series.name, series.values, series.better) for series in found.series] == [
        ("a", (5.0, 7.0), "lower"),
        ("b", (6.0, 8.0), "higher"),
    ]


def test_a_table_of_darshan_logs_is_read_in_order_of_jobs():
    """The table of ``hopper io darshan --csv`` has the worst job first; what a job requested is not a measurement."""
    rows = [
        f"{job}.darshan,vpic,{job},2048,{100 + job % 5}.0,1,0,2199023259968,0,16402,{5 + job % 3}.5,ok,0,none"
        for job in (30, 10, 20)
    ]
    header = "log,executable,job_id,tasks,run_time_s,files,bytes_read,bytes_written,read_calls,write_calls,metadata_s,worst,problems,findings"
    found = read_benchmark_history("\n".join([header, *rows]))
    assert {series.name.split()[-1] for series in found.series} == {"run_time_s", "metadata_s"}
    assert found.series[0].times == ("10", "20", "30")
    assert found.series[0].better == "lower"


def test_a_table_of_ior():
    from hopperkit.readers.ior.results import IoResult, results_csv

    rows = [
        IoResult(file=f"run{day}", access=access, rate_mib_s=100.0 + day)
        for day in (1, 2)
        for access in ("write", "read")
    ]
    found = read_benchmark_history(results_csv(rows))
    assert [(series.name, series.values, series.kind) for series in found.series] == [
        ("write", (101.0, 102.0), "file system"),
        ("read", (101.0, 102.0), "file system"),
    ]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", None, "the file is empty"),
        ("time,value\n", None, "the file has no value above 0"),
        ("time,value\n1,2\n2\n", None, "line 3 has 1 cells for 2 columns"),
        ("time,value\n1,fast\n", "value", "line 2, column value: 'fast' is not a number above 0"),
        ("time,value\n1,-3\n", None, "line 2, column value: '-3' is not a number above 0"),
        ("time,value\n1,2\n", "rate", "there is no column 'rate'; the columns are: time, value"),
        ("date;wert\n1;schnell\n", None, "no column contains only numbers; the columns are: date, wert"),
    ],
)
def test_refuses(text, column, message):
    with pytest.raises(InputError) as refused:
        read_benchmark_history(text, column=column)
    assert refused.value.message == message


def test_daily_totals_of_tokio_are_histories():
    # Columns as pytokio's summaries of a day name them.
    rows = [f"2017-01-{day:02},cscratch,{10**14 + day * 10**11},{2 * 10**14 - day}" for day in range(1, 29)]
    found = read_benchmark_history(["date,file_system,sum_bytes_read,sum_bytes_write", *rows])
    assert [series.name for series in found.series] == ["sum_bytes_read", "sum_bytes_write"]
    frame = found.to_frame().pivot(index="time", columns="benchmark", values="value")
    assert frame.loc["2017-01-02"].tolist() == [10**14 + 2 * 10**11, 2 * 10**14 - 2]


def _rows_of_nodes(time, columns=("node",)):
    """A value on each of three nodes on each of twelve days."""
    cells = {"node": "n{}".format, "tasks": lambda node: str(16 * node), "repeat": str}
    rows = [
        ",".join((time(day, node), *(cells[name](node) for name in columns), str(100 * node + day)))
        for node in (1, 2, 3)
        for day in range(1, 13)
    ]
    return "\n".join((f"date,{','.join(columns)},stream_gb_s", *rows))


@pytest.mark.parametrize(
    ("time", "columns", "names"),
    [
        (lambda day, node: f"2026-01-{day:02}", ("node",), ["n1", "n2", "n3"]),
        (lambda day, node: f"2026-01-{day:02}T0{node}:00:00", ("node",), ["n1", "n2", "n3"]),
        (lambda day, node: f"2026-01-{day:02}", ("tasks",), ["16", "32", "48"]),
        # A text is a series before a number is.
        (lambda day, node: f"2026-01-{day:02}", ("tasks", "node"), ["n1", "n2", "n3"]),
    ],
)
def test_a_column_with_a_run_for_each_day_makes_series(time, columns, names):
    found = read_benchmark_history(_rows_of_nodes(time, columns)).series
    assert [series.name for series in found] == [f"{name} stream_gb_s" for name in names]
    assert found[1].values == tuple(200.0 + day for day in range(1, 13))


@pytest.mark.parametrize(
    ("time", "columns"),
    [
        # Repetitions are runs of one series; so are runs on one node after another.
        (lambda day, node: f"2026-01-{day:02}", ("repeat",)),
        (lambda day, node: f"2026-0{node}-{day:02}", ("node",)),
    ],
)
def test_a_column_of_repetitions_or_of_other_days_makes_none(time, columns):
    (series,) = read_benchmark_history(_rows_of_nodes(time, columns)).series
    assert len(series.values) == 36
