"""Each rule for a single value, with the text of its message; and texts that are not machine files."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine, MachineError
from hopperlib.machine.machine import general_launchers

TOY = Machine.load("toy").to_document()
TEXT = Machine.load("toy").to_toml()


def problems_of(change):
    """Errors of the toy's file after a change."""
    document = copy.deepcopy(TOY)
    change(document)
    with pytest.raises(MachineError) as error:
        Machine.from_document(document, name="toy.toml")
    return error.value.problems


def outcome(read):
    """The machine, or its errors."""
    try:
        return read(), ()
    except MachineError as error:
        return None, error.problems


def put(path, value):
    """Return a change that sets a value."""
    *folders, last = path

    def change(document):
        for folder in folders:
            document = document[folder]
        document[last] = value

    return change


def drop(path):
    """Return a change that removes a key."""
    *folders, last = path

    def change(document):
        for folder in folders:
            document = document[folder]
        del document[last]

    return change


COUNT = ("node", 0, "count")


def value(number):
    return {"value": number, "assumed": "a test"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        # Facts and their sources
        (
            put(COUNT, 88),
            "node.small.count = 88: needs its source: { value = ..., source = \"key\", at = \"where\" } or "
            'assumed = "why"',
        ),
        (put(COUNT, {"value": 88}), "node.small.count = 88: needs a source or assumed"),
        (
            put(COUNT, {"value": 88, "assumed": "a", "source": "b", "at": "c"}),
            "node.small.count = 88: has both a source and assumed; keep one",
        ),
        (put(COUNT, {"value": 88, "source": "b"}), "node.small.count = 88: needs at = \"where\" in source 'b'"),
        (put(COUNT, {"value": 88, "assumed": "a", "at": "b"}), "node.small.count = 88: has at = ... without a source"),
        (put(COUNT, {"assumed": "a"}), "node.small.count.value: is missing"),
        (put(COUNT, value(88) | {"asumed": "b"}), "node.small.count.asumed = 'b': is not a key of a fact; did you mean 'assumed'?"),
        (put(COUNT, {"value": 88, "assumed": " "}), "node.small.count.assumed = ' ': must be text"),
        (put(COUNT, {"value": 88, "assumed": 3}), "node.small.count.assumed = 3: must be text"),
        (
            put(COUNT, {"value": 88, "source": "b", "at": "c"}),
            "node.small.count.source = 'b': is not in [sources]; there are none",
        ),
        # Whole numbers
        (put(COUNT, value(0)), "node.small.count = 0: must be a whole number of at least 1 and at most 10,000,000"),
        (put(COUNT, value(2.5)), "node.small.count = 2.5: must be a whole number of at least 1 and at most 10,000,000"),
        (put(COUNT, value("88")), "node.small.count = '88': must be a whole number of at least 1 and at most 10,000,000"),
        (put(COUNT, value(True)), "node.small.count = true: must be a whole number of at least 1 and at most 10,000,000"),
        (
            put(("node", 0, "threads_per_core"), value(9)),
            "node.small.threads_per_core = 9: must be a whole number of at least 1 and at most 8 "
            "(no core has had more than 8 hardware threads)",
        ),
        # Numbers
        (
            put(("node", 0, "clock_ghz"), value(2100)),
            "node.small.clock_ghz = 2100: must be a number above 0 and at most 10 "
            "(no machine has run faster; is this in MHz?)",
        ),
        (
            put(("node", 0, "memory_gb"), value(0)),
            "node.small.memory_gb = 0: must be a number above 0 and at most 100,000 (is this in MB?)",
        ),
        (
            put(("node", 0, "remote_bandwidth_fraction"), value(50)),
            "node.small.remote_bandwidth_fraction = 50: must be a number above 0 and at most 1 "
            "(remote memory is no faster than local)",
        ),
        (
            put(("node", 0, "clock_ghz"), value(float("nan"))),
            "node.small.clock_ghz = nan: must be a number above 0 and at most 10 "
            "(no machine has run faster; is this in MHz?)",
        ),
        (
            put(("network", "latency_us"), value(float("inf"))),
            "network.latency_us = inf: must be a number above 0 and at most 10,000 (is this in ns?)",
        ),
        (
            put(("file_system", 0, "default_stripe_size_bytes"), value(4096)),
            "file_system.work.default_stripe_size_bytes = 4096: must be a whole number of at least 65,536 and at most "
            "4,294,967,296 (Lustre stripes in multiples of 65,536 bytes)",
        ),
        # Flags, dates, lists, dimensions, words
        (
            put(("network", "reroutes_around_dead_links"), value("yes")),
            "network.reroutes_around_dead_links = 'yes': must be true or false",
        ),
        (
            put(("network", "dimensions"), value([3, 4])),
            "network.dimensions = [3, 4]: must be three whole numbers [x, y, z] from 1 to 1000",
        ),
        (
            put(("network", "dimensions"), value([3, 4, 0])),
            "network.dimensions = [3, 4, 0]: must be three whole numbers [x, y, z] from 1 to 1000",
        ),
        (
            put(("network", "service_blades"), value(["c1-1c0"])),
            r"network.service_blades = ['c1-1c0']: must be a list of texts of the form c\d+-\d+c\d+s\d+, which 'c1-1c0' "
            "is not (a blade's name, as in c0-0c0s0)",
        ),
        (put(("notes",), []), "notes = []: must be a list of texts, at least one"),
        (put(("notes",), ["a", "a"]), "notes = ['a', 'a']: must be a list without repetition"),
        (put(("title",), 3), "title = 3: must be text"),
        (put(("title",), ""), "title = '': must be text"),
        (
            put(("name",), "My Machine"),
            "name = 'My Machine': must be of the form [a-z0-9][a-z0-9_-]* (it names the file and is used on command lines)",
        ),
        (
            put(("network", "kind"), "gemni"),
            "network.kind = 'gemni': must be one of gemini, seastar2, federation, aries, slingshot, infiniband, ethernet, "
            "torus, dragonfly, fat-tree, other; did you mean 'gemini'?",
        ),
        (
            put(("file_system", 0, "kind"), "gpfs"),
            "file_system.work.kind = 'gpfs': must be one of lustre (the storage models know Lustre)",
        ),
        (
            put(("launcher", 0, "slurm_socket"), value("package")),
            "launcher.srun.slurm_socket = 'package': must be one of socket, numa_node, l3",
        ),
        (
            put(("launcher", 0, "options"), value(["--ntasks", "n"])),
            "launcher.srun.options = ['--ntasks', 'n']: must be a list of texts of the form --?[A-Za-z][A-Za-z0-9_-]*, "
            "which 'n' is not (an option as typed, such as -n)",
        ),
        # Keys
        (put(("cores",), value(24)), "cores = {'value': 24, 'assumed': 'a test'}: is not a key; did you mean 'sources'?"),
        (put(("node", 0, "socket"), value(2)), "node.small.socket = {'value': 2, 'assumed': 'a test'}: is not a key; did you mean 'sockets'?"),
        (put(("network", "zzz"), 1), "network.zzz = 1: is not a key; there are: kind, latency_us, node_bandwidth_gb_s, "
         "nodes_per_router, dimensions, floor_columns, floor_rows, cages_per_cabinet, slots_per_cage, nodes_per_slot, "
         "reroutes_around_dead_links, service_blades, link_bandwidth_gb_s, dragonfly, fat_tree"),
        (drop(COUNT), "node.small.count: is missing"),
        (drop(("title",)), "title: is missing"),
        (drop(("network", "kind")), "network.kind: is missing"),
        (drop(("network", "link_bandwidth_gb_s", "x")), "network.link_bandwidth_gb_s.x: is missing"),
        # Tables
        (put(("node",), []), "node: is missing: a machine has at least 1 [[node]]"),
        (drop(("node",)), "node: is missing: a machine has at least 1 [[node]]"),
        (put(("node",), {"count": 1}), "node = {'count': 1}: must be an array of tables, [[node]]"),
        (put(("launcher",), ["srun"]), "launcher = ['srun']: must be an array of tables, [[launcher]]"),
        (put(("network",), 3), "network = 3: must be a table, [network]"),
        (
            put(("network", "link_bandwidth_gb_s"), value(75)),
            "network.link_bandwidth_gb_s.value = 75: is not a key; there are: x, y_within_blade, y_between_blades, "
            "z_within_cage, z_between_cages",
        ),
        (put(("network", "link_bandwidth_gb_s"), 75), "network.link_bandwidth_gb_s = 75: must be a table of directions"),
        (put(("node", 1, "name"), "small"), "node.small.name = 'small': occurs twice; each [[node]] needs a different one"),
        (drop(("node", 1, "name")), "node[1].name: is missing"),
        (put(("node", 1, "name"), "a b"), "node[1].name = 'a b': must be of the form [A-Za-z0-9][A-Za-z0-9_-]* (it is used on command lines)"),
        (put(("sources",), 3), 'sources = 3: must be a table of key = "citation"'),
        (put(("sources",), {"a": 3}), "sources.a = 3: must be a citation, as text"),
        (put(("sources",), {" ": "a book"}), "sources.' ': is blank: a source needs a key that facts can name"),
    ],
)  # fmt: skip
def test_each_rule_for_a_value(change, problem):
    assert f"toy.toml: {problem}" in problems_of(change)


