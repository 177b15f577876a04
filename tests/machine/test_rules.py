"""Rules between values, with the text of each message."""

import copy
import re

import pytest

from hopperlib.machine import Machine, MachineError

TOY = Machine.load("toy").to_document()


def value(number):
    return {"value": number, "assumed": "a test"}


def problems_of(changes, without=()):
    """Errors of the toy's file after some changes."""
    document = copy.deepcopy(TOY)
    for path, number in changes.items():
        table, _, key = path.rpartition(".")
        section, _, index = table.partition(".")
        (document[section][int(index)] if index else document[section])[key] = value(number)
    for path in without:
        table, _, key = path.rpartition(".")
        section, _, index = table.partition(".")
        del (document[section][int(index)] if index else document[section])[key]
    with pytest.raises(MachineError) as error:
        Machine.from_document(document, name="toy.toml")
    return [problem.removeprefix("toy.toml: ") for problem in error.value.problems]


FLOOR = [f"network.{key}" for key in ("floor_columns", "floor_rows", "cages_per_cabinet", "slots_per_cage", "nodes_per_slot")]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        (
            {"node.0.usable_memory_gb": 13},
            ["node.small.usable_memory_gb = 13: must not exceed the node's memory_gb = 12"],
        ),
        (
            # 3 x 4 x 4 x 2 = 96 places; 88 + 9 = 97 nodes
            {"node.1.count": 9},
            [
                "network.dimensions = 3 x 4 x 4: has 96 places for nodes (2 per router), fewer than the 97 nodes of all "
                "[[node]]"
            ],
        ),
        (
            {"network.dimensions": [4, 4, 4]},
            [
                "network.dimensions: x = 4 must equal floor_columns = 3 (columns run along x, rows along y)",
                "network.service_blades: 1 blades of 4 places hold 4 service nodes, but 128 places less 92 compute "
                "nodes leave 36",
            ],
        ),
        (
            {"network.dimensions": [3, 6, 4], "network.service_blades": ["c0-0c0s0"]},
            [
                "network.dimensions: y = 6 must equal floor_rows x routers a slot = 2 x 2 (columns run along x, rows "
                "along y)",
                "network.service_blades: 1 blades of 4 places hold 4 service nodes, but 144 places less 92 compute "
                "nodes leave 52",
            ],
        ),
        (
            {"network.slots_per_cage": 3},
            [
                "network.dimensions: z = 4 must equal cages_per_cabinet x slots_per_cage = 2 x 3 (columns run along x, "
                "rows along y)"
            ],
        ),
        ({"network.nodes_per_slot": 5}, ["network.nodes_per_slot = 5: must be a multiple of nodes_per_router = 2"]),
        (
            {"network.service_blades": ["c3-1c0s1"]},
            [
                "network.service_blades: c3-1c0s1 is not on the floor of 3 columns, 2 rows, 2 cages, 2 slots (each "
                "counted from 0)"
            ],
        ),
        ({"file_system.0.osts_per_oss": 4}, ["file_system.work.osts_per_oss = 4: must divide osts = 15"]),
        ({"file_system.0.osts_per_controller": 4}, ["file_system.work.osts_per_controller = 4: must divide osts = 15"]),
        (
            {"file_system.0.max_stripe_count": 16},
            [
                "file_system.work.max_stripe_count = 16: must not exceed osts = 15; a file has one stripe on each at "
                "most"
            ],
        ),
        (
            {"file_system.0.default_stripe_count": 13},
            ["file_system.work.default_stripe_count = 13: must not exceed max_stripe_count = 12"],
        ),
        (
            {"file_system.0.default_stripe_size_bytes": 100_000},
            [
                "file_system.work.default_stripe_size_bytes = 100000: must be a multiple of 65,536, as Lustre demands"
            ],
        ),
        (
            {"file_system.0.node_write_ceiling_gb_s": 3.5},
            [
                "file_system.work.node_write_ceiling_gb_s = 3.5: must not exceed peak_gb_s = 3 of the whole file "
                "system"
            ],
        ),
        (
            {"launcher.0.options": ["-N"]},
            ["launcher.srun.options: lacks --ntasks, without which no line can be read"],
        ),
        ({"launcher.1.options": ["-N"]}, ["launcher.aprun.options: lacks -n, without which no line can be read"]),
    ],
)  # fmt: skip
def test_each_rule_between_values(changes, problems):
    assert problems_of(changes) == problems


@pytest.mark.parametrize(
    ("without", "problems"),
    [
        (
            ["network.dimensions"],
            [
                "network.kind = 'torus': needs network.dimensions, which describes its wiring",
                *(
                    f"network.{name}: belongs to a torus; give network.dimensions too"
                    for name in (
                        "floor_columns",
                        "floor_rows",
                        "cages_per_cabinet",
                        "slots_per_cage",
                        "nodes_per_slot",
                        "link_bandwidth_gb_s",
                        "service_blades",
                    )
                )
            ],
        ),
        (
            ["network.nodes_per_router"],
            [
                "network.nodes_per_router: is missing; it is the number of nodes that share each place of network.dimensions"
            ],
        ),
        (
            ["network.floor_rows", "network.slots_per_cage"],
            ["network.floor_columns: the floor must be complete or absent; missing: floor_rows, slots_per_cage"],
        ),
        (
            FLOOR,
            [
                "network.service_blades: needs the floor; give floor_columns, floor_rows, cages_per_cabinet, "
                "slots_per_cage, nodes_per_slot"
            ],
        ),
        (
            ["launcher.0.version"],
            ["launcher.srun.version: is missing; the meaning of an srun line changed with Slurm 22.05"],
        ),
        (
            ["launcher.0.slurm_socket"],
            [
                "launcher.srun.slurm_socket: is missing; state what Slurm counts as a socket here, 'socket', 'numa_node' or 'l3'"
            ],
        ),
    ],
)  # fmt: skip
def test_what_must_stand_together(without, problems):
    assert problems_of({}, without) == problems


def test_a_torus_may_come_without_its_floor():
    document = copy.deepcopy(TOY)
    for path in [*FLOOR, "network.service_blades"]:
        del document["network"][path.rpartition(".")[2]]
    machine = Machine.from_document(document, name="toy.toml")
    assert machine.network.node_positions - machine.nodes == 4


def test_a_floor_may_come_without_service_blades():
    document = copy.deepcopy(TOY)
    del document["network"]["service_blades"]
    assert Machine.from_document(document, name="toy.toml").network.service_blades == ()


@pytest.mark.parametrize("cores", ["56-4294967295", "999999999999", "0-3,7-99999999999"])
def test_a_range_of_cores_is_bounded_by_the_node(cores):
    # Without this rule the file would fill the memory.
    text = Machine.load("perlmutter").to_toml().replace('"48-63"', f'"{cores}"', 1)
    with pytest.raises(MachineError, match=r"gpu_cores: names 64; the node has 64 cores"):
        Machine.from_toml(text)


def test_the_cores_of_a_node_are_bounded():
    # 1,024 sockets x 64 NUMA nodes x 1,024 cores, each within its own bound.
    text = Machine.load("toy").to_toml()
    for name, most in (("sockets", 1024), ("numa_nodes_per_socket", 64), ("cores_per_numa_node", 1024)):
        text = re.sub(rf"^{name} = {{ value = \d+", f"{name} = {{ value = {most}", text, count=1, flags=re.MULTILINE)
    with pytest.raises(MachineError, match="make 67,108,864 cores of a node"):
        Machine.from_toml(text)
