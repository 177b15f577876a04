"""Twenty rules that sites document, beside what is advised for such files.

A row says the machine, the size [GB], tasks, nodes and pattern; the rule as its page gives it (stripe count, size in MiB,
pool; None where the page does not say); whether the advice agrees; and where it stands. The advice agrees if it
names the same count (or one within the estimate's 5 %) or, where it differs, confronts the rule by name.
"""

from __future__ import annotations

import pytest

from hopperlib.machine import Machine
from hopperlib.storage.lustre.stripe_advice import advise

ORION = "OLCF, Data Storage and Transfers, Orion: recommendations for single shared files"
NERSC = "NERSC, Lustre striping, stripe_small, stripe_medium, stripe_large"
ARCHER2 = "ARCHER2, I/O performance and tuning, Summary: achieving best I/O performance"
LUMI = "LUMI user guide, Lustre, Stripe count and Stripe size"
CSCS = "CSCS, Storage guide, Lustre tuning"
FPP = "file-per-process"

# machine, GB, tasks, nodes, pattern, documented stripes (-1: all), what is advised, citation
RULES = [
    ("frontier", 600, 4096, 512, "shared", 8, "confronted", ORION),
    ("frontier", 2_000, 4096, 512, "shared", 16, "confronted", ORION),
    ("frontier", 10_000, 4096, 512, "shared", 64, "confronted", ORION),
    ("frontier", 20_000, 4096, 512, "shared", 128, "confronted", ORION),
    ("frontier", 20_000, 64, 8, "shared", 128, "confronted", ORION),
    ("frontier", 100, 1, 1, "one-writer", 1, "same", "OLCF: no benefit for serial I/O; the default layout"),
    ("frontier", 1_000, 4096, 512, FPP, 1, "same", "OLCF: no benefit for one file per process; the default layout"),
    ("perlmutter", 5, 1024, 8, "shared", 8, "confronted", NERSC),
    ("perlmutter", 50, 4096, 32, "shared", 24, "confronted", NERSC),
    ("perlmutter", 1_000, 8192, 128, "shared", 72, "same", NERSC),
    ("perlmutter", 20_000, 65_536, 512, "shared", 72, "same", NERSC),
    ("perlmutter", 1_000, 8192, 128, FPP, 1, "same", "NERSC: the default of one stripe suits a file a process"),
    ("archer2", 68, 2048, 16, "shared", -1, "same", ARCHER2),
    ("archer2", 1_000, 16_384, 128, "shared", -1, "same", ARCHER2),
    ("archer2", 68, 2048, 16, FPP, 1, "same", ARCHER2),
    ("lumi-c", 1_000, 16_384, 128, FPP, 1, "same", LUMI),
    ("lumi-g", 1_000, 1024, 128, FPP, 1, "same", LUMI),
    ("lumi-c", 5_000, 128_000, 1000, "shared", -1, "same", LUMI + ": over as many OSTs as there are, from hundreds of nodes"),
    ("eiger", 1_000, 16_384, 128, "shared", 32, "confronted", CSCS),
    ("daint", 100, 1024, 4, "shared", 32, "confronted", CSCS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "size_gb", "tasks", "nodes", "pattern", "stripes", "said", "citation"), RULES)
def test_what_the_page_says_and_what_is_advised(name, size_gb, tasks, nodes, pattern, stripes, said, citation):
    system = Machine.load(name).file_systems[0]
    advice = advise(size_gb * 10**9, tasks, pattern, system, nodes=nodes)
    documented = system.max_stripe_count if stripes == -1 else stripes
    confronted = any("the site's own rule" in caution for caution in advice.cautions)
    same = 0.955 * documented <= advice.layout.stripe_count <= documented
    found = "same" if same else "confronted" if confronted else "silent"
    assert found == said, (advice.layout.stripe_count, advice.commands, citation)


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
