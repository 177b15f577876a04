"""Location of the data files, and reading of their rows."""

import csv
from functools import cache
from pathlib import Path


@cache
def data_folder() -> Path:
    """Return the folder of the data files.

    It is ``hopperlib/data`` in an installed package and in the reader's browser, and ``data`` next to ``hopperlib`` in
    the repository.

    Raises
    ------
    FileNotFoundError
        If neither exists.

    Examples
    --------
    >>> (data_folder() / "errata.csv").is_file()
    True
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / "documented.csv").is_file():
            return folder
    raise FileNotFoundError(f"no documented.csv in {package / 'data'} nor in {package.parent / 'data'}")


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a data file, each as a dictionary of texts by column.

    Parameters
    ----------
    name : str
        File name, such as ``scorecard.csv``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> rows("errata.csv")[0]["printed"]
    '3,284'
    """
    with (data_folder() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
