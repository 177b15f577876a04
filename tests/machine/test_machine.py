"""The machine as one record: loading, choosing, changing one value."""

import pytest

from hopperlib.machine import Machine, MachineError


@pytest.fixture
def toy():
    return Machine.load("toy")


def test_totals_of_the_toy(toy):
    # 88 x 12 + 4 x 24 = 1,152 cores; 88 x 12 GB + 4 x 48 GB = 1,248 GB; 1.5 GHz x 8 x 1,152 = 13.824 Tflop/s
    assert (toy.nodes, toy.cores) == (92, 1152)
    assert toy.memory_gb == 1248
    assert toy.peak_tflops == pytest.approx(13.824)
    assert toy.core_hours_per_day == 27_648
    # 3 x 4 x 4 routers of 2 nodes = 96 places, 92 of them for jobs
    assert toy.network.node_positions - toy.nodes == 4


def test_a_machine_is_read_once():
    assert Machine.load("hopper") is Machine.load("hopper")


def test_a_machine_can_be_a_key(toy):
    assert {toy: "small"}[Machine.load("toy")] == "small"


def test_a_path_reads_a_file(tmp_path, toy):
    file = tmp_path / "other.toml"
    file.write_text(toy.to_toml(), encoding="utf-8")
    assert Machine.load(str(file)) == Machine.load(file) == toy


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hoper", f"machine='hoper' is neither a machine ({', '.join(Machine.names())}) nor a path (which "
                  "ends in .toml or has a /); did you mean 'hopper'?"),
        ("", f"machine='' is neither a machine ({', '.join(Machine.names())}) nor a path (which ends in "
             ".toml or has a /)"),
        ("nowhere.toml", "nowhere.toml: cannot be read: No such file or directory"),
        ("some/where", "some/where: cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_a_machine_that_does_not_exist(name, text):
    with pytest.raises(MachineError) as error:
        Machine.load(name)
    assert str(error.value) == text


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "bytes.toml"
    file.write_bytes(b"name = '\xff'")
    with pytest.raises(MachineError) as error:
        Machine.load(file)
    assert str(error.value) == f"{file}: byte 8 is not UTF-8, the encoding of TOML"


def test_kinds_of_node(toy):
    assert toy.node().name == "small"
    assert toy.node("wide").cores == 24
    with pytest.raises(ValueError) as error:
        toy.node("huge")
    assert str(error.value) == "kind='huge' is not a kind of node of toy; there are: small, wide"


def test_launchers(toy):
    assert toy.launcher().kind == "srun"
    assert toy.launcher("aprun").options[0] == "-B"
    with pytest.raises(ValueError) as error:
        toy.launcher("mpirun")
    assert str(error.value) == "kind='mpirun' is not a supported launcher; there are: aprun, srun"


def test_a_machine_without_launchers_answers_with_the_general_one():
    assert Machine.load("bassi").launchers == ()
    general = Machine.load("bassi").launcher()
    assert general.kind == "srun"
    assert "names no srun" in general.assumed


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("node.wide.count", 3, lambda m: m.nodes == 91),
        ("node.small.clock_ghz", 3.0, lambda m: m.node().core_peak_gflops == 24),
        ("network.latency_us", 1.0, lambda m: m.network.latency_us == 1.0),
        ("network.link_bandwidth_gb_s.x", 9, lambda m: m.network.link_bandwidth_gb_s["x"] == 9),
        ("network.reroutes_around_dead_links", False, lambda m: m.network.reroutes_around_dead_links is False),
        ("file_system.work.peak_gb_s", 6, lambda m: m.file_systems[0].ost_peak_gb_s == 0.4),
        ("launcher.srun.version", "23.02", lambda m: m.launcher().version == "23.02"),
        ("launcher.aprun.options", ("-n",), lambda m: m.launcher("aprun").options == ("-n",)),
    ],
)
def test_one_value_changed(toy, path, value, read):
    # A node fewer leaves a place in the torus that no service blade accounts for.
    if path == "node.wide.count":
        with pytest.raises(MachineError, match="service_blades"):
            toy.with_value(path, value, assumed="what if")
        return
    changed = toy.with_value(path, value, assumed="what if")
    assert read(changed)
    assert not read(toy)
    assert changed.provenance[path].assumed == "what if"
    assert {key for key in toy.provenance if toy.provenance[key] != changed.provenance[key]} == {path}


