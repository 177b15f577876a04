"""A study: its question, its assumptions, and its models' results for the documented values.

The texts of a study are in ``data/studies.toml``, with the ranges of its assumptions and the rivals of its predictions;
the role, tolerance and reasons of each documented value are in ``data/checks.csv``. The rest is functions.

A prediction is an interval. It comes from a model that is run over and over, each time with new draws of all assumptions
from their ranges and another seed; it holds nine runs of ten. It is compared with a rival, the simplest model without
the physics, which shows the contribution of the physics.
"""

import random
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import quantiles
from typing import Any, NamedTuple

from hopperlib.data_files import data_folder
from hopperlib.errors import InputError
from hopperlib.machine import FileSystem, Machine

_RUNS, _SEED = 100, 20_110


def load_hopper() -> Machine:
    """Return Hopper from its file when a study is run, not when it is imported: another file gives other values.

    Examples
    --------
    >>> load_hopper().nodes
    6384
    """
    return Machine.load("hopper")


def load_franklin() -> Machine:
    """Return Franklin, as `load_hopper` does Hopper.

    Examples
    --------
    >>> load_franklin().node().cores
    4
    """
    return Machine.load("franklin")


def load_scratch() -> FileSystem:
    """Return Hopper's scratch file system.

    Examples
    --------
    >>> load_scratch().osts
    156
    """
    return load_hopper().file_systems[0]


class Range(NamedTuple):
    """A numeric assumption: its description, its value, the ends of its range, the reason, and changes with their
    dates.

    The value itself may be printed somewhere and only its spread assumed: `status` is then not ``assumed``.
    """

    what: str
    value: float
    low: float
    high: float
    unit: str
    why: str
    changed: str = ""
    status: str = "assumed"


class Prediction(NamedTuple):
    """A model's estimate of a documented number without having used it.

    Parameters
    ----------
    low, high : float
        Nine of ten runs with other assumptions and seeds are between them.
    rival : float or tuple of float
        The rival's estimate; a single number is judged with the width of the model's interval around it.
    seeds : int or None
        Seeds that were tried, if anything is random.

    Examples
    --------
    >>> Prediction(low=1.1, high=1.4, rival=1.0).seeds is None
    True
    """

    low: float
    high: float
    rival: float | tuple[float, float]
    seeds: int | None = None


class Shares(NamedTuple):
    """A shape that was tried with several seeds: in how many of them it holds.

    Parameters
    ----------
    holds : int
        Seeds with which it holds.
    seeds : int
        Seeds that were tried.

    Examples
    --------
    >>> Shares(holds=19, seeds=20).holds
    19
    """

    holds: int
    seeds: int


# Result of a model, in the unit of the documented row: a number, a range (low, high), the truth of a shape, a word, or
# what can be lost.
Value = float | bool | tuple[float, float] | str | Prediction | Shares
# From a value for each assumption and a random generator to the numbers that it predicts.
Model = Callable[[Mapping[str, float], random.Random], Mapping[str, float]]


