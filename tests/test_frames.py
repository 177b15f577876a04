"""Everything that is a table is a DataFrame: typed, with units, there and back."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import pandas as pd
import pytest

import hopperkit
from hopperbook.documented import all_values
from hopperbook.questions import load
from hopperkit.frames import column_name, frame_text, to_frame
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperkit.readers.benchmark_history import read_benchmark_history
from hopperkit.readers.ior.io500 import read_io500_summary
from hopperkit.readers.jobs import read_job_trace
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.placement.layouts import layouts
from hopperlib.scheduling.workload import Job, Workload


@dataclass(frozen=True)
class _Inner:
    name: str


@dataclass(frozen=True)
class _Record:
    nodes: int | None
    rate_gb_s: float | None
    machine: _Inner

    @property
    def cores(self) -> int | None:
        return None if self.nodes is None else 24 * self.nodes


def test_a_column_has_one_type():
    frame = to_frame([_Record(2, 1.5, _Inner("hopper")), _Record(None, None, _Inner("edison"))])
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "nodes": "Int64", "rate_gb_s": "float64", "machine": "str", "cores": "Int64"
    }  # fmt: skip
    assert frame["cores"].tolist() == [48, pd.NA]


@pytest.mark.parametrize("name", ["memory", "scorecard", "watch", "place", "stripe", "runs-needed", "slow-ost"])
def test_every_answer_is_a_table(name):
    answer = load(name).run()
    frame = answer.to_frame()
    assert len(frame) > 1
    assert all(column == column_name(column) for column in frame.columns)


def test_an_answer_without_a_table_is_its_curve():
    # The numbers of runs that are drawn, and the reader's own 12, each with its probability.
    frame = load("runs-needed").run(runs=12).to_frame()
    own = frame[frame["series"] == "your runs"]
    assert own["runs_of_each_variant"].tolist() == [12]
    assert frame["probability_that_the_gain_shows"].between(0, 1).all()


def test_an_answer_gives_the_table_that_is_named():
    answer = load("diagnose").run()
    assert len(answer.to_frame("causes")) == len(answer.facts["causes"])
    assert answer.to_frame("Messages").shape[0] == len(answer.tables[0].rows)
    with pytest.raises(KeyError, match="there is no table 'nothing'; there are: causes"):
        answer.to_frame("nothing")


def test_a_trace_goes_to_a_frame_and_back(root, tmp_path):
    path = root / "data" / "samples" / "jobs" / "synthetic-jobs.swf"
    trace = hopperkit.read_swf(path, cores_per_node=1)
    frame = to_frame(trace.workload)
    assert frame["run_time_s"].sum() == sum(trace.workload.run_time_s)
    people = trace.to_frame()
    assert people["run_time"].sum() == pd.Timedelta(frame["run_time_s"].sum(), unit="s")
    assert list(read_job_trace(people).workload.run_time_s) == list(trace.workload.run_time_s)
    assert list(Workload(frame)) == list(trace.workload)
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    assert list(read_job_trace(tmp_path / "jobs.csv").workload) == list(trace.workload)
    frame.to_parquet(tmp_path / "jobs.parquet")
    assert list(read_job_trace(pd.read_parquet(tmp_path / "jobs.parquet")).workload) == list(trace.workload)
    asked, told = hopperkit.simulate(trace=frame, nodes=512), hopperkit.simulate(trace=path.read_text(), nodes=512)
    assert asked.summary == told.summary


def test_a_schedule_joins_its_jobs():
    # On 4 nodes job 2 waits for job 1; job 3 never starts: it came after the clock stopped.
    jobs = Workload([Job(1, 0, 4, 100, 100), Job(2, 10, 4, 50, 50, queue="debug"), Job(3, 400, 4, 50, 50)])
    frame = to_frame(simulate(jobs, 4, until_s=200)).set_index("job")
    assert frame["wait_s"].tolist() == [0, 90, pd.NA]
    assert frame.loc[2, ["start_time_s", "end_time_s", "status", "queue"]].tolist() == [100, 150, "finished", "debug"]


def test_readers_take_tables():
    runs = pd.DataFrame({"job": ["a", "a", "b"], "run_time_s": [10.0, 11.0, 12.0]})
    read = hopperkit.read_run_times(runs)
    assert (read.times, read.groups) == ((10.0, 11.0, 12.0), ("a", "a", "b"))
    assert hopperkit.read_run_times(runs["run_time_s"]).times == read.times
    assert hopperkit.read_run_times(pd.Series([1.0, 2.0])).times == (1.0, 2.0)
    frame = read.to_frame()
    assert frame["run_time"].tolist() == [pd.Timedelta(seconds, unit="s") for seconds in (10, 11, 12)]
    assert (hopperkit.read_run_times(frame).times, hopperkit.read_run_times(frame).groups) == (read.times, read.groups)


def test_run_times_histories_and_jobs_of_darshan_have_durations_and_moments():
    """Minutes are durations; clocks of Berlin before and after the last Sunday of March are one hour apart in the world."""
    lines = [
        "jobid;walltime [min];start;nodes;note",
        "7;1,5;2026-03-29T01:30:00+01:00;4;n/a",
        "8;2;2026-03-29T03:30:00+02:00;8;slow",
    ]
    runs = hopperkit.read_run_times(io.StringIO("\n".join(lines))).to_frame()
    assert runs["run_time"].tolist() == [pd.Timedelta("90s"), pd.Timedelta("2min")]
    assert runs["start"].diff().iloc[1] == pd.Timedelta("1h")
    assert str(runs["start"].dt.tz) == "UTC"
    assert runs[["jobid", "nodes"]].to_numpy().tolist() == [["7", 4], ["8", 8]]
    assert runs["note"].isna().tolist() == [True, False]
    assert runs.resample("W", on="start")["run_time"].sum().tolist() == [pd.Timedelta("210s")]
    nightly = ["date,value", "2026-10-25T02:30:00+02:00,5", "2026-10-25T02:30:00+01:00,6"]
    assert read_benchmark_history(nightly).to_frame()["time"].diff().iloc[1] == pd.Timedelta("1h")
    local = read_benchmark_history(["date,value", "2026-10-24 02:30,5", "2026-10-26 02:30,6"]).to_frame()
    assert str(local["time"].dt.tz_localize("Europe/Berlin").dtype).endswith("Europe/Berlin]")
    text = "# exe: ./a\n# jobid: 7\n# nprocs: 1\n# start_time: 1772323200\n# run time: 90\nPOSIX\t0\t1\tPOSIX_OPENS\t1\t/a\t/\text4\n"
    assert to_frame([hopperkit.read_darshan(io.StringIO(text))])["start"].tolist() == [
        pd.Timestamp("2026-03-01", tz="UTC")
    ]
    assert read_benchmark_history(pd.Series([5.0, 6.0], name="triad_gb_s")).series[0].values == (5.0, 6.0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"job": [1]}), "the table of jobs has no column 'submit_time_s'; it needs: job, submit_time_s"),
        (pd.DataFrame({name: [1] for name in Job._fields[:5]} | {"nodes": [0]}), "job 1: nodes=0 must be at least 1"),
    ],
)
def test_a_table_of_jobs_is_checked(table, message):
    with pytest.raises(InputError, match=message):
        Workload(table)


def test_rows_of_readers_are_tables(root):
    folder = root / "data" / "samples" / "ior"
    rates = hopperkit.read_ior(folder / "ior-4.0.0.posix-fpp.txt").to_frame()
    assert {"rate_mib_s", "rate_mb_s", "operations_per_s"} <= set(rates.columns)
    # As the file prints it: the first write took 0.092338 s, and IOR began at 03:55:53 by a clock without a zone.
    assert rates["run_time"].iloc[0] == pd.Timedelta("92338us")
    assert rates["start"].eq(pd.Timestamp("2026-11-21 03:55:53")).all()
    zoned = hopperkit.to_frame(hopperkit.read_ior(folder / "ior-4.0.0.posix-fpp.txt"), timezone="Europe/Berlin")
    assert zoned["start"].iloc[0] == pd.Timestamp("2026-11-21 02:55:53", tz="UTC")
    assert (rates["rate_mb_s"] / rates["rate_mib_s"]).round(6).eq(1.048576).all()
    made = hopperkit.read_mdtest(folder / "mdtest-4.0.0.txt").to_frame()
    assert len(made) > 4
    assert made["start"].eq(pd.Timestamp("2026-11-21 03:55:58")).all()
    assert made["run_time"].isna().all()
    assert made["run_time"].dtype.kind == "m"


def test_a_folder_of_io500_says_when_it_ran(tmp_path):
    phase = "[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds\n"
    for name, result in (
        ("2026.11.02-01.30.00", ""),
        ("other", "[run]\nprocs = 2\n[ior-easy-write]\nt_start = 2026-11-03 01:30:00\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result_summary.txt").write_text(phase)
        (tmp_path / name / "result.txt").write_text(result)
    frame = hopperkit.to_frame(hopperkit.read_io500(tmp_path), timezone="UTC")
    assert sorted(frame["start"].dt.strftime("%d %H:%M")) == ["02 01:30", "03 01:30"]
    assert frame["run_time"].tolist() == [pd.Timedelta("300.5s")] * 2


def test_histories_logs_and_summaries():
    history = read_benchmark_history("time,value,nodes\n1,100,4\n2,99,8\n").to_frame()
    assert history[["time", "value", "nodes"]].to_numpy().tolist() == [[1, 100.0, 4], [2, 99.0, 8]]
    assert history.dtypes[["time", "nodes"]].tolist() == ["int64", "int64"]
    layout = StripeLayout(stripe_count=4, stripe_size_bytes=1 << 20, osts=(1, 2, 3, 4))
    logs = [
        DarshanLog(
            executable="a.out", job_id=number, tasks=2, run_time_s=1.0, modules=(),
            files=(FileRecord(path="/scratch/x", bytes_written=10, layout=layout), FileRecord(path="/scratch/y")),
        )
        for number in (7, 8)
    ]  # fmt: skip
    frame = to_frame(logs)
    assert frame["job_id"].tolist() == [7, 7, 8, 8]
    assert frame.loc[0, ["bytes_written", "layout_stripe_count"]].tolist() == [10, 4]
    run = read_io500_summary(
        "[RESULT] ior-easy-write 2.5 GiB/s : time 301.5 seconds\n[SCORE ] Bandwidth 2.5 GiB/s : IOPS 1.0 kiops : TOTAL 1.6\n"
    )
    assert to_frame([run, run])["bandwidth_gib_s"].tolist() == [2.5, 2.5]


def test_documented_values_and_layouts():
    values = to_frame(all_values()).set_index("id")
    assert values.loc["memory.hopper-per-task-packed", "number"] == 1.29
    assert hopperkit.to_frame(Machine.load("hopper"))["nodes"].tolist() == [6384]


def test_what_a_notebook_shows(root):
    rows = hopperkit.read_run_times(root / "data" / "samples" / "run-times" / "synthetic-run-times.csv")
    assert "run_time" in rows._repr_html_()
    assert len(repr(rows)) < 400
    assert len(repr(load("memory").run())) < 200


@pytest.mark.parametrize("thing", [7, "text", [7]])
def test_what_is_no_table_is_refused(thing):
    with pytest.raises(TypeError, match=r"a (table|row) is "):
        to_frame(thing)


def test_only_tables_are_made_text():
    assert frame_text("a,b") is None
    assert frame_text(pd.Series([1], name="x", index=pd.Index([5], name="run"))) == "run,x\n5,1\n"


def test_an_accounting_as_json_is_a_frame(tmp_path):
    # The shape that sacct --json prints since Slurm 21.08, cut to what a job needs.
    job = {
        "job_id": 8, "user": "ann", "partition": "regular", "state": {"current": "COMPLETED"},
        "time": {"submission": 1700000000, "start": 1700000060, "elapsed": 600, "limit": 60, "eligible": 1700000000},
        "allocation_nodes": 4,
    }  # fmt: skip
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"jobs": [job, job | {"job_id": 9}]}))
    frame = hopperkit.read_sacct(file).to_frame()
    ten, hour = pd.Timedelta("10min"), pd.Timedelta("1h")
    assert (
        frame[["nodes", "run_time", "requested_time", "partition"]].to_numpy().tolist()
        == [[4, ten, hour, "regular"]] * 2
    )
    assert frame["wait"].tolist() == [pd.Timedelta("1min")] * 2


def test_performance_logs_of_reframe_are_a_frame():
    lines = [
        "result|job_completion_time|system|partition|environ|name|copy_bw_value|copy_bw_unit",
        *(f"pass|2026-01-{day:02}T03:00:00|hopper|compute|gnu|stream|{7000 + day}|MB/s" for day in range(1, 15)),
    ]
    frame = read_benchmark_history(lines).to_frame()
    assert len(frame) == 14
    assert frame.loc[0, ["value", "unit"]].tolist() == [7001, "MB/s"]
    assert frame["time"].iloc[0] == pd.Timestamp("2026-01-01T03:00")


def test_a_summary_of_tokio_is_a_frame():
    # The columns that a summary of jobs has, a few of its hundred; times as seconds since 1970.
    lines = ["index,_datetime_end,_datetime_start,_file_system,_jobid,darshan_agg_perf_by_slowest_posix,fs_max_oss_cpu"]
    lines += [f"{n},{1502073162 + n}.0,{1502073118 + n}.0,scratch{n % 2},624{n},{2e5 + n},4.5" for n in range(6)]
    found = read_benchmark_history(lines)
    assert [(series.name, len(series.values), series.better) for series in found.series] == [
        ("scratch0", 3, "higher"), ("scratch1", 3, "higher")
    ]  # fmt: skip
    assert found.to_frame()["value"].tolist() == [200000, 200002, 200004, 200001, 200003, 200005]


def test_an_export_of_open_xdmod_is_a_frame():
    # What its button Export writes of a chart: title and parameters, then a table between two rules.
    head = [
        "title",
        '"CPU Hours: Total: by Resource"',
        "parameters",
        "",
        "start,end",
        "2025-01-01,2025-03-31",
        "---------",
    ]
    lines = [*head, 'Month,"[hopper] CPU Hours: Total"', "2025-01,23.5", "2025-02,25.1", "2025-03,24.6", "---------"]
    frame = read_benchmark_history(lines).to_frame()
    assert frame[["benchmark", "time", "value"]].to_numpy().tolist()[0] == [
        "[hopper] CPU Hours: Total",
        "2025-01",
        23.5,
    ]
    assert len(frame) == 3


def test_a_column_without_a_value_has_the_type_that_is_declared():
    frame = to_frame([_Record(None, None, _Inner("hopper"))])
    assert frame.dtypes.astype(str).tolist() == ["Int64", "float64", "str", "Int64"]
    bounds = to_frame([{"interval": None, "wait_s": None}, {"interval": [1.0, 2.0], "wait_s": None}])
    assert bounds.dtypes.astype(str).tolist() == ["float64"] * 3
    assert bounds.loc[1, ["interval_low", "interval_high"]].tolist() == [1, 2]


def test_a_list_of_records_is_short():
    assert repr(all_values()) == f"{len(all_values())} rows of DocumentedValue"
    assert len(to_frame(layouts(Machine.load("hopper"), need_gb=2, tasks=384))) == 63
