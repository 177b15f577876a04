"""`hopper fit`: text, data and page; exit status; every refusal in one message."""

import json
import random
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperlib.data_files import data_folder

SAMPLE = str(data_folder() / "samples" / "run-times" / "synthetic-run-times.csv")
FAST = ("--resamples", "19")


def run(*words, **options):
    return CliRunner().invoke(hopper, ["fit", *words], prog_name="hopper", **options)


def one_message(result):
    """The only line on stderr of a command that ended with exit status 2."""
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def test_text_for_people():
    result = run(SAMPLE, *FAST)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].endswith("synthetic-run-times.csv: 120 runs, column run_time_s in s, grouped by job.")
    for family in ("lognormal", "shifted lognormal", "normal", "gamma", "Weibull", "inverse Gaussian"):
        assert any(line.startswith(f"{family} ") for line in lines)
    assert "Families, best first, fitted to all times (120); p-values from 19 samples" in lines
    assert "2 (2 to 3; both versions inside one job)" in result.stdout
    assert "(--minimum) to test a family" in result.stdout
    assert "\x1b" not in result.stdout


def test_text_of_everything():
    text = run(SAMPLE, "--all", *FAST).stdout
    assert "within a group 0.76 %, between groups" in text
    assert "40 groups of column job" in text
    assert "Histogram of the run times: 120 times from 903 to 1,553.1 s" in text


def test_data_for_programs():
    result = run(SAMPLE, "--json", "--minimum", "--change", "2", *FAST)
    data = json.loads(result.stdout)
    assert (data["values"], data["fitted_values"], data["fitted"]) == (120, 40, "minimum")
    assert (data["change_fraction"], data["power"], data["resamples"]) == (0.02, 0.8, 19)
    assert data["groups"]["groups"] == 40
    # The sample is drawn as a lognormal above 840 s, so its own family is the best.
    assert data["families"][0]["family"] == "shifted lognormal"
    # The shift of forty times lies between the one drawn from and the least time.
    assert 840 < data["families"][0]["parameters"]["shift"] < data["minimum"]


def test_the_same_call_gives_the_same_answer_and_another_seed_another():
    first = run(SAMPLE, "--json", "--minimum", *FAST).stdout
    assert run(SAMPLE, "--json", "--minimum", *FAST).stdout == first
    assert run(SAMPLE, "--json", "--minimum", "--seed", "5", *FAST).stdout != first


def test_standard_input_and_a_column_of_ones_own():
    text = "node;wall\n" + "".join(f"{'abc'[i % 3]};{10 + i}\n" for i in range(12))
    result = run("-", "--column", "wall", "--group", "node", *FAST, input=text)
    assert result.exit_code == 0
    assert result.stdout.startswith("standard input: 12 runs, column wall, without a unit, grouped by node.\n")
    assert "both versions inside one node" in result.stdout


def test_few_times_tell_no_distribution():
    """Nine families with a p-value each for ten times would say more than they can know."""
    result = run("-", "--all", *FAST, input="run_time_s\n" + "".join(f"{10 + i}\n" for i in range(10)))
    assert "10 times are too few to determine their distribution" in result.stdout
    assert "Families, best first" not in result.stdout
    assert "make this many runs before and after it" in result.stdout


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_system(end):
    text = end.join(["run_time_s", *(str(10 + i) for i in range(9)), "-1"])
    assert one_message(run("-", *FAST, input=text)).startswith(
        "hopper: line 11, column run_time_s: '-1' is not above 0"
    )


def test_rows_left_out_are_counted():
    text = "run_time_s\n" + "".join(f"{10 + i}\n" for i in range(9)) + "nan\n"
    result = run("-", *FAST, input=text)
    assert result.exit_code == 0
    assert result.stderr == "hopper: 1 row left out, no time in column run_time_s (first at line 11)\n"


def test_times_that_no_family_describes_are_ordinary():
    rng = random.Random(1)
    text = "run_time_s\n" + "".join(f"{rng.gauss(mean, 2)}\n" for mean in (100, 200, 400, 800, 1600) for _ in range(30))
    result = run("-", *FAST, input=text)
    assert result.exit_code == 0
    assert "No family describes the times" in result.stdout


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("job,runtme_s\n1,2\n", (), "there is no column 'run_time_s' for the times; did you mean 'runtme_s'?"),
        ("run_time_s\n1\ntwo\n", (), "line 3, column run_time_s: 'two' is not a number"),
        ("run_time_s\n1\n-2\n", (), "line 3, column run_time_s: '-2' is not above 0, as a run time must be"),
        ("run_time_s\n1\n2\n3\n", (), "3 values are too few: 5 are needed to compare families"),
        ("run_time_s\n7\n7\n7\n7\n7\n", (), "all values are the same"),
        (
            "job,run_time_s\n" + "".join(f"a,{i}\n" for i in range(1, 9)),
            ("--group", "job"),
            "--group: all 8 times are in one group, 'a': the spread between groups needs two",
        ),
        ("run_time_s\n1\n2\n", ("--minimum",), "the smallest time of each group needs a group column"),
        ("", (), "the file is empty; the first line must name the columns"),
        ("run_time_s\n1\n", ("--change", "0"), "--change 0.0 must be above 0 and at most 1000 %"),
        ("run_time_s\n1\n", ("--power", "100"), "--power 100.0 must be above 5 %"),
        ("run_time_s\n1\n", ("--seed", "-1"), "--seed -1 must be at least 0"),
        ("run_time_s\n1\n2\n3\n4\n5\n", ("--resamples", "5"), "--resamples 5 must be at least 19"),
    ],
)
def test_bad_input_gets_one_message(text, options, message):
    assert one_message(run("-", *options, input=text)).startswith(f"hopper: {message}")
    asked = run("-", "--json", *options, input=text)
    assert asked.exit_code == 2
    assert json.loads(asked.stdout)["error"]["message"].startswith(message)


