"""Records, answers and functions go to other processes: they pickle, copy and compare."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import hopperkit
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperlib.failure.messages.rules import rule
from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Torus
from hopperlib.placement.layouts import layouts
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

LINES = ["aprun -n 24 a", "aprun -n 48 -N 12 a"]
QUICK = [name for name in QUESTIONS if not load(name).heavy]
SWF = "7 60 5 3600 48 -1 -1 -1 7200 -1 1 3 1 -1 2 -1 -1 -1"


def _records():
    machine = Machine.load("hopper")
    launch = read_launch("aprun -n 24 a", machine)
    jobs = Workload([Job(1, 0, 2, 60, 60), Job(2, 0, 3, 60, 60)])
    return {
        "machine": machine,
        "node": machine.node(),
        "launch": launch,
        "placement": place_tasks(launch, machine),
        "layouts": layouts(machine, need_gb=2, tasks=384),
        "rule": rule("ALPS-OOM"),
        "torus": Torus((4, 4, 4)),
        "workload": jobs,
        "schedule": simulate(jobs, 4),
        "script rules": hopperkit.read_run_times(["job,run_time_s", "a,10.5"]),
        "question": load("memory").defaults,
    }


@pytest.mark.parametrize("name", _records())
def test_a_record_travels(name):
    record = _records()[name]
    assert pickle.loads(pickle.dumps(record)) == record
    assert copy.deepcopy(record) == record
    if dataclasses.is_dataclass(record):
        assert dataclasses.asdict(record).keys() == {field.name for field in dataclasses.fields(record)}
    if hasattr(record, "_asdict"):
        assert record._asdict()


@pytest.mark.parametrize("name", Machine.names())
def test_every_machine_travels(name):
    machine = Machine.load(name)
    again = pickle.loads(pickle.dumps(machine))
    assert (again, copy.deepcopy(machine)) == (machine, machine)
    assert dataclasses.asdict(again)["name"] == machine.name


@pytest.mark.parametrize("name", QUICK)
def test_an_answer_travels(name):
    answer = load(name).run()
    again = pickle.loads(pickle.dumps(answer))
    assert again == answer
    assert again.to_dict() == answer.to_dict()
    assert copy.deepcopy(answer) == answer
    assert dataclasses.asdict(answer)["summary"] == answer.summary


def test_answers_differ():
    assert hopperkit.memory(1, 384) != hopperkit.memory(2, 384)
    assert hopperkit.memory(1, 384) != "an answer"


def test_every_public_function_travels():
    for name in hopperkit.__all__:
        thing = getattr(hopperkit, name)
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_a_question_travels_with_its_starting_values():
    question = pickle.loads(pickle.dumps(load("memory").starting(need_gb=3.0)))
    assert (question.name, question.defaults["need_gb"]) == ("memory", 3.0)


def test_a_trace_travels():
    trace = hopperkit.read_swf(["; MaxNodes: 6384", SWF], cores_per_node=24)
    assert pickle.loads(pickle.dumps(trace)).workload == trace.workload


def _calls():
    machine = Machine.load("franklin")
    return (
        (hopperkit.place, LINES),
        (functools.partial(hopperkit.memory, tasks=384, machine=machine), [0.5, 1.0]),
    )


def test_functions_run_in_a_process_pool():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for function, values in _calls():
            assert list(pool.map(function, values)) == [function(value) for value in values]


def test_functions_run_in_joblib():
    import joblib

    for function, values in _calls():
        with joblib.parallel_config("loky", n_jobs=1):
            assert joblib.Parallel()(joblib.delayed(function)(value) for value in values) == [*map(function, values)]


@pytest.mark.slow
def test_functions_run_on_a_dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for function, values in _calls():
            assert client.gather(client.map(function, values)) == [function(value) for value in values]


def test_an_ensemble_uses_a_machine(tmp_path):
    machine = Machine.load("hopper")

    def run(more):
        return {"nodes": machine.nodes + more}

    rows = hopperkit.run_ensemble(run, [{"more": 1}, {"more": 2}], tmp_path, workers=0, progress=False)
    assert rows["nodes"].tolist() == [6385, 6386]
