"""`hopper io`: files, folders and patterns; text, JSON and CSV; findings and their page; exit status."""

import csv
import dataclasses
import gzip
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopperkit.cli import hopper
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperkit.questions.storage.darshan_answer import darshan_result
from hopperkit.readers import darshan as darshan_reader
from hopperkit.readers.ior.results import KEYS
from hopperkit.render.page import page_html
from hopperlib.errors import InputError
from hopperlib.finding import Finding

SAMPLES = Path(__file__).parents[2] / "data" / "samples" / "ior"
GOOD = str(SAMPLES / "ior-4.0.0.posix-fpp.txt")
FAILED = str(SAMPLES / "ior-2.10.3.fail-nodir.txt")


def run(*words, **options):
    return CliRunner().invoke(hopper, ["io", *words], prog_name="hopper", **options)


def test_json_has_the_keys_of_the_contract():
    result = run("ior", GOOD, "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)
    assert len(rows) == 6
    assert all(tuple(row) == KEYS for row in rows)
    assert {row["file"] for row in rows} == {GOOD}


def test_csv_is_one_table():
    result = run("ior", str(SAMPLES), "--csv")
    assert result.exit_code == 1
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["status"] for row in rows} == {"ok", "failed", "no-rates"}
    assert {row["rate_mib_s"] for row in rows if row["status"] != "ok"} == {""}
    assert len({row["file"] for row in rows}) == 11


def test_the_tool_that_wrote_a_file_is_recognised(tmp_path):
    assert run(GOOD).output == run("ior", GOOD).output
    assert run(GOOD, "--json").output == run("ior", GOOD, "--json").output
    (tmp_path / "io500").mkdir()
    (tmp_path / "io500" / "result_summary.txt").write_text(
        "[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds\n"
    )
    (tmp_path / "io500" / "ior-easy-write.txt").write_text(Path(GOOD).read_text())
    (tmp_path / "parsed.txt").write_text("# darshan log version: 3.41\n# nprocs: 4\n")
    (tmp_path / "ior.out").write_text(Path(GOOD).read_text())
    data = json.loads(run(str(tmp_path), "--json").stdout)
    assert list(data) == ["rates", "io500", "darshan"]
    # The output beside the summary of IO500 is part of that run.
    assert len(data["rates"]) == 6
    assert data["io500"]["phases"][0]["name"] == "ior-easy-write"
    assert data["darshan"]["summary"]["tasks"] == 4
    assert "give files of one kind" in run(str(tmp_path), "--csv").stderr


def test_a_log_is_recognised_by_its_name_and_by_its_first_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(darshan_reader, "read_darshan", lambda path: job())
    (tmp_path / "copied").write_bytes(b"3.41\0\0\0\0")
    for name in ("job.darshan", str(tmp_path / "copied")):
        assert run(name).output.startswith("I/O of /bin/<b>a.out: no findings")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("neither",), "neither: No such file or directory"),
    ],
)
def test_lines_that_do_not_work_say_what_does(words, message):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr == f"hopper: {message}\n"


def test_text_for_people():
    result = run("ior", GOOD)
    assert result.output.startswith("6 rows: write at best 1,682.3 MB/s, read at best 4,046.5 MB/s.\n")
    assert "1,604.32" in result.output
    assert "\x1b" not in result.output
    several = run("ior", str(SAMPLES)).output
    assert "ior-2.10.3.fail-nodir.txt: failed: cannot open file: No such file or directory [failed]" in several
    # Of 67 rows twelve, and each mistake once for all runs.
    assert len(several.splitlines()) <= 34


def test_everything_on_demand():
    output = run("ior", GOOD, "--all", "--machine", "franklin").output
    assert "Coefficient of variation of write: 0.60 (documented); 3 repetitions in this output" in output
    assert "Best write rate relative to the ceiling of 1 node of Franklin: 1.57 (predicted)" in output
    assert run("ior", GOOD, "--machine", "sumit").exit_code == 2


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ((GOOD,), 0),
        ((GOOD, GOOD), 0),
        ((GOOD, FAILED), 1),
        ((GOOD, "no/such/file"), 1),
        ((GOOD, __file__), 1),
        (("no/such/file",), 2),
        (("no/such/*.txt",), 2),
        ((__file__,), 2),
        ((GOOD, "--json", "--csv"), 2),
        ((), 2),
    ],
)
def test_exit_status(names, status):
    result = run("ior", *names)
    assert result.exit_code == status
    assert "Traceback" not in result.output


