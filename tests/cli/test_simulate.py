"""`hopper simulate`: jobs out, summaries, formats in, refusals, interruption."""

import csv
import gzip
import json

import pytest
from click.testing import CliRunner

import hopperkit
from hopperkit.cli import hopper


def line(job, submit, nodes, run, limit):
    return f"{job} {submit} -1 {run} {nodes} -1 -1 {nodes} {limit} -1 1 1 -1 -1 -1 -1 -1 -1\n"


TRACE = line(1, 0, 6, 100, 100) + line(2, 1, 8, 50, 50) + line(3, 2, 4, 90, 90)
HEAD = "job,submit_time_s,start_time_s,end_time_s,nodes,runs,mean_hops\n"


def first_columns(text):
    """The earliest columns, without status, limit, queue and other facts about a job."""
    return "".join(",".join(row.split(",")[:7]) + "\n" for row in text.splitlines())


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(TRACE)
    return str(path)


def simulate(*words, **options):
    return CliRunner().invoke(hopper, ["simulate", *words], prog_name="hopper", **options)


def test_every_job_as_csv(trace):
    # As in the docstring of the scheduler: job 3 passes job 2.
    result = simulate("--trace", trace, "--nodes", "10", "--csv")
    assert result.exit_code == 0
    assert first_columns(result.stdout) == HEAD + "1,0,0,100,6,1,\n2,1,100,150,8,1,\n3,2,2,92,4,1,\n"
    fcfs = simulate("--trace", trace, "--nodes", "10", "--csv", "--policy", "fcfs").stdout
    assert first_columns(fcfs).endswith("3,2,150,240,4,1,\n")
    # The further columns: status, limit, queue, user, ..., and the nodes as ranges.
    header, *rows = csv.reader(fcfs.splitlines())
    last = dict(zip(header, rows[-1], strict=True))
    assert (last["status"], last["requested_time_s"], last["user"], last["node_list"]) == ("finished", "90", "1", "0-3")


def test_a_policy_is_a_depth(trace):
    def starts(*words):
        return simulate("--trace", trace, "--nodes", "10", "--csv", *words).stdout

    for number, name in (("0", "fcfs"), ("1", "easy"), ("3", "conservative")):
        assert starts("--policy", number) == starts("--policy", name)
    assert starts("--policy", "0") != starts("--policy", "1") == starts()
    shortest = starts("--queues", "shortest-first")
    assert first_columns(shortest).splitlines()[2] == "2,1,100,150,8,1,"


def test_hops_on_a_machine_with_a_torus(trace):
    # Six nodes along z: two on each of three Geminis. Of 15 pairs 8 are one hop apart, 4 two, 3 none: 16 / 15.
    rows = simulate("--trace", trace, "--machine", "hopper", "--order", "xyz", "--csv").stdout.splitlines()
    assert rows[1].split(",")[:6] == ["1", "0", "0", "100", "6", "1"]
    assert rows[1].split(",")[6] == "1.06667"
    alone = simulate("--trace", "-", "--machine", "hopper", "--csv", input=line(1, 0, 1, 5, 5)).stdout
    assert first_columns(alone) == HEAD + "1,0,0,5,1,1,0.0\n"
    assert simulate("--trace", trace, "--machine", "bassi", "--csv").stdout.splitlines()[1].split(",")[6] == ""


def test_summaries(trace):
    assert "3 jobs on 10 nodes" in simulate("--trace", trace, "--nodes", "10").stdout
    data = json.loads(simulate("--trace", trace, "--nodes", "10", "--json").stdout)
    # 600 + 400 + 360 node-seconds of 10 x 150.
    assert (data["jobs"], data["skipped"], data["utilization"]) == (3, 0, 1360 / 1500)
    assert data["mean_wait_s"] == 33


def test_the_answer_is_that_of_the_question(trace):
    data = json.loads(simulate("--trace", trace, "--nodes", "10", "--json").stdout)
    asked = hopperkit.simulate(trace=trace, nodes=10)
    assert {name: data[name] for name in asked.facts} == dict(asked.facts)
    assert list(data)[:4] == ["jobs", "skipped", "nodes", "span_s"]
    assert data["answer"]["summary"] == asked.summary
    assert hopperkit.simulate(TRACE, nodes=10).facts == asked.facts


def test_the_header_of_a_trace_says_the_nodes():
    assert "3 jobs on 12 nodes" in simulate("--trace", "-", input="; MaxNodes: 12\n" + TRACE).stdout


