"""The machine files that come with the library."""

import re
import tomllib
from pathlib import Path

import pytest

from hopperlib.errors import did_you_mean
from hopperlib.machine import Machine

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "hopperlib" / "machines").rglob("*.toml"))
NAMES = [file.stem for file in FILES if file.parent.name == "machines"]


def citations(entry):
    """Every source that a parsed file cites."""
    if isinstance(entry, dict):
        if "value" in entry and "source" in entry:
            yield entry["source"]
        for part in entry.values():
            yield from citations(part)
    if isinstance(entry, list):
        for part in entry:
            yield from citations(part)


@pytest.fixture(scope="module")
def bibliography():
    text = (ROOT / "data" / "sources.bib").read_text(encoding="utf-8")
    return re.findall(r"^@\w+\{([^,]+),", text, re.MULTILINE)


def test_names():
    assert Machine.names() == tuple(NAMES)
    assert {"bassi", "franklin", "hopper", "perlmutter", "toy"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_sound_and_called_like_its_file(name):
    assert Machine.load(name).name == name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_source_is_cited_and_in_the_bibliography(file, bibliography):
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    sources = document.get("sources", {})
    assert set(sources) == set(citations(document))
    unknown = [f"{key}{did_you_mean(key, bibliography)}" for key in sources if key not in bibliography]
    assert not unknown, f"data/sources.bib has no entry with the key {', '.join(unknown)}"


def test_a_key_of_the_bibliography_stands_once(bibliography):
    assert len(bibliography) == len(set(bibliography))
    assert {"antypas2011", "he2012", "byna2013", "bassi2006", "nersc-variability"} <= set(bibliography)


@pytest.mark.parametrize("name", NAMES)
def test_every_value_has_a_source_and_a_place_or_a_reason(name):
    for path, quantity in Machine.load(name).provenance.items():
        if quantity.source is None:
            assert quantity.assumed, path
            assert quantity.at is None, path
        else:
            assert quantity.at, path
            assert quantity.assumed is None, path


def test_the_toy_is_invented_throughout():
    toy = Machine.load("toy")
    assert {quantity.badge for quantity in toy.provenance.values()} == {"assumed"}


def test_the_toy_is_odd():
    node = Machine.load("toy").node()
    assert (node.sockets, node.numa_nodes, node.cores, node.hardware_threads) == (1, 3, 12, 24)
    assert Machine.load("toy").node("wide").numa_nodes == 6


def test_hopper_refuses_the_options_of_later_releases():
    options = Machine.load("hopper").launcher().options
    assert not {"-j", "-R", "-C", "-p"} & set(options)
    synopsis = "-a -b -B -cc -cp -d -D -L -m -n -N -F -q -r -S -sl -sn -ss -T -t"
    assert set(options) == set(synopsis.split())


def test_what_slurm_calls_a_socket():
    assert Machine.load("hopper").launcher("srun").slurm_socket == "numa_node"
    assert Machine.load("perlmutter").launcher().slurm_socket == "socket"


def test_a_launcher_that_the_machine_did_not_have_says_so():
    assert Machine.load("hopper").launcher().assumed is None
    assert "ALPS, not Slurm" in Machine.load("hopper").launcher("srun").assumed
    assert "names no aprun" in Machine.load("perlmutter").launcher("aprun").assumed