def test_what_cannot_be_read_is_listed_and_the_rest_is_read(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "notes.md").write_text("bought milk")
    (tmp_path / ".hidden").write_text("no matter")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "good.out").write_text(Path(GOOD).read_text())
    result = run("ior", str(tmp_path), FAILED, "--json")
    assert result.exit_code == 1
    assert len(json.loads(result.stdout)) == 7
    assert f"hopper: not read: {tmp_path / 'empty.txt'}: is empty" in result.stderr
    assert f"hopper: not read: {tmp_path / 'notes.md'}: it contains no output of IOR or mdtest" in result.stderr
    assert "hidden" not in result.stderr
    assert "hopper: failed: " in result.stderr


def test_nothing_readable_is_one_error_as_data():
    result = run("ior", "no/such/file", "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["message"] == "no/such/file: No such file or directory"
    several = run(__file__, "no/such/file", "--json")
    error = json.loads(several.stdout)["error"]
    assert error["message"] == "no input is output of IOR, mdtest, IO500 or Darshan"
    assert error["unread"][1] == "no/such/file: No such file or directory"
    assert several.stderr.count("hopper: not read: ") == 2


def test_patterns_standard_input_and_packed_files(tmp_path):
    assert len(json.loads(run("ior", str(SAMPLES / "ior-4*.txt"), "--json").stdout)) == 6
    assert len(json.loads(run("ior", "-", "--json", input=Path(GOOD).read_text()).stdout)) == 6
    with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
        file.write(Path(GOOD).read_text())
    (tmp_path / "b.gz").write_bytes(b"no archive")
    result = run("ior", str(tmp_path), "--json")
    assert len(json.loads(result.stdout)) == 6
    assert "b.gz: it contains no output of IOR or mdtest" in result.stderr


def test_empty_folder_is_named(tmp_path):
    result = run("ior", str(tmp_path))
    assert result.exit_code == 2
    assert str(tmp_path) in result.stderr


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_any_bytes_give_a_message(tmp_path, data):
    path = tmp_path / "any"
    path.write_bytes(data)
    result = run("ior", str(path), "--json")
    assert result.exit_code in (0, 1, 2)
    json.loads(result.stdout)
    assert result.exception is None or isinstance(result.exception, SystemExit)


def job(seconds_of_14=10.0, path="/scratch/run/out"):
    files = tuple(
        FileRecord(path=f"{path}.{ost}", bytes_written=10**9, writes=100, write_s=seconds_of_14 if ost == 14 else 10.0,
                   layout=StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,)))
        for ost in range(24)
        for _ in range(2)
    )  # fmt: skip
    return DarshanLog(executable="/bin/<b>a.out", job_id=7, tasks=48, run_time_s=40.0, modules=("POSIX",), files=files)


@pytest.fixture
def log(monkeypatch):
    """Make `hopper io darshan` see this log for any file."""

    def give(made):
        monkeypatch.setattr(darshan_reader, "read_darshan", lambda path: made)

    return give


