"""Tables as pandas DataFrames, and DataFrames as text for the readers.

==============  ===============================================================
`to_frame`      records, or columns by name, as a DataFrame
`TableMixin`        base of records that are tables: `to_frame`, and how a notebook shows them
`Rows`          a list of records that is one
`frame_text`    a DataFrame or a Series as CSV, which is what readers take
==============  ===============================================================

A column has one type: integers (`Int64` if some are missing), numbers, booleans, texts, durations, timestamps (in UTC
if the file has a time zone, otherwise without one, which `to_frame` reads in ``timezone``). How long something ran is a
duration, ``run_time``. The name of a numeric column ends in its unit. pandas is imported when a frame is requested, so
that the book's page, which lacks pandas, can read the same records.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from hopperlib.tables import Columns

if TYPE_CHECKING:
    import pandas as pd

Record = TypeVar("Record")

# Types of a property that is worth a column.
_PLAIN = ("bool", "int", "float", "str")
_DTYPES = {
    "bool": "boolean",
    "int": "Int64",
    "str": "str",
    "datetime.datetime": "datetime64[us]",
    "timedelta": "timedelta64[us]",
}
# Fields whose name has the unit elsewhere than at its end.
_WITH_UNIT = {"seconds": "time_s", "operations_s": "operations_per_s"}
# Fields that hold a duration: timedeltas in a frame. [s]
_RAN = {"seconds", "run_time_s"}


class TableMixin(Columns):
    """A record that is a table, and shows itself as one in a notebook."""

    __slots__ = ()

    def to_frame(self) -> "pd.DataFrame":
        """Return the table as a DataFrame."""
        return _frame(self.frame_data())

    def _repr_html_(self) -> str | None:
        """Return the notebook display: the ends of the table; None without pandas."""
        try:
            return str(self.to_frame().to_html(max_rows=10, show_dimensions=True, border=0))
        except ModuleNotFoundError:
            return None


class Rows(list[Record], TableMixin):
    """Records of one kind, as a list that is a table too.

    Examples
    --------
    >>> Rows([{"nodes": 4}, {"nodes": 8}]).to_frame()["nodes"].tolist()
    [4, 8]
    """

    def frame_data(self) -> Iterable[Any]:
        """Return the records."""
        return self

    def __repr__(self) -> str:
        return f"{len(self):,} rows of {', '.join({type(record).__name__: 0 for record in self})}"


def to_frame(things: Any, *, timezone: str = "") -> "pd.DataFrame":
    """Return records, or columns by name, as a DataFrame with a type for each column.

    Parameters
    ----------
    things : TableMixin, DataFrame, mapping of str to sequence, or iterable of records
        A record is a dataclass, a named tuple or a mapping. For a dataclass, properties with plain values are columns
        too; a nested record contributes its name, or its columns prefixed with the name of its field.
    timezone : str
        Time zone of timestamps without one, such as ``Europe/Berlin``. Without it they stay naive; an hour that occurs
        twice is read as summer time.

    Raises
    ------
    TypeError
        If it is none of these types.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.layouts import layouts
    >>> frame = to_frame(layouts(Machine.load("hopper"), need_gb=2, tasks=384))
    >>> print(*frame.loc[frame["cost_factor"].idxmin(), ["node_kind", "nodes", "memory_per_task_gb"]])
    large-memory 16 2.625
    """
    frame: pd.DataFrame
    if hasattr(things, "to_frame"):
        frame = things.to_frame()
    elif hasattr(things, "frame_data"):
        frame = _frame(things.frame_data())
    else:
        frame = things if hasattr(things, "iloc") else _frame([things] if is_dataclass(things) else things)
    for name in frame.select_dtypes("datetime") if timezone else ():
        moments = frame[name].dt
        frame = frame.assign(
            **{name: moments.tz_localize(timezone, ambiguous=[True] * len(frame), nonexistent="shift_forward")}
        )
    return frame


def _frame(data: Any) -> "pd.DataFrame":
    """Return columns, or records, as a DataFrame."""
    import pandas as pd

    declared: Mapping[str, str] = {}
    if not isinstance(data, Mapping):
        if not isinstance(data, Iterable) or isinstance(data, str):
            raise TypeError(f"a table is made of records or of columns, not of {type(data).__name__}")
        things = list(_each(data))
        records = [record_columns(thing) for thing in things]
        data = {name: [record.get(name) for record in records] for name in dict.fromkeys(chain(*records))}
        declared = (
            _declared(things[0].__class__) | {"run_time": "timedelta"} if things and is_dataclass(things[0]) else {}
        )
    return pd.DataFrame({name: _column(values, declared.get(name, "")) for name, values in data.items()})


# Columns of a job that are moments, and those that are durations.
_MOMENTS, _DURATIONS = ("submit", "start", "end", "eligible"), ("run_time", "wait", "requested_time")


def timed_frame(
    columns: Mapping[str, Sequence[Any]], *, index: Sequence[Any], epoch_s: int, zone: str = ""
) -> "pd.DataFrame":
    """Return columns of jobs as a DataFrame, moments as times of a zone and seconds as durations.

    Parameters
    ----------
    columns : mapping
        By name; timestamps in seconds from `epoch_s`, None where missing.
    index : sequence
        The jobs.
    epoch_s : int
        Unix time of moment 0. [s]
    zone : str
        Name of the time zone; empty for universal time.

    Examples
    --------
    >>> frame = timed_frame({"submit": [0], "run_time": [90]}, index=["7_1"], epoch_s=1_772_323_200, zone="Europe/Berlin")
    >>> print(frame.loc["7_1", "submit"], frame.loc["7_1", "run_time"])
    2026-03-01 01:00:00+01:00 0 days 00:01:30
    """
    import pandas as pd

    frame = pd.DataFrame(index=pd.Index(list(index), name="job"))
    for name, values in columns.items():
        if name in _MOMENTS:
            known = pd.array([None if moment is None else moment + epoch_s for moment in values], dtype="Int64")
            stamps = pd.Series(pd.to_datetime(known, unit="s", utc=True), index=frame.index)
            frame[name] = stamps.dt.tz_convert(zone) if zone else stamps
        elif name in _DURATIONS:
            frame[name] = pd.Series(pd.to_timedelta(pd.array(list(values), dtype="Int64"), unit="s"), index=frame.index)
        else:
            frame[name] = pd.Series(list(values), index=frame.index)
    return frame


def _column(values: Iterable[Any], declared: str) -> "pd.Series":
    """Return values as a column of one type: if no value is known, of the declared type, otherwise of numbers."""
    import pandas as pd

    # An array of the standard library has its type already.
    if isinstance(values, array):
        return pd.Series(values)
    values = list(values)
    known = [value for value in values if value is not None]
    kinds = set(map(type, known))
    if kinds == {datetime} and any(value.tzinfo for value in known):
        # Clocks that are turned forward and back are one zone only by the world's time.
        return pd.Series(pd.to_datetime(values, utc=True))
    if str in kinds and len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return pd.Series(values, dtype=_dtype(kinds, declared, complete=len(known) == len(values)))


def _dtype(kinds: set[type], declared: str, *, complete: bool) -> Any:
    """Return the type of a column whose known values are of these kinds; None if pandas finds it."""
    if kinds in ({int}, {bool}):
        # pandas' default integers have no missing value.
        kind = "int" if int in kinds else "bool"
        return {"int": "int64", "bool": "bool"}[kind] if complete else _DTYPES[kind]
    if not kinds:
        return _DTYPES.get(declared, "float64")
    return "float64" if kinds <= {int, float} else None


def _written(annotation: Any) -> str:
    """Return a type as written, without its None option."""
    return (annotation.__name__ if isinstance(annotation, type) else str(annotation)).removesuffix(" | None")


@cache
def _declared(kind: Any) -> dict[str, str]:
    """Return the attributes of a dataclass that become columns, with their types: its fields, and properties with plain
    values.
    """
    properties = {
        name: _written(getattr(member.fget, "__annotations__", {}).get("return", ""))
        for base in reversed(kind.__mro__)
        for name, member in vars(base).items()
        if isinstance(member, property)
    }
    columns = {field.name: _written(field.type) for field in fields(kind)}
    return columns | {name: declared for name, declared in properties.items() if declared in _PLAIN}


def record_columns(thing: Any) -> dict[str, Any]:
    """Return a record as plain values by the names of their columns.

    Parameters
    ----------
    thing : Any
        Record: a dataclass, a named tuple or a mapping.

    Examples
    --------
    >>> record_columns({"read_sizes": (1, 2), "seconds": 3.0})
    {'read_sizes': [1, 2], 'time_s': 3.0}
    >>> record_columns(("a.log", ValueError("cut off")))
    {'file': 'a.log', 'error': 'cut off'}
    """
    if type(thing) is tuple and len(thing) == 2 and isinstance(thing[0], str):
        # Output of a reader of many files: a name with its record, or the reason why there is none.
        named: Any = thing[1]
        record = {"error": str(named)} if isinstance(named, Exception) else record_columns(named)
        return {"file": thing[0], **record}
    columns: dict[str, Any] = {}
    for name, value in _cells(thing).items():
        if name in _RAN and is_dataclass(thing):
            columns["run_time"] = None if value is None else timedelta(seconds=value)
        # A record with a name is stored as the name in one cell; others are spread over columns.
        elif _is_record(value) and not isinstance(getattr(value, "name", None), str):
            columns |= {f"{name}_{part}": inner for part, inner in record_columns(value).items()}
        elif name.endswith("interval"):
            columns |= dict(zip((f"{name}_low", f"{name}_high"), value or (None, None), strict=True))
        else:
            columns[_WITH_UNIT.get(name, name)] = _plain(value)
    return columns


def _cells(thing: Any) -> Mapping[str, Any]:
    """Return the cells of a record by name."""
    if is_dataclass(thing):
        return {name: getattr(thing, name) for name in _declared(thing.__class__)}
    if isinstance(thing, Mapping):
        return thing
    if hasattr(thing, "_asdict"):
        return dict(thing._asdict())
    raise TypeError(f"a row is a dataclass, a named tuple or a mapping, not {type(thing).__name__}")


def _each(data: Iterable[Any]) -> Iterator[Any]:
    """Yield records; for a table among them, its records."""
    for thing in data:
        if hasattr(thing, "frame_data"):
            rows = thing.frame_data()
            yield from _frame(rows).to_dict("records") if isinstance(rows, Mapping) else rows
        else:
            yield thing


def _is_record(value: Any) -> bool:
    return (is_dataclass(value) and not isinstance(value, type)) or hasattr(value, "_asdict")


def _plain(value: Any) -> Any:
    """Return a cell: of a record its name, of a mapping JSON, which CSV and Parquet keep."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Enum):
        return value.value
    if _is_record(value):
        return getattr(value, "name", None) or str(value)
    if isinstance(value, Mapping):
        import json

        return json.dumps(dict(value), default=str)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(item) for item in value]
    return value


