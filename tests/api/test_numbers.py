"""Numbers of numpy and pandas are numbers: the answer is that of Python's."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import hopperkit
from hopperkit.questions.controls import Number, Switch
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.placement.models.memory import memory_per_task
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.units import plain_number

COUNT = Number(name="tasks", label="Tasks", low=1, high=4096, step=1, default=1)
SIZE = Number(name="need_gb", label="Need", low=0.0, high=64.0, step=0.5, default=1.0)


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint16, np.float32, np.float64, Decimal])
def test_a_number_of_any_kind_is_read(kind):
    assert (COUNT.read(kind(24)), type(COUNT.read(kind(24)))) == (24, int)
    assert (SIZE.read(kind(24)), type(SIZE.read(kind(24)))) == (24.0, float)


@pytest.mark.parametrize("wrong", [True, np.True_, np.bool_(False), None, [24]])
def test_a_truth_value_is_no_number(wrong):
    with pytest.raises(InputError, match="must be a number"):
        COUNT.read(wrong)


def test_a_refusal_shows_the_number_alone():
    with pytest.raises(InputError, match=r"tasks=5000 must be from 1 to 4,096"):
        COUNT.read(np.int64(5000))


def test_a_truth_value_of_numpy_sets_a_switch():
    switch = Switch(name="strict", label="-ss", default=False)
    assert switch.read(np.True_) is True
    assert switch.read(np.bool_(False)) is False


def test_a_loop_over_a_range_or_a_column():
    plain = [hopperkit.memory(need_gb=2, tasks=tasks) for tasks in (24, 96)]
    assert [hopperkit.memory(need_gb=2, tasks=tasks) for tasks in np.array([24, 96])] == plain
    assert [hopperkit.memory(need_gb=2, tasks=tasks) for tasks in pd.Series([24, 96])] == plain
    assert hopperkit.memory(need_gb=np.float32(2), tasks=np.int64(384)).facts["best_nodes"] == 26


def test_models_take_them():
    node = Machine.load("hopper").node()
    assert memory_per_task(node, np.int64(12)) == memory_per_task(node, 12)
    jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50)])
    assert simulate(jobs, np.int64(10)) == simulate(jobs, 10)


def test_what_is_no_number_comes_back():
    text = "24"
    assert plain_number(text) is text
    assert plain_number(np.True_) is True
