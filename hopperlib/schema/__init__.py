"""One schema for all data files: a record, written as a frozen dataclass, defines the contents of a file.

The type hints of its fields define most of it, and their defaults which keys are optional; `key` adds bounds, patterns
and names, `sourced` a value that must have a source.

=======================  ======================================================
`read_toml`              text -> table, for any text
`read_record`            table -> record, with all errors reported
`read_records`           an array of tables, ``[[rule]]`` -> records
`read_rows`              rows of a CSV file -> records
`writing.to_toml`        record -> text
=======================  ======================================================

==========================  ===================================================
type of a field             value in the file
==========================  ===================================================
bool, int, float, str       one value; ``datetime.date`` a date
Literal["a", "b"]           one of these words
tuple[str, ...]             a list, not empty if present
tuple[int, int, int]        a list of exactly this length
a record                    a table
tuple[record, ...]          an array of tables, ``[[name]]`` if its key has a `least`
Mapping[str, X]             a table with any keys
Mapping[Literal[...], X]    a table with all of these keys
X | None                    the same; None if the key is missing
==========================  ===================================================

A sourced value is an inline table, ``{ value = 32, source = "antypas2011", at = "sec. 1" }`` or ``{ value = 5.0,
assumed = "why" }``; `source` is a key of the file's ``[sources]``, and `at` is its position. A record with such values has
two more fields: `sources`, its table of citations, and `provenance`, the origin of each value. A record with rules
between its values lists the broken ones in a method `broken_rules`. In a CSV file an empty cell is a missing key,
``yes`` is true, and words of a list are separated by blanks.
"""

from hopperlib.schema.fields import Quantity, Value, key, provenance_field, sourced
from hopperlib.schema.reading import TableError, read_record, read_records, read_rows, read_toml

__all__ = [
    "Quantity",
    "TableError",
    "Value",
    "key",
    "provenance_field",
    "read_record",
    "read_records",
    "read_rows",
    "read_toml",
    "sourced",
]
