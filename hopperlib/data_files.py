"""Where the data files are, and how their rows are read."""

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
        If neither is there.

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
    """Return the rows of a data file as text, by column.

    Examples
    --------
    >>> rows("errata.csv")[0]["printed"]
    '3,284'
    """
    with (data_folder() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