HOPPER = Machine.load("hopper")
NUMBERS = [
    path
    for path, quantity in HOPPER.provenance.items()
    if isinstance(quantity.value, int | float) and not isinstance(quantity.value, bool)
]
# Numbers determined by other numbers of the file: changing only one breaks a rule, which names it.
FIXED = {
    "node.standard.count": "network.service_blades",
    "node.large-memory.count": "network.service_blades",
    "network.nodes_per_router": "network.nodes_per_slot",
    "network.floor_columns": "network.dimensions: x = 17 must equal floor_columns = 18",
    "network.floor_rows": "network.dimensions: y = 8 must equal floor_rows x routers a slot = 5 x 2",
    "network.cages_per_cabinet": "network.dimensions: z = 24 must equal cages_per_cabinet x slots_per_cage = 4 x 8",
    "network.slots_per_cage": "network.dimensions: z = 24 must equal cages_per_cabinet x slots_per_cage = 3 x 9",
    "network.nodes_per_slot": "must be a multiple of nodes_per_router = 2",
    "file_system.scratch.osts": "osts_per_oss = 6: must divide osts = 157",
    "file_system.scratch.osts_per_oss": "osts_per_oss = 7: must divide osts = 156",
    "file_system.scratch.osts_per_controller": "osts_per_controller = 7: must divide osts = 156",
    "file_system.scratch.max_stripe_count": "max_stripe_count = 157: must not exceed osts = 156",
    "file_system.scratch.default_stripe_size_bytes": "must be a multiple of 65,536",
    "file_system.scratch2.osts": "osts_per_oss = 6: must divide osts = 157",
    "file_system.scratch2.osts_per_oss": "osts_per_oss = 7: must divide osts = 156",
    "file_system.scratch2.osts_per_controller": "osts_per_controller = 7: must divide osts = 156",
    "file_system.scratch2.max_stripe_count": "max_stripe_count = 157: must not exceed osts = 156",
    "file_system.scratch2.default_stripe_size_bytes": "must be a multiple of 65,536",
}


@pytest.mark.parametrize("path", NUMBERS)
def test_every_number_of_hopper_counts(path):
    """A slightly larger or smaller number gives another machine, or breaks a rule that names it."""
    value = HOPPER.provenance[path].value
    other = value + 1 if isinstance(value, int) else value * 0.9
    if path in FIXED:
        with pytest.raises(MachineError) as error:
            HOPPER.with_value(path, other, assumed="changed")
        assert FIXED[path] in " ".join(error.value.problems)
        return
    changed = HOPPER.with_value(path, other, assumed="changed")
    records = ("node_kinds", "network", "file_systems")
    assert any(getattr(changed, name) != getattr(HOPPER, name) for name in records)


def test_the_numbers_that_are_fixed_are_numbers():
    assert set(FIXED) <= set(NUMBERS)


def test_a_value_that_is_not_there(toy):
    with pytest.raises(MachineError) as error:
        toy.with_value("node.small.price", 1, assumed="what if")
    assert str(error.value) == "toy: path='node.small.price' is not a fact of the machine; `provenance` lists them"


def test_the_first_of_several_problems_is_shown():
    error = MachineError(("first", "second", "third"))
    assert str(error) == "first (and 2 more; `hopper machine check` lists them all)"
    assert error.problems == ("first", "second", "third")
    assert str(MachineError(("only",))) == "only"
    assert isinstance(error, ValueError)
