"""A study: its question, what it assumes, and what its models give for the documented values.

The texts of a study stand in ``data/studies.toml``, the role, tolerance and
reasons of each documented value in ``data/checks.csv``. What is left is a
function: it runs the models and returns what they give.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hopperlib.documented import data_folder
from hopperlib.errors import InputError

__all__ = ["Study", "Value", "study_texts"]

# What a model gives, in the unit of the documented row: a number, a range (low, high), the truth of a shape, or a word.
Value = float | bool | tuple[float, float] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One documented study of the book.

    Parameters
    ----------
    name : str
        As in the `study` column of the data and in file names.
    title : str
    part : str
        Part of the book: node, network, storage, failure or monitoring.
    question : str
        The question in one sentence.
    assumptions : tuple of str
        What no source gives, each in a sentence; the page lists them.
    values : callable
        ``values() -> {name: value}``; runs the models. A name is the id of a
        documented row without the study and its dot, or several of them,
        parted by spaces, if all print the same; every other name is a number
        that a text in ``data/checks.csv`` asks for. For an input it is what
        the model works with, if it holds it.

    Examples
    --------
    >>> Study(name="toy", title="Toy", part="node", question="Does it?", values=dict).values()
    {}
    """

    name: str
    title: str
    part: str
    question: str
    values: Callable[[], Mapping[str, Value]]
    assumptions: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        name: str,
        values: Callable[[], Mapping[str, Value]],
        *,
        shared_assumptions: tuple[str, ...] = (),
        **numbers: float,
    ) -> Study:
        """Return a study with its texts from ``data/studies.toml``.

        Parameters
        ----------
        name, values : str, callable
        shared_assumptions : tuple of str
            Assumptions of a model that others use too; they come first.
        **numbers : float
            What the texts name in braces.

        Raises
        ------
        InputError
            If a text is missing there.

        Examples
        --------
        >>> Study.read("memory", dict).title
        'Memory for each task'
        """
        texts = study_texts().get(name, {})
        missing = [key for key in ("part", "title", "question", "assumptions") if not texts.get(key)]
        if missing:
            raise InputError(f"data/studies.toml: study {name!r} has no {', '.join(missing)}")
        assumptions = (text.format_map(numbers) for text in texts["assumptions"])
        return cls(
            name=name,
            title=texts["title"],
            part=texts["part"],
            question=texts["question"],
            values=values,
            assumptions=(*shared_assumptions, *assumptions),
        )


@cache
def study_texts() -> dict[str, dict[str, Any]]:
    """Return the texts of every study of the book by name, in reading order.

    Examples
    --------
    >>> study_texts()["memory"]["title"]
    'Memory for each task'
    """
    return tomllib.loads((data_folder() / "studies.toml").read_text(encoding="utf-8"))