def test_other_ways_in(tmp_path, trace):
    packed = tmp_path / "log.swf.gz"
    packed.write_bytes(gzip.compress(TRACE.encode()))
    assert simulate("--trace", str(packed), "--nodes", "10", "--csv").stdout.count("\n") == 4
    assert simulate("--trace", "-", "--nodes", "10", "--csv", input=TRACE).stdout.count("\n") == 4
    sacct = "JobID|State|Submit|Elapsed|Timelimit|NNodes\n8_1|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4\n"
    assert (
        first_columns(simulate("--trace", "-", "--nodes", "10", "--csv", input=sacct).stdout)
        == HEAD + "8_1,0,0,600,4,1,\n"
    )
    assert simulate("--trace", trace, "--nodes", "1", "--cores-per-node", "24", "--csv").stdout.count(",1,1,") == 3


def test_downtimes_and_queues(tmp_path, trace):
    (tmp_path / "down.csv").write_text("kind,start_s,end_s,first_node,last_node\noutage,20,40,,\norphan,95,200,0,3\n")
    result = simulate("--trace", trace, "--nodes", "10", "--csv", "--downtimes", str(tmp_path / "down.csv"))
    # The outage ends jobs 1 and 3 at 20; job 2 (8 nodes) starts after it.
    assert first_columns(result.stdout) == HEAD + "1,0,0,20,6,1,\n2,1,40,90,8,1,\n3,2,2,20,4,1,\n"
    table = (
        "queue = [{name = 'small', nodes = [1, 4], max_hours = 1, priority = 1}, "
        "{name = 'wide', nodes = [5, 10], max_hours = 1, priority = 2}]"
    )
    (tmp_path / "ours.toml").write_text("[ours]\n" + table)
    late = line(1, 0, 10, 50, 50) + line(2, 1, 10, 50, 50) + line(3, 40, 4, 90, 90)
    words = ("--trace", "-", "--nodes", "10", "--csv", "--policy", "fcfs", "--queues", str(tmp_path / "ours.toml"))
    # Job 3 is of the better queue and goes first.
    assert first_columns(simulate(*words, input=late).stdout).splitlines()[2:] == [
        "2,1,140,190,10,1,",
        "3,40,50,140,4,1,",
    ]


def test_decimals_are_said_to_be_rounded():
    result = simulate("--trace", "-", "--nodes", "10", "--csv", input=line(1, 0.4, 6, 99.6, 100))
    assert first_columns(result.stdout) == HEAD + "1,0,0,100,6,1,\n"
    assert "1 job with decimals, rounded to integers" in result.stderr


