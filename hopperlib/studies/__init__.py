"""The documented studies: what each takes in, is calibrated on, and predicts.

One module a study, named as in ``data/documented.csv``; it holds a `STUDY`.
The notebook of the study, the scorecard and the README read the same object.
"""

from __future__ import annotations

import importlib

from hopperlib.errors import InputError
from hopperlib.studies.study import Study, study_texts

__all__ = ["built", "load", "planned"]


def built() -> tuple[str, ...]:
    """Return the studies that have been built, in reading order.

    Examples
    --------
    >>> built()[:3]
    ('machines', 'placement', 'memory')
    """
    return tuple(name for name, texts in study_texts().items() if "question" in texts)


def planned() -> tuple[str, ...]:
    """Return the studies of the book that have not been built yet.

    Examples
    --------
    >>> set(planned()) & set(built())
    set()
    """
    return tuple(name for name, texts in study_texts().items() if "question" not in texts)


def load(name: str) -> Study:
    """Return a study that has been built.

    Raises
    ------
    InputError
        If there is no study of that name, or it has not been built.

    Examples
    --------
    >>> load("memory").part
    'node'
    """
    if name not in built():
        raise InputError(f"there is no study {name!r} among: {', '.join(built())}")
    module = importlib.import_module(f"hopperlib.studies.{study_texts()[name]['part']}.{name.replace('-', '_')}")
    study: Study = module.STUDY
    return study