@pytest.mark.parametrize("links", [0, 1])
def test_pods_may_be_joined_by_one_link(links):
    """At least one link leads out of a pod."""
    document = Machine.load("summit").to_document()
    document["network"]["fat_tree"]["pod_uplinks"] = value(links)
    _, problems = outcome(lambda: Machine.from_document(document, name="summit.toml"))
    named = [problem for problem in problems if "pod_uplinks" in problem]
    assert (not named) == (links == 1)
    assert all("pod_uplinks = 0: must be a whole number of at least 1" in problem for problem in named)


def test_a_change_that_breaks_one_rule_gives_one_problem():
    assert len(problems_of(put(COUNT, value(0)))) == 1


def test_all_problems_are_named_at_once():
    def change(document):
        document["titel"] = document.pop("title")
        document["node"][0]["clock_ghz"] = 2.1
        document["network"]["latency_us"] = value(-1)

    assert problems_of(change) == (
        "toy.toml: titel = 'Toy': is not a key; did you mean 'title'?",
        "toy.toml: title: is missing",
        'toy.toml: node.small.clock_ghz = 2.1: needs its source: { value = ..., source = "key", at = "where" } or '
        'assumed = "why"',
        "toy.toml: network.latency_us = -1: must be a number above 0 and at most 10,000 (is this in ns?)",
    )


