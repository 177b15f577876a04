"""Twenty rules that sites document, beside what is advised for such files: `data/site-rules.csv`.

The advice agrees if it names the same count (or one within the estimate's 5 %) or, where it differs, confronts the rule by name.
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
    confronted = any("the site's own rule" in caution for caution in advice.cautions)
    same = 0.955 * documented <= advice.layout.stripe_count <= documented
    found = "same" if same else "confronted" if confronted else "silent"
    assert found == rule["beside_advice"], (advice.layout.stripe_count, advice.commands, rule["page"])
    # By its own estimate the advice is no slower than the rule.
    pace = Pace(replace(advice.writing, aggregators=None), system)
    best = max(pace.estimate(documented, size).rate_gb_s for size in stripe_sizes(system))
    assert advice.estimate.rate_gb_s >= 0.95 * best


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
