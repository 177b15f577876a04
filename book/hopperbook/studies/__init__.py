"""The documented studies: what each takes in, is calibrated on, and predicts.

One module a study, named as in ``data/documented.csv``; it holds a `STUDY`.
The notebook of the study, the scorecard and the README read the same object.
"""

import importlib

from hopperbook.studies.study import Study, study_texts
from hopperlib.errors import InputError

__all__ = ["built", "load"]


def built() -> tuple[str, ...]:
    """Return the studies of the book, in reading order.

    Examples
    --------
    >>> built()[:3]
    ('machines', 'placement', 'memory')
    """
    return tuple(study_texts())


def load(name: str) -> Study:
    """Return a study of the book.

    Raises
    ------
    InputError
        If there is no study of that name.

    Examples
    --------
    >>> load("memory").name
    'memory'
    """
    if name not in built():
        raise InputError(f"there is no study {name!r} among: {', '.join(built())}")
    module = importlib.import_module(f"hopperbook.studies.{study_texts()[name]['part']}.{name.replace('-', '_')}")
    study: Study = module.STUDY
    return study
