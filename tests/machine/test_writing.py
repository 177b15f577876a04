"""A machine written and read back is the same machine."""

import copy
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine


@pytest.mark.parametrize("name", Machine.names())
def test_round_trip_of_each_machine(name):
    machine = Machine.load(name)
    assert Machine.from_toml(machine.to_toml()) == machine
    assert tomllib.loads(machine.to_toml()) == machine.to_document()


texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
keys = st.text("abcdefgh.- ä\"'\\", min_size=1).filter(str.strip)
facts = st.one_of(
    st.fixed_dictionaries({"assumed": texts}), st.fixed_dictionaries({"source": st.just("KEY"), "at": texts})
)


def fact(values):
    return st.builds(lambda value, address: {"value": value, **address}, values, facts)


def positive(high):
    return st.one_of(st.integers(1, int(high)), st.floats(1e-6, high, exclude_min=True))


@st.composite
def documents(draw):
    """A machine file of one to three kinds of node, a network and a launcher, with any text in it."""
    key = draw(keys)

    def put(entry):
        if isinstance(entry, dict):
            return {name: key if value == "KEY" else put(value) for name, value in entry.items()}
        return [put(each) for each in entry] if isinstance(entry, list) else entry

    node = st.fixed_dictionaries(
        {
            "count": fact(st.integers(1, 10**6)),
            "sockets": fact(st.integers(1, 8)),
            "numa_nodes_per_socket": fact(st.integers(1, 8)),
            "cores_per_numa_node": fact(st.integers(1, 64)),
            "threads_per_core": fact(st.integers(1, 8)),
            "clock_ghz": fact(positive(10)),
            "flops_per_cycle": fact(positive(100)),
            "memory_gb": fact(st.just(512)),
            "usable_memory_gb": fact(positive(512)),
            "numa_bandwidth_gb_s": fact(st.just(100.5)),
            "core_bandwidth_cap_gb_s": fact(positive(100)),
            "remote_bandwidth_fraction": fact(st.floats(1e-6, 1)),
        }
    )
    names = draw(st.lists(st.sampled_from(["a", "b-1", "C_2"]), min_size=1, max_size=3, unique=True))
    document = {
        "name": "any",
        "title": draw(texts),
        "model": draw(texts),
        "site": draw(texts),
        "notes": draw(st.lists(texts, min_size=1, max_size=3, unique=True)),
        "sources": {key: draw(texts)},
        "node": [{"name": name, **draw(node)} for name in names],
        "network": {
            "kind": "other",
            "latency_us": draw(fact(positive(100))),
            "node_bandwidth_gb_s": draw(fact(positive(100))),
            "reroutes_around_dead_links": draw(fact(st.booleans())),
        },
        "launcher": [
            {
                "kind": "aprun",
                "options": draw(fact(st.just(["-n", "-N", "-cc"]))),
                "default_distribution": draw(fact(st.just("block"))),
            }
        ],
    }
    return put(document)


@given(documents())
def test_round_trip_of_any_machine(document):
    machine = Machine.from_document(copy.deepcopy(document), name="any.toml")
    assert machine.to_document() == document
    assert Machine.from_toml(machine.to_toml()) == machine


def test_text_is_escaped():
    machine = Machine.from_toml(
        Machine.load("toy").to_toml().replace('title = "Toy"', r'title = "a \"b\" \\ \n \t \u0001 \u007f é"')
    )
    assert machine.title == 'a "b" \\ \n \t \x01 \x7f é'
    assert Machine.from_toml(machine.to_toml()).title == machine.title