def test_darshan_as_data(log):
    log(job(seconds_of_14=400.0))
    result = run("darshan", "a.darshan", "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert list(data) == ["findings", "summary"]
    (one,) = data["findings"]
    assert list(one) == ["code", "severity", "message", "evidence", "advice"]
    assert (one["code"], one["evidence"]["ost"], one["evidence"]["factor"]) == ("slow-ost", 14, 40.0)
    assert data["summary"]["bytes_written"] == 48 * 10**9


def test_healthy_log(log):
    log(job())
    result = run("darshan", "a.darshan")
    assert result.exit_code == 0
    assert result.output.startswith("I/O of /bin/<b>a.out: no findings")
    assert "0 bytes read, 48 GB written." in result.output


def test_text_of_findings(log):
    log(job(seconds_of_14=400.0))
    result = run("darshan", "a.darshan")
    assert "problem: OST 14 (OST000e) is 40.0 times slower" in result.output
    assert "do: Report it" in result.output


def test_darshan_that_is_not_there():
    result = run("darshan", "no/such.darshan")
    assert result.exit_code == 2
    assert result.stderr == "hopper: no/such.darshan: there is no such file\n"
    assert run("darshan", GOOD, "--machine", "sumit").exit_code == 2


def test_without_pydarshan(tmp_path, monkeypatch):
    package = tmp_path / "packages" / "darshan"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(str(package.parent))
    (tmp_path / "any.darshan").write_bytes(b"")
    result = run(str(tmp_path / "any.darshan"))
    assert result.exit_code == 2
    needs = "reading Darshan logs needs pydarshan; install it with: pip install '.[darshan]' in the folder of the repository"
    assert result.stderr == f"hopper: {tmp_path / 'any.darshan'}: {needs}\n"


class Page(HTMLParser):
    """The tags of a page, and whether each that opens closes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_small_and_alone(log, tmp_path):
    log(job(seconds_of_14=400.0))
    result = run("darshan", "a.darshan", "--html", str(tmp_path / "page.html"))
    assert result.exit_code == 1
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert {"script", "link", "img", "iframe", "b"}.isdisjoint(names)
    assert not any(
        name in ("src", "href") or name.startswith("on") for _, attributes in page.tags for name in attributes
    )
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/[a-z0-9/]+", "", text)
    assert "&lt;b&gt;a.out" in text
    assert "40.0 times slower" in text


def test_page_stays_small_whatever_the_log():
    nasty = "<script>" + "x" * 100_000
    found = [
        Finding(
            code="small-reads",
            level="advice",
            message=nasty,
            evidence={"file": nasty, "n": list(range(10_000))},
            advice=nasty,
        )
        for _ in range(8)
    ]
    files = tuple(
        FileRecord(path=f"/{ost}", bytes_written=10**9, writes=10, write_s=10.0, write_sizes=(1,) * 10,
                   layout=StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,)))
        for ost in range(5_000)
    )  # fmt: skip
    log = DarshanLog(
        executable=nasty, job_id=7, tasks=10**6, run_time_s=40.0, modules=("POSIX",), files=files,
    )  # fmt: skip
    text = page_html(darshan_result(log, found, nasty), "I/O of a job")
    assert len(text.encode()) < 400_000
    assert "<script" not in text
    assert Page(text).open == []


def test_many_logs_make_one_table(monkeypatch):
    slow, healthy = job(seconds_of_14=400.0), job()
    logs = {"a.darshan": healthy, "b.darshan": slow, "c.darshan": InputError("c.darshan: is no log")}
    monkeypatch.setattr(darshan_reader, "read_darshan_logs", lambda paths: ((path, logs[path]) for path in paths))
    result = run("darshan", *logs, "--json")
    assert result.exit_code == 1
    assert "c.darshan: is no log" in result.stderr
    data = json.loads(result.stdout)
    assert [each["log"] for each in data["jobs"]] == ["b.darshan", "a.darshan"]
    assert data["summary"]["findings"]["slow-ost"]["jobs"] == 1
    assert data["summary"]["bytes_written"] == 96 * 10**9
    assert run(*logs, "--csv").stdout.splitlines()[1].startswith("b.darshan,")
    assert run("darshan", "a.darshan", "c.darshan").stdout.startswith("1 job: 0 with something to fix")


def test_a_list_of_jobs_gives_nodes_and_node_hours(log, monkeypatch, tmp_path):
    jobs = tmp_path / "jobs.txt"
    jobs.write_text("JobIDRaw|NodeList\n7|nid[001-004]\n8_1|nid009\n")
    log(job(seconds_of_14=400.0))
    # 48 tasks spend 10 s in 46 files and 400 s in two: 1,260 task-seconds, 26.25 s a task, of 4 nodes 105 node-seconds.
    one = json.loads(run("darshan", "a.darshan", "--sacct", str(jobs), "--json").stdout)
    assert one["summary"]["cost"]["nodes"] == 4
    assert one["findings"][0]["evidence"]["cost_node_s"] == pytest.approx(800 / 48 * 4, abs=0.001)
    several = {name: job(seconds_of_14=400.0) for name in ("a.darshan", "b.darshan")}
    monkeypatch.setattr(darshan_reader, "read_darshan_logs", lambda paths: ((path, several[path]) for path in paths))
    data = json.loads(run(*several, "--sacct", str(jobs), "--json").stdout)
    assert {each["nodes"] for each in data["jobs"]} == {4}
    assert {"jobs", "summary", "osts", "nodes", "visible_factors"} == set(data)
    bad = run("a.darshan", "--sacct", str(tmp_path))
    assert bad.exit_code == 2
    assert "cannot read list of jobs" in bad.output


def test_what_is_lost_of_a_log_is_no_success(log):
    log(
        dataclasses.replace(job(), missing=("module POSIX ran out of memory while the job ran: part of it is missing",))
    )
    result = run("darshan", "a.darshan", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["findings"][0]["code"] == "incomplete-log"


def test_page_that_cannot_be_written(log, tmp_path):
    log(job())
    result = run("darshan", "a.darshan", "--html", str(tmp_path / "no" / "page.html"))
    assert result.exit_code == 2
    assert "cannot write the page" in result.stderr


def test_io500_as_data(tmp_path):
    text = "[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds\n"
    (tmp_path / "result_summary.txt").write_text(text)
    result = run("io500", str(tmp_path), "--json")
    # It did not get to its score.
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert data["score"] is None
    assert data["phases"] == [{"name": "ior-easy-write", "value": 4.0, "unit": "GiB/s", "seconds": 300.5}]
    assert run("io500", str(tmp_path)).stdout.startswith("No score; 1 phase.")
    assert run("io500", str(tmp_path / "no")).exit_code == 2


def test_rank_details_are_one_row(tmp_path):
    rows = json.loads(run("ior", str(SAMPLES / "ior-4.0.0.rankdetails.csv"), "--json").stdout)
    assert len(rows) == len({row["access"] for row in rows})
    assert "tasks: " in rows[0]["reason"]


def test_what_a_folder_holds_that_is_no_file_is_said(tmp_path):
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "good.txt").write_text(Path(GOOD).read_text(encoding="utf-8"))
    result = run("ior", str(tmp_path))
    assert result.exit_code == 1
    assert "gone.txt: No such file or directory" in result.stderr


def test_csv_of_io500_folders_has_a_row_for_each_result(tmp_path):
    summary = "[RESULT] ior-easy-write 4.0 GiB/s : time 300.5 seconds\n[SCORE ] Bandwidth 4.0 GiB/s : IOPS 9.0 kiops : TOTAL 6.0\n"
    for name in ("one", "two"):
        folder = tmp_path / name / "results"
        folder.mkdir(parents=True)
        (folder / "result_summary.txt").write_text(summary, encoding="utf-8")
        (folder / "timestampfile").write_text("milk", encoding="utf-8")
    for where, runs in ((tmp_path / "one", 1), (tmp_path, 2)):
        result = run(str(where), "--csv")
        assert result.exit_code == 0, result.output
        lines = result.stdout.splitlines()
        assert lines[0] == "file,start,errors,result,value,unit,seconds"
        assert len(lines) == 1 + 2 * runs
        assert lines[2].endswith(",0,ior-easy-write,4.0,GiB/s,300.5")


def test_a_tree_of_io500_runs_is_one_table_whatever_lies_between(tmp_path):
    """Trials of IOR, binary files and hidden folders do not change the table of the runs."""
    for place in ("2023/a", "2024/b"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "result_summary.txt").write_text(
            "[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds\n"
            "[SCORE ] Bandwidth 4.000000 GiB/s : IOPS 9.000000 kiops : TOTAL 6.000000\n"
        )
    table = run(str(tmp_path), "--csv").stdout
    assert [row["result"] for row in csv.DictReader(io.StringIO(table))] == ["score", "ior-easy-write"] * 2
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "ior.txt").write_text(Path(GOOD).read_text())
    (tmp_path / "trial" / "core").write_bytes(b"IOR-4.0.0\0\0" * 100)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "result_summary.txt").write_text("[RESULT] ior-easy-read 1.0 GiB/s : time 3.5 seconds\n")
    again = run(str(tmp_path), "--csv")
    assert again.stdout == table
    assert "core: is not text" in again.stderr
    assert "omitted from the table of IO500 runs: rates in 1 other file" in again.stderr
