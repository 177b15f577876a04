"""Code around pydarshan: intact and damaged logs, crashes, no pydarshan. A stub replaces it; see conftest."""

import pytest

from hopperkit.iologs.darshan_findings import findings
from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.readers.darshan import DarshanMissing, read_darshan, read_darshan_logs
from hopperlib.machine import Machine


def slow_osts(log):
    return [one.evidence["ost"] for one in findings(log, Machine.load("hopper")) if one.code == "slow-ost"]


@pytest.mark.parametrize("text", ["new form", "old form"])
def test_healthy_log(stand_in, text):
    log = read_darshan(stand_in(text))
    assert (log.job_id, log.tasks, log.executable) == (7, 24, "/home/u/a.out")
    # 100 to 139 s, both counted.
    assert log.run_time_s == 40.0
    assert len(log.files) == 24
    assert log.files[3].path == "/scratch/out.3"
    assert log.files[3].layout.osts == (3,)
    assert log.notes == ("in the log and not used here: APXC",)
    assert log.missing == ()
    assert slow_osts(log) == [14]


def test_hints_of_darshan_itself_are_never_read(stand_in):
    log = read_darshan(stand_in())
    advice = str([one.to_dict() for one in findings(log, Machine.load("hopper"))])
    assert "romio_no_indep_rw" not in str(log) + advice


def test_crash_keeps_what_was_read(stand_in):
    log = read_darshan(stand_in("crash"))
    assert len(log.files) == 24
    assert "the log is damaged in module LUSTRE: the rest could not be read" in log.missing
    assert [one.level for one in findings(log, Machine.load("hopper")) if one.code == "slow-ost"] == ["unknown"]


def test_module_that_cannot_be_read(stand_in):
    log = read_darshan(stand_in("bad POSIX"))
    assert "module POSIX could not be read: bad records" in log.missing
    assert log.files == ()


def test_module_that_ran_out_of_memory(stand_in):
    log = read_darshan(stand_in("POSIX full"))
    assert "module POSIX ran out of memory while the job ran: part of it is missing" in log.missing
    assert len(log.files) == 24


def test_no_log(stand_in):
    path = stand_in("no log")
    with pytest.raises(ValueError, match=r"job.darshan: cannot be read as a Darshan log \(Failed to open file.\)"):
        read_darshan(path)


def test_no_file():
    with pytest.raises(ValueError, match="no/such: there is no such file"):
        read_darshan("no/such")


def test_a_folder(tmp_path):
    with pytest.raises(ValueError, match="is a directory; give a log inside it"):
        read_darshan(str(tmp_path))


def test_no_pydarshan(tmp_path, without_pydarshan):
    path = tmp_path / "a.darshan"
    path.write_bytes(b"")
    with pytest.raises(DarshanMissing, match=r"needs pydarshan; install it with: pip install '\.\[darshan\]'"):
        read_darshan(str(path))
    # What darshan-parser printed needs no pydarshan, and is read beside the logs that do.
    (tmp_path / "b.txt").write_text("# jobid: 7\n# nprocs: 1\nPOSIX\t0\t1\tPOSIX_OPENS\t1\t/a\t/\text4\n")
    again = tmp_path / "c.darshan"
    again.write_bytes(b"")
    kinds = [type(log) for _, log in read_darshan_logs([path, tmp_path / "b.txt", again])]
    assert kinds == [DarshanMissing, DarshanLog, DarshanMissing]


def test_reading_that_takes_too_long(tmp_path, stand_in):
    with pytest.raises(ValueError, match="not read within 1e-06 s"):
        read_darshan(stand_in(), timeout_s=1e-6)


def test_pandas_is_not_imported_for_a_log(stand_in, tmp_path):
    """It takes as long to import as everything else; access to an attribute imports it."""
    package = tmp_path / "packages" / "pandas"
    package.mkdir()
    (package / "__init__.py").write_text(
        'print(\'\\nhopper-darshan {"note": "pandas"}\')\nDataFrame = 1\n', encoding="utf-8"
    )
    module = package.parent / "darshan" / "__init__.py"
    stated = module.read_text(encoding="utf-8")
    module.write_text(f"import pandas as pd\n{stated}", encoding="utf-8")
    path = stand_in()
    assert "pandas" not in read_darshan(path).notes
    module.write_text(f"import pandas as pd\npd.DataFrame, pd.DataFrame\n{stated}", encoding="utf-8")
    assert read_darshan(path).notes[0] == "pandas"
