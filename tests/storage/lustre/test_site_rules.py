"""Rules that sites document, compared with the advice for such files: `data/site-rules.csv`.

If a machine file has the rule, the advice is the rule, and a different layout says so.
"""

from __future__ import annotations

import csv

import pytest

from hopperkit.filesystems.stripe_advice import advise
from hopperlib.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import user_file_system as user_file_system

RULES = list(csv.DictReader((data_folder() / "site-rules.csv").read_text(encoding="utf-8").splitlines()))


def test_there_are_thirty_of_ten_sites():
    assert len(RULES) >= 30
    assert len({rule["site"] for rule in RULES}) >= 10
    # If nothing can be compared, the table gives the reason.
    assert all(rule["why"] for rule in RULES if rule["beside_advice"] == "unknown")
    assert all(rule["beside_advice"] in ("same", "unknown") for rule in RULES)


def system_of(rule):
    """The file system of the site's machine file, or one with as many OSTs as its page prints."""
    if rule["machine"]:
        return Machine.load(rule["machine"]).file_systems[0]
    return user_file_system(Machine.load("hopper").file_systems[0], osts=int(rule["osts"] or 100), client_rate_gb_s=2.6)


@pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if rule["beside_advice"] == "same"],
    ids=lambda rule: f"{rule['site']}-{rule['machine']}-{rule['size_gb']}-{rule['pattern']}",
)
def test_what_the_page_says_and_what_is_advised(rule):
    system = system_of(rule)
    size_bytes, (stripes, more) = round(float(rule["size_gb"]) * 10**9), rule["stripes"].partition("+")[:2]
    advice = advise(size_bytes, int(rule["tasks"]), rule["pattern"], system, nodes=int(rule["nodes"]))
    documented = system.max_stripe_count if stripes == "-1" else int(stripes)
    found = advice.layout.stripe_count
    if advice.by_site:
        assert found == documented
    else:
        # The recommended count is within 5 % of the best with fewer stripes.
        assert 0.9 * documented <= found <= (system.osts if more else documented), (advice.commands, rule["page"])


def test_a_layout_that_departs_from_the_site_says_so():
    for rule in RULES:
        if rule["beside_advice"] != "same":
            continue
        advice = advise(
            round(float(rule["size_gb"]) * 10**9),
            int(rule["tasks"]),
            rule["pattern"],
            system_of(rule),
            nodes=int(rule["nodes"]),
        )
        faster = [other for other in advice.alternatives if other.reason.startswith("departs from the site's rule")]
        assert all("It depends on" in other.reason for other in faster)
        assert len(faster) <= advice.by_site


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