def test_a_long_value_is_cut_short():
    (problem,) = problems_of(put(("node", 0, "clock_ghz"), value("2.1" * 100)))
    assert problem.startswith("toy.toml: node.small.clock_ghz = '2.12.1")
    assert "...: must be a number" in problem
    assert len(problem) < 200


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("name = ", "mine.toml: is not TOML: "),
        ("a = 1\na = 2", "mine.toml: is not TOML: "),
        ("x = " + "9" * 5000, "mine.toml: is not TOML: "),
        ("x = " + "[" * 5000, "mine.toml: is not read: its values are nested too deeply"),
        ("", "mine.toml: name: is missing"),
    ],
)
def test_text_that_is_no_machine_file(text, start):
    with pytest.raises(MachineError) as error:
        Machine.from_toml(text, name="mine.toml")
    assert error.value.problems[0].startswith(start)


def test_a_source_that_is_not_listed_names_the_nearest():
    text = Machine.load("hopper").to_toml().replace('source = "he2012"', 'source = "he2021"')
    with pytest.raises(MachineError) as error:
        Machine.from_toml(text, name="hopper.toml")
    assert error.value.problems[0] == (
        "hopper.toml: node.standard.numa_nodes_per_socket.source = 'he2021': is not in [sources]; "
        "did you mean 'he2012'?"
    )


def test_general_launchers():
    general = general_launchers()
    assert set(general) == {"aprun", "srun"}
    assert {"-j", "-C"} <= set(general["aprun"].options)
    assert all("names no" in launcher.assumed for launcher in general.values())


@given(st.text())
def test_any_text_gives_a_message(text):
    with pytest.raises(MachineError) as error:
        Machine.from_toml(text, name="any.toml")
    assert all(problem.startswith("any.toml: ") for problem in error.value.problems)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "source", "at", "assumed", "x"]), inner, max_size=3),
    max_leaves=6,
).filter(lambda entry: entry is not None)  # fmt: skip


@given(st.data())
def test_any_value_at_any_key_is_read_or_refused(data):
    """The reader accepts a document with anything anywhere, or reports its errors; nothing else happens."""
    document = copy.deepcopy(TOY)
    place = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
        else:
            place[key] = data.draw(json_values)
            break
    machine, problems = outcome(lambda: Machine.from_document(document, name="toy.toml"))
    assert machine is not None or problems
    assert all(problem.startswith("toy.toml: ") for problem in problems)


@given(st.data())
def test_a_file_cut_anywhere_is_read_or_refused(data):
    first = data.draw(st.integers(0, len(TEXT)))
    last = data.draw(st.integers(first, min(first + 40, len(TEXT))))
    text = TEXT[:first] + data.draw(st.sampled_from(["", "0", "x", '"', "[", "{"])) + TEXT[last:]
    machine, problems = outcome(lambda: Machine.from_toml(text, name="toy.toml"))
    assert all(problem.startswith("toy.toml: ") for problem in problems)
    if machine is not None:
        assert Machine.from_toml(machine.to_toml()) == machine
