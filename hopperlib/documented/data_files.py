"""Where the data files are, and how their rows are read."""

import csv
import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path


@cache
def data_folder() -> Path:
    """Return the folder of the data files.

    It is ``hopperlib/data`` in an installed package and in the reader's
    browser, and ``data`` beside ``hopperlib`` in the repository.

    Raises
    ------
    FileNotFoundError
        If neither is there.

    Examples
    --------
    >>> (data_folder() / "errata.csv").is_file()
    True
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / "documented.csv").is_file():
            return folder
    raise FileNotFoundError(f"no documented.csv in {package / 'data'} nor in {package.parent / 'data'}")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a data file as text, by column.

    Examples
    --------
    >>> rows("errata.csv")[0]["printed"]
    '3,284'
    """
    with (data_folder() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message that names what may have been meant.

    Examples
    --------
    >>> nearest("iobuff", ["iobuf", "torus"])
    "; the nearest is 'iobuf'"
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0)
    return f"; the nearest is {close[0]!r}" if close else ""
