"""Records are dataclasses of the standard library in all but how their methods come about."""

import copy
import dataclasses
import inspect
import pickle

import pytest

from hopperlib import records
from hopperlib.finding import Finding

FIELDS = {"x": (int, dataclasses.field()), "note": (str, dataclasses.field(default="", compare=False, hash=False))}


def _made(decorator):
    body = {"__annotations__": {name: kind for name, (kind, _) in FIELDS.items()}, "__module__": __name__}
    return decorator(frozen=True, slots=True)(type("Place", (), body | {"note": FIELDS["note"][1]}))


Ours, Place = _made(records.dataclass), _made(dataclasses.dataclass)


def _facts(kind):
    record = kind(1, note="a")
    return (
        repr(record),
        record == kind(1, note="b"),
        record == kind(2),
        record == (1, "a"),
        hash(record) == hash(kind(1)),
        dataclasses.asdict(record),
        repr(dataclasses.replace(record, x=3)),
        repr(copy.copy(record)),
    )


def test_behaves_as_the_standard_library_does():
    assert _facts(Ours) == _facts(Place)


@pytest.mark.parametrize("kind", [Ours, Place])
def test_cannot_be_changed(kind):
    record = kind(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        record.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del record.x


def test_a_record_can_be_pickled():
    finding = Finding(code="idle", message="m")
    assert pickle.loads(pickle.dumps(finding)) == finding


@pytest.mark.parametrize("kind", [Ours, Place])
@pytest.mark.parametrize("values", [((), {}), ((1, "a", 2), {}), ((1,), {"x": 2}), ((1,), {"y": 2})])
def test_is_made_of_its_fields_alone(kind, values):
    with pytest.raises(TypeError):
        kind(*values[0], **values[1])


def test_an_inspector_sees_the_arguments():
    assert str(inspect.signature(Finding)).startswith("(code: str, message: str, level: ")
    assert inspect.signature(Ours).parameters.keys() == inspect.signature(Place).parameters.keys()
