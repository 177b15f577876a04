"""Frozen dataclasses with slots whose methods are written once for all.

`dataclasses` writes and compiles anew for each class how it is compared, hashed, shown and kept from being changed,
half a millisecond a class. These are what a command loads before it can answer, so they share those methods: all that
is written for each is ``__init__``. They are dataclasses in all else (``fields``, ``replace``, ``asdict``).

Examples
--------
>>> @dataclass(frozen=True, slots=True)
... class Place:
...     x: int
...     y: int = 0
>>> Place(1), Place(1) == Place(1, 0), len({Place(1), Place(1)})
(Place(x=1, y=0), True, 1)
>>> Place(1).x = 2
Traceback (most recent call last):
dataclasses.FrozenInstanceError: cannot assign to field 'x'
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    # To a type checker it is the decorator of the standard library.
    from dataclasses import dataclass
else:

    def dataclass(*, eq: bool = True, repr: bool = True, **options: Any) -> Callable[[type], type]:
        """Return the decorator of `dataclasses`; ``frozen`` and ``slots`` go without saying."""
        shared = {"__setattr__": _set_once, "__delattr__": _refuse}
        shared |= {"__eq__": _equal, "__hash__": _hashed} if eq else {}
        shared |= {"__repr__": _spelled} if repr else {}

        def made(kind: type) -> type:
            for name in shared.keys() - vars(kind).keys():
                setattr(kind, name, shared[name])
            return dataclasses.dataclass(eq=False, repr=False, **options | {"frozen": False, "slots": True})(kind)

        return made


def _set_once(record: Any, name: str, value: object) -> None:
    """Set a field that has no value yet, as ``__init__`` does."""
    if hasattr(record, name):
        _refuse(record, name)
    object.__setattr__(record, name, value)


def _refuse(record: Any, name: str, *_: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _compared(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, field.name) for field in dataclasses.fields(record) if field.compare)


def _equal(record: Any, other: Any) -> bool:
    return _compared(record) == _compared(other) if other.__class__ is record.__class__ else NotImplemented


def _hashed(record: Any) -> int:
    fields = (field for field in dataclasses.fields(record) if (field.compare if field.hash is None else field.hash))
    return hash(tuple(getattr(record, field.name) for field in fields))


def _spelled(record: Any) -> str:
    shown = (f"{field.name}={getattr(record, field.name)!r}" for field in dataclasses.fields(record) if field.repr)
    return f"{type(record).__qualname__}({', '.join(shown)})"
