"""Rules that sites document, next to what is advised for such files: `data/site-rules.csv`.

Where a machine file holds the rule the advice is the rule, and a layout that departs from it says so.
"""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from hopperkit.filesystems.stripe_advice import advise, stripe_sizes
from hopperlib.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.storage.lustre.rates import Pace

RULES = list(csv.DictReader((data_folder() / "site-rules.csv").read_text(encoding="utf-8").splitlines()))


def test_there_are_twenty():
    assert len(RULES) == 20


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule['machine']}-{rule['size_gb']}-{rule['pattern']}")
def test_what_the_page_says_and_what_is_advised(rule):
    system = Machine.load(rule["machine"]).file_systems[0]
    size_bytes, stripes = int(rule["size_gb"]) * 10**9, int(rule["stripes"])
    advice = advise(size_bytes, int(rule["tasks"]), rule["pattern"], system, nodes=int(rule["nodes"]))
    documented = system.max_stripe_count if stripes == -1 else stripes
    same = advice.layout.stripe_count == documented or (
        not advice.by_site and 0.955 * documented <= advice.layout.stripe_count <= documented
    )
    assert same == (rule["beside_advice"] == "same"), (advice.layout.stripe_count, advice.commands, rule["page"])
    if advice.by_site:
        assert documented == advice.layout.stripe_count
    # What the estimate prefers to the rule says that it departs from it, and on what it rests.
    pace = Pace(replace(advice.writing, aggregators=None), system)
    best = min(
        pace.time_s(count, size) for count in range(1, system.max_stripe_count + 1, 7) for size in stripe_sizes(system)
    )
    departs = [other for other in advice.alternatives if other.reason.startswith("departs from the site's rule")]
    if advice.by_site and not system.advised_stripe_count and best < 0.85 * advice.estimate.time_s:
        assert departs
        assert "It rests on" in departs[0].reason


def test_stripe_sizes_are_those_of_the_pages():
    # OLCF says 16 MiB; LUMI 1 to 4 MB; CSCS 4 MB; ARCHER2 1 MiB is fine; NERSC 1 MB.
    bounds = {"frontier": (16, 16), "lumi-c": (1, 4), "eiger": (1, 16), "archer2": (1, 16), "perlmutter": (1, 16)}
    for name, (low, high) in bounds.items():
        for size in (10**10, 10**12, 10**13):
            advice = advise(size, 4096, "shared", Machine.load(name).file_systems[0], nodes=64)
            if not advice.keeps_default:
                assert low <= advice.layout.stripe_size_bytes >> 20 <= high, (name, size)


def test_a_striped_file_on_orion_names_its_pool():
    orion = Machine.load("frontier").file_systems[0]
    for size in (10**9, 10**12, 10**13):
        assert "-p capacity" in advise(size, 4096, "shared", orion, nodes=64).commands[0]
