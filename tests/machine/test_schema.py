"""The tables of keys agree with the records they fill."""

from dataclasses import fields

import pytest

from hopperlib.machine import FileSystem, Launcher, Machine, Network, NodeKind, schema


@pytest.mark.parametrize(
    ("record", "section", "table", "apart"),
    [
        (NodeKind, "node", schema.NODE, set()),
        (Network, "network", schema.NETWORK, {"link_bandwidth_gb_s"}),
        (FileSystem, "file_system", schema.FILE_SYSTEM, set()),
        (Launcher, "launcher", schema.LAUNCHER, set()),
        (
            Machine,
            "machine",
            schema.MACHINE,
            {"node_kinds", "network", "file_systems", "launchers", "provenance", "sources"},
        ),
    ],
)
def test_each_field_has_its_key(record, section, table, apart):
    assert {field.name for field in fields(record)} - apart == set(schema.LABELS[section]) | set(table)


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("node.small.clock_ghz", "GHz"),
        ("node.small.memory_gb", "GB"),
        ("node.small.numa_bandwidth_gb_s", "GB/s"),
        ("node.small.remote_bandwidth_fraction", ""),
        ("network.latency_us", "us"),
        ("network.link_bandwidth_gb_s.y_between_blades", "GB/s"),
        ("file_system.work.capacity_pb", "PB"),
        ("file_system.work.default_stripe_size_bytes", "bytes"),
        ("in_service", ""),
    ],
)
def test_units(path, unit):
    assert schema.unit_of(path) == unit