def column_name(title: str, unit: str = "") -> str:
    """Return the name of a column for its title and unit: small letters, the unit at its end.

    Parameters
    ----------
    title : str
        Title of the column.
    unit : str, default ""
        Its unit; empty for none.

    Examples
    --------
    >>> column_name("Memory of a task", "GB"), column_name("Rate", "MB/s"), column_name("Off its level", "%")
    ('memory_of_a_task_gb', 'rate_mb_s', 'off_its_level_percent')
    """
    suffix = unit.replace("%", "percent").replace("1/", "per ")
    return re.sub(r"[^a-z0-9]+", "_", f"{title} {suffix}".lower().replace("µ", "u")).strip("_")


def frame_text(table: Any, name: str = "value") -> str | None:
    r"""Return a DataFrame or a Series as CSV; None for anything else.

    Parameters
    ----------
    table : DataFrame, Series or other
        An index that has a name is its first column.
    name : str
        Column name for a Series without a name.

    Examples
    --------
    >>> frame_text(to_frame([{"run_time_s": 10.5}, {"run_time_s": 11.0}]))
    'run_time_s\n10.5\n11.0\n'
    >>> frame_text("10.5") is None
    True
    """
    if not hasattr(table, "iloc"):
        return None
    import pandas as pd

    frame = table if hasattr(table, "columns") else table.to_frame(name if table.name is None else table.name)
    named = any(level is not None for level in frame.index.names)
    # Durations as seconds, and whole numbers that pandas made decimals of for a missing one as whole again.
    plain = {_in_seconds(frame[column], column): _written_cells(frame[column]) for column in frame.columns}
    written = pd.DataFrame(plain, index=frame.index)
    return str(written.to_csv(index=named, date_format="%Y-%m-%dT%H:%M:%S%z"))


def _in_seconds(column: "pd.Series", name: Any) -> Any:
    """Return the name of a column; of durations with the unit that they are written in."""
    return f"{name}_s" if column.dtype.kind == "m" and not str(name).endswith("_s") else name


def _written_cells(column: "pd.Series") -> "pd.Series":
    """Return a column in its displayed form."""
    if column.dtype.kind == "m":
        return column.dt.total_seconds()
    if column.dtype.kind == "f" and column.isna().any() and (column.dropna() % 1 == 0).all():
        return column.astype("Int64")
    return column
