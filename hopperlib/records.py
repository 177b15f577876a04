"""Frozen dataclasses with slots whose methods are written once for all.

`dataclasses` writes and compiles anew for each class how it is made, compared, hashed, shown and kept from being
changed, half a millisecond a class. These are what a command loads before it can answer, so they share those methods,
which go through the fields instead. They are dataclasses in all else (``fields``, ``replace``, ``asdict``).

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
        shared: dict[str, Any] = {"__init__": _filled, "__signature__": _Signature()}
        shared |= {"__setattr__": _set_once, "__delattr__": _refuse}
        shared |= {"__eq__": _equal, "__hash__": _hashed} if eq else {}
        shared |= {"__repr__": _spelled} if repr else {}

        def made(kind: type) -> type:
            for name in shared.keys() - vars(kind).keys():
                setattr(kind, name, shared[name])
            given = options | {"init": False, "frozen": False, "slots": True}
            return dataclasses.dataclass(eq=False, repr=False, **given)(kind)

        return made


class _Signature:
    """The arguments of a class for whoever inspects it, put together when somebody does."""

    def __get__(self, record: object, kind: type) -> Any:
        from inspect import Parameter, Signature

        ways = {True: Parameter.KEYWORD_ONLY, False: Parameter.POSITIONAL_OR_KEYWORD}
        parameters = []
        for field in dataclasses.fields(kind):
            made = field.default_factory is not dataclasses.MISSING
            default = ... if made else Parameter.empty if field.default is dataclasses.MISSING else field.default
            parameters.append(
                Parameter(field.name, ways[field.kw_only is True], default=default, annotation=field.type)
            )
        return Signature(sorted(parameters, key=lambda parameter: parameter.kind))


def _filled(record: Any, *values: Any, **named: Any) -> None:
    """Fill the fields in, as ``__init__``: with what is given, else what is their default, else what makes it."""
    fields, missing = dataclasses.fields(record), dataclasses.MISSING
    given = dict(zip((field.name for field in fields if not field.kw_only), values, strict=False))
    if len(given) < len(values) or given.keys() & named.keys():
        raise TypeError(f"{type(record).__name__}: too many values without a name, or one that is named as well")
    given |= named
    for field in fields:
        made = missing if field.default_factory is missing else field.default_factory()
        value = given.pop(field.name, made if field.default is missing else field.default)
        if value is missing:
            raise TypeError(f"{type(record).__name__} needs a value for '{field.name}'")
        object.__setattr__(record, field.name, value)
    if given:
        raise TypeError(f"{type(record).__name__} has no field '{next(iter(given))}'")
    if hasattr(record, "__post_init__"):
        record.__post_init__()


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
