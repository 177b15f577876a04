"""The question on a trace: valid input, refusals, and laws of its answers."""

import gzip

import pytest

from hopperkit.questions.question import load
from hopperlib.errors import InputError

RUN = load("simulate").run
# Ten nodes: job 3 passes job 2, as in the docstring of the scheduler.
TRACE = "".join(
    f"{job} {submit} -1 {run} {nodes} -1 -1 {nodes} {run} -1 1 1 -1 -1 -1 -1 -1 -1\n"
    for job, submit, nodes, run in ((1, 0, 6, 100), (2, 1, 8, 50), (3, 2, 4, 90))
)


def test_a_text_a_path_and_a_compressed_file_are_one_trace(tmp_path):
    for name, data in (("log.swf", TRACE.encode()), ("log.swf.gz", gzip.compress(TRACE.encode()))):
        (tmp_path / name).write_bytes(data)
        assert RUN(trace=str(tmp_path / name), nodes=10).facts == RUN(trace=TRACE, nodes=10).facts


def test_numbers_of_a_small_trace():
    result = RUN(trace=TRACE, nodes=10)
    assert result.summary.startswith("3 jobs on 10 nodes")
    # Waits of 0, 99 and 0 s; 1,360 node-seconds of 10 x 150.
    assert (result.facts["mean_wait_s"], result.facts["max_wait_s"], result.facts["utilization"]) == (
        33,
        99,
        1360 / 1500,
    )
    assert sum(row[1] for row in result.tables[1].rows) == 3


def test_without_backfill_nobody_passes():
    assert (
        RUN(trace=TRACE, nodes=10, policy="fcfs").facts["mean_wait_s"] > RUN(trace=TRACE, nodes=10).facts["mean_wait_s"]
    )


def test_one_run_keeps_jobs_whole():
    assert RUN(allocation="contiguous").facts["contiguous_fraction"] == 1.0
    assert RUN(allocation="random").facts["mean_runs"] > RUN().facts["mean_runs"]


def test_a_torus_gives_distances():
    assert RUN(machine="hopper", order="xyz").tables[1].columns[-1].title == "Mean distance"
    assert RUN(machine="none", nodes=92).tables[1].columns[-1].title == "Mean runs"


def test_what_was_left_out_is_said():
    cut = RUN(trace=TRACE + "4 cut off\n", nodes=10)
    assert cut.facts["skipped"] == 1
    assert [finding.code for finding in cut.findings] == ["nothing-observed", "fewer-than-18-fields", "policy"]
    assert cut.facts["notes"][0]["count"] == 1
    assert [finding.code for finding in RUN().findings] == ["nothing-observed", "policy", "made-up"]


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        ({"trace": "  "}, "trace", "trace is empty"),
        ({"trace": "nowhere.swf"}, "trace", "cannot read trace nowhere.swf"),
        ({"trace": TRACE}, "nodes", "give the number of nodes"),
        ({"trace": TRACE, "nodes": 7, "wide": "refuse"}, "cores_per_node", "job 2 requests nodes=8, more than the 7"),
        ({"trace": TRACE, "nodes": 3}, "cores_per_node", "job 1 requests nodes=6, more than the 3"),
        ({"machine": "hopper", "nodes": 10}, "nodes", "nodes=10 contradicts machine hopper, which has 6384"),
        ({"queue_file": "[a]\nqueue = 3"}, "queue_file", "queues: "),
        ({"queue_file": "# none"}, "queue_file", "one table is needed, 0 are there"),
        ({"downtimes": "kind,start_s,end_s\noutage,9,5\n"}, "downtimes", "downtimes: line 2"),
        ({"downtimes": "kind,start_s,end_s,first_node,last_node\norphan,0,5,0,99\n"}, "downtimes", "last_node=99"),
        ({"downtimes": "kind,start_s,end_s\noutage,0,9\n", "queues": "nowhere"}, "queues", "must be one of: none"),
    ],
)
def test_refusals(values, name, message):
    with pytest.raises(InputError) as error:
        RUN(**values)
    assert message in str(error.value)
    assert error.value.name == name