def predictions(
    model: Model,
    varied: Mapping[str, Range],
    rivals: Mapping[str, float | tuple[float, float]],
    *,
    runs: int = _RUNS,
    random_parts: bool = False,
) -> dict[str, Value]:
    """Return a prediction for each number of a model, with all assumptions varied together.

    Each assumption is drawn evenly from its range, once from each of as many equal parts as there are runs. A model
    without a result means that its calibration is impossible with these assumptions: they are refuted, and the run is
    left out.

    Parameters
    ----------
    model : callable
        From a value of each assumption and a random generator to the numbers that it predicts.
    varied : mapping of Range
        Range of each assumption.
    rivals : mapping
        The rival's estimate for each number.
    runs : int
        Each has a different seed.
    random_parts : bool
        Whether the model itself draws anything.

    Raises
    ------
    InputError
        If most runs are refuted.

    Examples
    --------
    >>> half = Range("a share", 0.5, 0.4, 0.6, "", "a test")
    >>> found = predictions(lambda assumed, rng: {"rate": 10 * assumed["share"]}, {"share": half}, {"rate": 7.0})
    >>> found["rate"].rival, [round(end, 1) for end in found["rate"][:2]]
    (7.0, [4.1, 5.9])
    """
    rng = random.Random(_SEED)
    drawn = {}
    for name, each in sorted(varied.items()):
        parts = rng.sample(range(runs), runs)
        drawn[name] = [each.low + (each.high - each.low) * (part + rng.random()) / runs for part in parts]
    tried = (
        model({name: values[run] for name, values in drawn.items()}, random.Random(_SEED + run)) for run in range(runs)
    )
    given = [found for found in tried if found]
    if 2 * len(given) < runs:
        raise InputError(
            f"{runs - len(given)} of {runs} runs have no calibration: the assumptions do not fit what is printed"
        )
    found: dict[str, Value] = {}
    for name in given[0]:
        ends = quantiles((each[name] for each in given), n=20, method="inclusive")
        found[name] = Prediction(ends[0], ends[-1], rivals[name], runs if random_parts else None)
    return found


@dataclass(frozen=True, slots=True)
class Study:
    """One documented study of the book; its texts are in ``data/studies.toml``.

    Parameters
    ----------
    name : str
        As in the `study` column of the data and in file names.
    values : callable
        ``values() -> {name: value}``; runs the models. A name is the id of a documented row without the study and its
        dot, or several of them, separated by spaces, if all print the same; every other name is a number that a text in
        ``data/checks.csv`` refers to. For an input it is the value used by the model, if it has one.
    sums : callable
        The same for results from printed numbers alone without a formula in ``data/checks.csv``; it may read all rows,
        and predicts nothing.
    model : callable or None
        The model of the predictions, for sensitivities.
    shared_assumptions : tuple of str
        Assumptions of a model that others use too.

    Examples
    --------
    >>> Study("memory", dict).texts["title"]
    'Memory for each task'
    """

    name: str
    values: Callable[[], Mapping[str, Value]]
    sums: Callable[[], Mapping[str, Value]] = dict
    model: Model | None = None
    shared_assumptions: tuple[str, ...] = ()

    @property
    def texts(self) -> dict[str, Any]:
        """Texts of the study in ``data/studies.toml``.

        Its part of the book, title and question; `assumptions`, in a sentence each; `reads`, the documented rows that
        the models may read; `no_prediction`, why it retrodicts nothing, if it does not. For a retrodicted row
        `rivals` has the rival in words, `wide` why it is worth something although it is wide, and `out_of`, where only a
        part is unknown, what that part and the row add up to.
        """
        return study_texts()[self.name]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions without a source; the page lists them."""
        return (*self.shared_assumptions, *self.texts["assumptions"])


def with_numbers(text: str, numbers: Mapping[str, Any]) -> str:
    """Return a text of the data files with numbers in the place of their names in braces, a blank before a percent sign.

    Examples
    --------
    >>> with_numbers("lost {lost:.0%}", {"lost": 0.25})
    'lost 25 %'
    """
    return re.sub(r"(?<=\d)%", " %", text.format_map(numbers))


@cache
def ranges(name: str) -> dict[str, Range]:
    """Return the assumptions of a study that are numbers, from ``data/studies.toml``.

    Examples
    --------
    >>> ranges("memory")["grows"].value
    0.5
    """
    return {key: Range(**table) for key, table in study_texts()[name].get("ranges", {}).items()}


@cache
def study_texts() -> dict[str, dict[str, Any]]:
    """Return the texts of every study of the book by name, in reading order.

    Examples
    --------
    >>> study_texts()["memory"]["title"]
    'Memory for each task'
    """
    return tomllib.loads((data_folder() / "studies.toml").read_text(encoding="utf-8"))
