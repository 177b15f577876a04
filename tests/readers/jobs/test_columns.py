"""Job traces as tables of any sensible names and units."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import hopperkit
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.recognise import recognise
from hopperlib.errors import InputError

ISO = "submit_time,start_time,run_time,nodes\n2026-03-01 08:00:00,2026-03-01 08:30:00,600,4\n2026-03-01 09:00:00,2026-03-01 09:00:00,1200,8\n"


# Each says of its first job: submitted at 8, begun half an hour later, ten minutes on four nodes.
@pytest.mark.parametrize(
    "text",
    [
        ISO,
        "Job ID;User;Queue;Submitted;Started;Finished;Nodes\n17;ann;q;01.03.2026 08:00;01.03.2026 8:30;01.03.2026 08:40:00;4\n",
        "id\twait [min]\tstart\twalltime (min)\tnodes\n1.pbs\t30\t2026-03-01T08:30\t10,0\t4\n",
        "id|owner|queued|queue_wait|elapsed|cores\n7|ann|1772352000|0:30:00|0:10:00|96\n",
        '"JobID","User","State","Submit","Start","Elapsed","NNodes"\n'
        '"8","ann","COMPLETED","2026-03-01T08:00:00","2026-03-01T08:30:00","00:10:00","4"\n'
        '"8.batch","","COMPLETED","2026-03-01T08:30:00","2026-03-01T08:30:00","00:10:00","1"\n',
        "submit,start,end,nodes,status\n2026-03-01T09:00:00+01:00,2026-03-01T09:30:00+01:00,2026-03-01T09:40:00+01:00,4,done\n",
    ],
)
def test_tables_of_every_kind(text):
    jobs = read_job_trace(io.StringIO(text), cores_per_node=24).to_frame()
    first = jobs.iloc[0]
    assert len(jobs) == text.count("\n") - 1 - text.count(".batch")
    assert first["submit"] == pd.Timestamp("2026-03-01 08:00", tz="UTC")
    assert (first["wait"], first["run_time"]) == (pd.Timedelta("30min"), pd.Timedelta("10min"))
    assert first["nodes"] == 4


def test_what_was_taken_for_what_is_said():
    trace = read_job_trace(io.StringIO(ISO))
    assert [note.message for note in trace.account()][-1] == (
        "columns were taken for those of sacct: submit_time as Submit, start_time as Start, run_time as Elapsed, nodes as NNodes"
    )
    assert trace.epoch_s == 1772352000
    assert [kind.name for kind in recognise(ISO)] == ["trace", "output"]


def test_names_never_started_limits_and_clocks_that_begin_at_nothing():
    lines = ["job,submit_s,start_s,runtime_h,timelimit,nodes", "a,0,60,1.5,2-00:00:00,4", "b,10,,,UNLIMITED,8"]
    trace = read_job_trace(lines)
    jobs = trace.to_frame()
    assert (trace.epoch_s, jobs.index.tolist()) == (0, ["a", "b"])
    assert jobs.loc["a", ["run_time", "requested_time"]].tolist() == [pd.Timedelta("90min"), pd.Timedelta("2D")]
    assert pd.isna(jobs.loc["b", "start"])
    with pytest.raises(InputError, match="line 2, column start_s: 'soon' is no moment such as 2026-03-01T08:00:00"):
        read_job_trace([lines[0], "a,0,soon,1.5,1,4"])


def test_frames_of_ones_own(tmp_path):
    frame = pd.DataFrame(
        {
            "submit": pd.to_datetime(["2026-03-01 08:00", "2026-03-01 09:00"]),
            "start": pd.to_datetime(["2026-03-01 08:10", "2026-03-01 09:10"]),
            "run_time": [60, 70],
            "nodes": [4, 5],
        }
    )
    durations = frame.assign(run_time=pd.to_timedelta(frame["run_time"], unit="s"))
    renamed = durations.rename(columns={"submit": "submit_time", "start": "start_time"})
    frame.to_csv(tmp_path / "jobs.csv", index=False)
    for table in (frame, durations, renamed, tmp_path / "jobs.csv"):
        read = hopperkit.read_job_trace(table).to_frame()
        assert read["run_time"].tolist() == [pd.Timedelta("60s"), pd.Timedelta("70s")]
        assert read["wait"].eq(pd.Timedelta("10min")).all()


@pytest.mark.parametrize("header", ["job,submit_s,run_s,nodes", "id;arrival_s;wall_s;cores", "job,start_s,end_s,nodes"])
def test_short_headings(header):
    values = {"submit": 0, "arrival": 0, "start": 0, "run": 60, "wall": 60, "end": 60, "nodes": 2, "cores": 2}
    delimiter = ";" if ";" in header else ","
    names = header.replace("_s", "").split(delimiter)[1:]
    trace = read_job_trace([header, delimiter.join(["7", *(str(values[name]) for name in names)])])
    assert (trace.workload[0].run_time_s, trace.workload[0].nodes) == (60, 2)


def test_what_a_table_lacks_is_said():
    with pytest.raises(InputError, match="as a table, this lacks submit_time or start_time"):
        read_job_trace(["job,wall,nodes", "1,60,2"])
