"""The job in numbers. Logs are synthetic."""

from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperkit.iologs.darshan_summary import job_row, overall, summary
from hopperlib.finding import Finding


def test_numbers_of_a_job():
    layout = StripeLayout(stripe_count=2, stripe_size_bytes=1 << 20, osts=(0, 1))
    files = (
        FileRecord(path="/a", shared=True, tasks=4, bytes_written=4 * 10**9, writes=10, write_s=8.0, write_span=(1.0, 9.0),
                   write_sizes=(0, 0, 0, 0, 0, 0, 0, 10, 0, 0), layout=layout),
        FileRecord(path="/b", bytes_written=10**9, writes=5, write_s=2.0, write_span=(9.0, 11.0), layout=layout),
    )  # fmt: skip
    numbers = summary(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=20.0, modules=("POSIX",), files=files))
    assert (numbers["files"], numbers["shared_files"], numbers["unique_files"]) == (2, 1, 1)
    # 5 GB from 1 to 11 s.
    assert (numbers["bytes_written"], numbers["write_calls"], numbers["write_rate_mb_s"]) == (5 * 10**9, 15, 500.0)
    assert (numbers["bytes_read"], numbers["read_rate_mb_s"]) == (0, None)
    assert numbers["access_sizes"]["write"] == {"10M_100M": 10}
    assert numbers["stripe_settings"] == [{"stripe_count": 2, "stripe_size_bytes": 1 << 20, "files": 2}]


def test_rate_is_unknown_where_times_are():
    files = (FileRecord(path="/a", bytes_written=10**9, write_span=None, write_s=3.0),)
    log = DarshanLog(executable=None, job_id=None, tasks=None, run_time_s=None, modules=(), files=files)
    assert summary(log)["write_rate_mb_s"] is None


def test_logs_that_cannot_tell_are_not_counted_with_those_that_do():
    slow = [Finding("slow-ost", "OST 14 is slow.", "problem")]
    open_ = [Finding("slow-ost", "Cannot tell.", "unknown")]
    log = DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    rows = [job_row(name, log, found) for name, found in (("a", slow), ("b", open_), ("c", open_))]
    assert overall(rows)["findings"]["slow-ost"] == {"jobs": 1, "level": "problem", "message": "OST 14 is slow."}
    assert overall(rows[1:])["findings"]["slow-ost"]["jobs"] == 2