def test_skips_are_reported(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(TRACE + line(4, 9, 1, -1, 5) + "5 cut off\n")
    result = simulate("--trace", str(path), "--nodes", "10", "--csv")
    assert result.exit_code == 0
    assert "1 job skipped, run time unknown (first at line 4)" in result.stderr
    assert "fewer than 18 fields (first at line 5)" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--nodes", "10", "--machine", "hopper"), "--nodes 10 contradicts machine hopper, which has 6384"),
        ((), "give the number of nodes"),
        (("--nodes", "0"), "give the number of nodes"),
        (("--nodes", "-1"), "must be from 0 to 200,000, the range"),
        (("--nodes", "7", "--wide", "refuse"), "job 2 requests nodes=8, more than the 7 of the machine"),
        (("--nodes", "10", "--policy", "sjf"), "--policy sjf must be one of: auto, slurm, easy"),
        (("--nodes", "10", "--allocation", "worst"), "--allocation worst must be one of: first, best"),
        (("--nodes", "10", "--overrun", "x"), "--overrun x must be one of: kill, keep"),
        (("--nodes", "10", "--order", "zyx"), "zyx"),
        (("--nodes", "10", "--cores-per-node", "-1"), "must be from 0 to 100,000, the range"),
        (("--machine", "nowhere"), "nowhere"),
        (("--nodes", "10", "--queues", "nowhere"), "--queues nowhere must be one of: hopper-2013"),
        (("--nodes", "10", "--queues", "nowhere.toml"), "cannot read queues nowhere.toml"),
        (("--nodes", "10", "--downtimes", "nowhere"), "cannot read downtimes nowhere"),
    ],
)
def test_refusals(trace, words, message):
    result = simulate("--trace", trace, *words, "--csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_place_that_cannot_be_written(trace, tmp_path):
    result = simulate("--trace", trace, "--nodes", "10", "--html", str(tmp_path / "none" / "x.html"))
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_a_trace_in_processors_is_suspected(trace):
    assert "--cores-per-node" in simulate("--trace", trace, "--nodes", "7").stdout


def test_files_that_are_none(tmp_path):
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b nonsense")
    (tmp_path / "empty").write_text("")
    for name, message in (("none", "cannot read trace"), ("bad.gz", "cannot read trace"), ("empty", "no job at all")):
        result = simulate("--trace", str(tmp_path / name), "--nodes", "4")
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


SACCT = """JobID|User|Partition|State|Submit|Eligible|Start|Elapsed|Timelimit|NNodes|AllocCPUS|AllocTRES|NodeList
1|ann|cpu|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:10|00:10:00|00:20:00|2|16|cpu=16,mem=32G|n[1-2]
2|bob|cpu|COMPLETED|2024-01-01T00:01:00|2024-01-02T00:00:00|2024-01-02T00:00:00|00:10:00|00:20:00|1|8|cpu=8|n1
3|ann|gpu|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:00|01:00:00|02:00:00|1|4|cpu=4,gres/gpu=1|g1
4|cat|gpu|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:00|01:00:00|02:00:00|1|4|cpu=4,gres/gpu=1|g1
5|cat|gpu|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:30:00|01:00:00|02:00:00|1|4|cpu=4,gres/gpu=1|g1
"""


def test_partitions_and_shared_nodes_as_the_trace_tells_them():
    data = json.loads(simulate("--trace", "-", "--json", input=SACCT).stdout)
    groups = {group["name"]: group for group in data["groups"]}
    # The jobs on the GPU node waited 0, 0 and 5,400 s; two fit beside each other, the third starts when they end.
    assert groups["gpu"]["observed_wait_mean_s"] == 1800
    assert groups["gpu"]["simulated_wait_mean_s"] == 1200
    # Job 2 is eligible 86,340 s after its submission, and both waits hold that.
    assert (groups["cpu"]["observed_wait_mean_s"], groups["cpu"]["simulated_wait_mean_s"]) == (43175, 43170)
    assert groups["cpu"]["held_mean_s"] == 43170
    # 16 cores for 10 minutes and 8 of them for another 10, of 16 from 10 s to 24 h and 10 minutes.
    assert groups["cpu"]["observed_utilization"] == (16 * 600 + 8 * 600) / (16 * (86400 + 600 - 10))
    assert [group["name"] for group in data["groups"]] == ["cpu", "gpu", "all"]
    assert {note["code"]: note["count"] for note in data["notes"]} == {"held": 1, "capacity-estimated": 3, "policy": 5}


def test_a_cluster_file_and_a_policy_of_ones_own(tmp_path, monkeypatch):
    nodes = "NodeName={} CPUTot=8 Gres=gpu:2 RealMemory=64000\n"
    cluster = "".join(nodes.format(name) for name in ("n1", "n2", "g1"))
    cluster += "PartitionName=cpu Nodes=n[1-2]\n\nPartitionName=gpu Nodes=g1\n"
    (tmp_path / "cluster.txt").write_text(cluster)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def last_first(view):\n    return [job for job in view.waiting[-1:] if view.room(job) >= job.nodes]\n"
    )
    words = ("--trace", "-", "--cluster", "cluster.txt", "--policy", "mine:last_first", "--json")
    result = simulate(*words, input=SACCT)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["capacity"] == "scontrol"
    assert (
        "mine:nothing must be module:function" in simulate(*words[:4], "--policy", "mine:nothing", input=SACCT).stderr
    )


def test_users_by_name_in_rows_and_limits(tmp_path):
    header = "JobID|User|State|Submit|Elapsed|Timelimit|NNodes"
    row = "{}|{}|COMPLETED|2024-01-01T00:00:00|00:10:00|00:10:00|1"
    trace, rules = tmp_path / "jobs.txt", tmp_path / "rules.toml"
    trace.write_text("\n".join([header, row.format(1, "ann"), row.format(2, "ann"), row.format(3, "bob")]))
    rules.write_text('[[mine.rules.limit]]\nper = "user"\nof = "ann"\njobs = 1\n')
    result = simulate("--trace", str(trace), "--nodes", "4", "--queues", str(rules), "--csv")
    rows = [(row["user"], row["start_time_s"]) for row in csv.DictReader(result.stdout.splitlines())]
    assert rows == [("ann", "0"), ("ann", "600"), ("bob", "0")]


def test_a_note_is_told_once_and_the_page_stands_alone(trace, tmp_path):
    page = tmp_path / "page.html"
    result = simulate("--trace", trace, "--nodes", "64", "--all", "--html", str(page))
    assert "hopper:" not in result.stderr
    text = page.read_text()
    assert len(text) < 1_000_000
    assert "The machine over time" in text
    assert "<script" not in text