def test_a_missing_file():
    assert one_message(run("no/such/file")) == "hopper: cannot read run times no/such/file: No such file or directory"


def test_a_page_that_cannot_be_written(tmp_path):
    target = tmp_path / "no" / "folder.html"
    result = run(SAMPLE, "--html", str(target), *FAST)
    assert one_message(result) == f"hopper: cannot write the page {target}: No such file or directory"


def test_without_the_packages_of_the_analysis(monkeypatch):
    monkeypatch.delitem(sys.modules, "hopperkit.analysis.fit_answer", raising=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    message = one_message(run(SAMPLE))
    assert message == "hopper: this command needs pandas: pip install '.[analysis]' in the folder of the repository"


class Outline(HTMLParser):
    """A page's parts for screen readers, and its external references."""

    VOID = ("meta", "link", "br", "img", "hr")

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.tags, self.outside, self.tables = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.tables.append({"captions": 0, "scopes": 0, "heads": 0})
        if tag == "caption":
            self.tables[-1]["captions"] += 1
        if tag == "th":
            self.tables[-1]["heads"] += 1
            self.tables[-1]["scopes"] += attributes.get("scope") in ("row", "col")
        self.outside += [
            value for name, value in attributes.items() if name in ("src", "href") or name.startswith("on")
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def named(self, tag):
        return [attributes for one, attributes in self.tags if one == tag]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert run(SAMPLE, "--html", str(path), *FAST).exit_code == 0
    return path.read_text(encoding="utf-8")


def test_the_page_is_whole_and_stands_alone(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert outline.named("html") == [{"lang": "en"}]
    assert len(outline.named("title")) >= 1
    assert len(outline.named("main")) == 1
    assert outline.outside == []
    assert not outline.named("script")
    assert "default-src 'none'" in page
    assert "color-scheme:light dark" in page


def test_the_page_can_be_read_without_seeing_it(page):
    outline = Outline()
    outline.feed(page)
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(outline.headings, outline.headings[1:], strict=False))
    assert outline.tables
    assert all(one["captions"] == 1 and one["heads"] == one["scopes"] > 0 for one in outline.tables)
    (drawing,) = outline.named("svg")
    assert drawing["role"] == "img"
    assert len(outline.named("desc")) == 1
    # The numbers of the drawing stand in a table that unfolds.
    assert len(outline.named("details")) == len(outline.named("summary")) == 1


def test_the_page_says_what_the_command_says(page):
    # A number is kept with its unit, and the comma stands close behind both.
    kept = re.sub(r'<span class="hopper-quantity">(.*?)</span>', r"\1", page)
    text = " ".join(unescape(re.sub("<[^>]*>", " ", kept)).split())
    for line in run(SAMPLE, "--all", *FAST).stdout.splitlines():
        for part in re.split(r"  +|: | \(|\)|; ", line):
            # Codes in brackets, and the words before a finding, are the text's own.
            said = re.sub(r" \[[a-z-]+\]$", "", part).strip("; ")
            assert said in ("note", "advice", "do") or said in text


def test_names_of_the_file_are_escaped(tmp_path):
    path = tmp_path / "<b>.csv"
    path.write_text("run_time_<i>,job\n" + "".join(f"{10 + i},<u>{i % 2}\n" for i in range(9)), encoding="utf-8")
    out = tmp_path / "page.html"
    assert run(str(path), "--column", "run_time_<i>", "--html", str(out), *FAST).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert "run_time_&lt;i&gt;" in page
    assert not re.search("<[biu]>", page)


def test_many_values_make_no_long_page(tmp_path):
    rng = random.Random(2)
    text = "run_time_s\n" + "".join(f"{rng.gauss(1000, 50)}\n" for _ in range(2500))
    out = tmp_path / "page.html"
    assert run("-", "--html", str(out), *FAST, input=text).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert "2,500 times from" in page
    assert len(page) < 120_000


def test_help_and_bad_input_import_no_analysis(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    program = (
        "import sys; from hopperkit.cli import hopper\n"
        f"for words in (['fit', '--help'], ['fit', {str(path)!r}]):\n"
        "    try: hopper(words)\n"
        "    except SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
