"""Run times out of CSV: forms of files, rows left out, every error with its text and line."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.run_times import read_run_times
from hopperlib.errors import InputError


def read(text, **options):
    return read_run_times(text.splitlines(keepends=True), **options)


def test_times_groups_and_lines():
    table = read("job,run,run_time_s\na,1,10.5\nb,1,11\n")
    assert table.times == (10.5, 11.0)
    assert table.groups == ("a", "b")
    assert (table.column, table.group, table.unit) == ("run_time_s", "job", "s")
    assert table.skips.messages() == []


@pytest.mark.parametrize(
    "text",
    [
        "run_time_s\n10\n12\n",
        "\ufeffrun_time_s\r\n10\r\n12\r\n",
        "\n\nrun_time_s\n10\n\n12",
        "x;run_time_s\n1;10\n2;12\n",
        "x\trun_time_s\n1\t10\n2\t12\n",
        "x|run_time_s\n1|10\n2|12\n",
        ' x , run_time_s \n "a, b" , 10 \n c , 1.2e1 \n',
        '"run_time_s","note"\n"10","a\nb"\n"12",""\n',
        "run_time_s,x,y\n10,,\n,,\n12,1,2\n",
    ],
)
def test_forms_of_a_file(text):
    assert read(text).times == (10, 12)


def test_a_column_and_a_group_of_ones_own():
    table = read("wall_ms,node,job\n5,n1,1\n6,n2,1\n", column="wall_ms", group="node")
    assert (table.times, table.groups, table.unit) == ((5, 6), ("n1", "n2"), "ms")
    assert read("seconds\n5\n", column="seconds").unit == "s"


def test_rows_without_a_time_are_counted():
    table = read("job,run_time_s\n1,10\n1,\n1,NaN\n,11\n2,n/a\n2,12\n")
    assert table.times == (10, 12)
    assert table.skips.counts == {"no time in column run_time_s": 3, "no group in column job": 1}
    assert table.skips.messages() == [
        "3 rows left out, no time in column run_time_s (first at line 3)",
        "1 row left out, no group in column job (first at line 5)",
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "the file is empty; the first line must name the columns"),
        ("\n \n", {}, "the file is empty; the first line must name the columns"),
        ("10\n12\n", {}, "the first line must name the columns, but '10' are numbers"),
        (
            "job,run_tme_s\n1,10\n",
            {},
            "there is no column 'run_time_s' for the times; did you mean 'run_tme_s'? The columns are: 'job', 'run_tme_s'",
        ),
        (
            "Run_Tme_S,b\n1,10\n",
            {},
            "there is no column 'run_time_s' for the times; did you mean 'Run_Tme_S'? The columns are: 'Run_Tme_S', 'b'",
        ),
        ("a,b\n1,10\n", {}, "there is no column 'run_time_s' for the times. The columns are: 'a', 'b'"),
        (
            "run_time_s,jobs\n1,10\n",
            {"group": "job"},
            "there is no column 'job' for the groups; did you mean 'jobs'? The columns are: 'run_time_s', 'jobs'",
        ),
        ("run_time_s\n1\n", {"group": "run_time_s"}, "column 'run_time_s' cannot hold both the times and the groups"),
        ("run_time_s,run_time_s\n1,2\n", {}, "there are 2 columns 'run_time_s': name each differently"),
        ("run_time_s\n10\nten\n", {}, "line 3, column run_time_s: 'ten' is not a number"),
        (
            "run_time_s\n10:05\n",
            {},
            "line 2, column run_time_s: '10:05' is not a number, nor a duration such as 01:30:00 or 2-12:00:00",
        ),
        (
            'run_time_s\n"1,234.5"\n',
            {},
            "line 2, column run_time_s: '1,234.5' is not a number; write a point for decimals and nothing between thousands",
        ),
        ("run_time_s\n1_000\n", {}, "line 2, column run_time_s: '1_000' is not a number"),
        ("run_time_s\ninf\n", {}, "line 2, column run_time_s: 'inf' is not a finite number"),
        ("run_time_s\n1\n0\n", {}, "line 3, column run_time_s: '0' is not above 0, as a run time must be"),
        ("run_time_s\n-3\n", {}, "line 2, column run_time_s: '-3' is not above 0, as a run time must be"),
        ("job,run_time_s\n,-3\n", {}, "line 2, column run_time_s: '-3' is not above 0, as a run time must be"),
        ("job,run_time_s\n1\n", {}, "line 2 has 1 cells for 2 columns"),
        ("job,run_time_s\n1,2,3\n", {}, "line 2 has 3 cells for 2 columns"),
        ("job,run_time_s\n", {}, "there is no time in column 'run_time_s'"),
        ("job,run_time_s\n1,\n2,nan\n", {}, "there is no time in column 'run_time_s': 2 rows lack it"),
    ],
)
def test_errors(text, options, message):
    with pytest.raises(InputError) as caught:
        read(text, **options)
    assert str(caught.value) == message


def test_lines_are_counted_from_the_top_of_the_file():
    with pytest.raises(InputError, match=r"^line 6, "):
        read('\n\nrun_time_s,note\n1,"two\nlines"\nx,\n')


def test_a_long_cell_is_not_printed_whole():
    with pytest.raises(InputError) as caught:
        read("run_time_s\n" + "x" * 10_000)
    assert len(str(caught.value)) < 200


@given(st.text(max_size=200))
def test_whatever_the_file_holds_nothing_else_is_raised_and_no_wrong_time_read(text):
    with suppress(InputError):
        table = read("run_time_s,job\n" + text)
        assert all(time > 0 for time in table.times)
        assert len(table.times) == len(table.groups)


def test_durations_and_decimal_commas():
    assert read_run_times(["run_time_s", "00:10:05", "1-00:00:01.5"]).times == (605, 86401.5)
    # A comma is one of decimals where it does not part columns.
    assert read_run_times(["job;run_time_s", "a;1,5", "b;2"]).times == (1.5, 2)
    with pytest.raises(ValueError, match="nothing between thousands"):
        read_run_times(["job;run_time_s", "a;1,234,5"])


def test_covariates_and_a_column_of_dates():
    lines = ["date,run_time_s,hops", "2024-01-01,10,-1.5", "2024-01-02,11,", "2024-01-03,12,2"]
    table = read_run_times(lines, covariates=["hops"])
    assert (table.times, table.covariates, table.when) == ((10.0, 12.0), {"hops": (-1.5, 2.0)}, "date")
    assert table.skips.messages() == ["1 row left out, no number in column hops (first at line 3)"]
    with pytest.raises(InputError, match="line 2, column hops: 'inf' is not a finite number"):
        read_run_times(["run_time_s,hops", "10,inf"], covariates=["hops"])
    with pytest.raises(InputError, match="there is no column 'io' for the covariate"):
        read_run_times(lines, covariates=["io"])


@pytest.mark.parametrize(
    ("lines", "unit", "times"),
    [
        (["Elapsed", "00:10:00", "1-00:00:01"], "s", (600, 86_401)),
        (["ElapsedRaw", "600"], "s", (600,)),
        (["CPUTimeRAW", "600"], "s", (600,)),
        # A clock is read in seconds, whatever the heading says.
        (["elapsed [min]", "00:10:00"], "s", (600,)),
        (["elapsed [min]", "10"], "min", (10,)),
        # Plain numbers among clocks leave the unit open.
        (["Elapsed", "00:10:00", "600"], "", (600, 600)),
        (["Elapsed", "600"], "", (600,)),
    ],
)
def test_the_unit_follows_from_the_form_of_the_times_or_the_heading(lines, unit, times):
    runs = read_run_times(lines, column=lines[0])
    assert (runs.unit, runs.times) == (unit, times)
