"""A pack: the same seed gives the same bytes, and the book's tools find what was planted in it."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

import hopperkit
from hopperbook.project.outputs import CAUSES
from hopperbook.project.pack import pack, seed_of, write_pack
from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperlib.errors import InputError
from hopperlib.machine import Machine

SEEDS = (1, 2, 3)

# The codes of the diagnosis for each cause.
CODES = {
    "memory": {"SLURM-OOM", "PY-MEMORY"},
    "time": {"SLURM-TIME-LIMIT"},
    "disk": {"IO-QUOTA", "IO-NO-SPACE"},
    "library": {"LIB-MISSING", "PY-MODULE"},
    "node": {"SLURM-NODE-FAIL"},
    "code": {"SEGV", "ASSERTION"},
    "request": {"SLURM-STEP-CREATE", "SLURM-SUBMIT"},
    "none": {None},
}


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed {seed}")
def made(request):
    """The pack of a seed."""
    return pack(request.param)


@pytest.fixture
def machine(made):
    """The machine as the listings of a pack show it."""
    texts = [text for name, text in made.files.items() if name.startswith("listings/")]
    return machine_from([record for text in texts for record in read_hardware(text)], name="brook")


def test_a_seed_makes_the_same_bytes_and_another_seed_others():
    again = pack.__wrapped__(1)
    assert again == pack(1)
    assert pack(1).files["jobs/sacct.txt"] != pack(2).files["jobs/sacct.txt"]
    assert pack(1).key != pack(2).key


def test_what_a_pack_holds(made):
    counts = {
        folder: sum(name.startswith(f"{folder}/") for name in made.files) for folder in ("scripts", "outputs", "io")
    }
    assert counts == {"scripts": 10, "outputs": 20, "io": 12}
    assert "synthetic" in made.files["README.md"]
    # The report that is handed out names every question, and no answer.
    blank = tomllib.loads(made.files["report.toml"])
    assert {part: set(given) for part, given in blank.items()} == {part: set(right) for part, right in made.key.items()}
    assert {value for given in blank.values() for value in given.values()} == {""}


def test_the_listings_show_the_mistake_of_the_machine_file(made, machine):
    mistake = made.key["machine"]
    written = Machine.from_toml(made.files["machine.toml"], name="machine.toml")
    assert getattr(machine.node(), mistake["field"]) == mistake["right_value"]
    assert getattr(written.node(), mistake["field"]) != mistake["right_value"]
    others = {"count", "sockets", "numa_nodes_per_socket", "cores_per_numa_node", "memory_gb"} - {mistake["field"]}
    assert all(getattr(written.node(), name) == getattr(machine.node(), name) for name in others)


def _judged(text, machine):
    """The placement's findings on a script, in the words of the key."""
    try:
        answer = hopperkit.place(text, machine=machine)
    except ValueError as error:
        words = {"more than": "too-many-tasks", "Memory": "too-much-memory"}
        return next(kind for word, kind in reversed(words.items()) if word in str(error))
    if answer.summary.startswith("The commands of this script run once"):
        return "no-launcher"
    found = {one.code for one in answer.findings if one.level != "note"}
    if "depth-missing" in found:
        return "too-many-threads"
    return found or "right"


def test_the_placement_finds_each_fault_of_a_script(made, machine):
    assert {file: _judged(made.files[file], machine) for file in made.key["scripts"]} == made.key["scripts"]


def test_the_diagnosis_finds_each_cause(made):
    for file, cause in made.key["outputs"].items():
        assert hopperkit.diagnose(made.files[file]).facts["code"] in CODES[cause], file
    assert set(CODES) == set(CAUSES)


def test_the_history_shows_the_planted_loss_and_no_other(made):
    series = hopperkit.watch(made.files["benchmarks/daily.csv"]).facts["series"]
    loss = made.key["history"]
    found = {one["name"]: one["changes"] for one in series if one["changes"]}
    assert set(found) == {loss["series"]}
    (change,) = found[loss["series"]]
    assert change["percent"] == pytest.approx(loss["percent"], abs=2)
    assert abs(change["index"] - made.files["benchmarks/daily.csv"].splitlines()[1:].index(
        next(line for line in made.files["benchmarks/daily.csv"].splitlines() if line.startswith(loss["first_day"]))
    )) <= 3  # fmt: skip


def test_the_reader_of_ior_gives_the_numbers_of_the_key(made):
    rates = {
        file: hopperkit.read_ior(made.files[file].splitlines())[0].rate_mib_s
        for file in made.files
        if file.startswith("io/")
    }
    key = made.key["io"]
    pairs = {file: file[:-5] + ("2" if file.endswith("1.txt") else "1") + ".txt" for file in rates}
    worst = min(rates, key=lambda file: rates[file] / rates[pairs[file]])
    assert worst == key["slow_run"]
    assert 100 * (rates[worst] / rates[pairs[worst]] - 1) == pytest.approx(key["percent"], abs=0.06)
    nodes, access = key["fastest"].replace(",", "").split()[::2]
    assert max(rates, key=lambda file: rates[file]).startswith(f"io/ior-{nodes}-nodes-{access}-")


def test_one_partition_waits_clearly_longest(made):
    frame = hopperkit.read_sacct(made.files["jobs/sacct.txt"].splitlines()).to_frame()
    waits = frame.groupby("partition")["wait"].mean().sort_values(ascending=False)
    assert waits.index[0] == made.key["jobs"]["longest_waiting_partition"]
    # Farther apart than the tolerance of the rubric.
    assert waits.iloc[0] > 1.1 * waits.iloc[1]


def test_a_pack_is_written_into_an_empty_folder_only(tmp_path):
    folder = tmp_path / "pair"
    assert len(write_pack(4, folder)) == len(pack(4).files)
    assert seed_of(folder) == 4
    with pytest.raises(InputError, match="is not empty"):
        write_pack(4, folder)
    with pytest.raises(InputError, match=r"seed=-1 must be from 0 to 1000000"):
        pack(-1)
    with pytest.raises(InputError, match="cannot be read"):
        seed_of(tmp_path)


def test_the_command_writes_pack_and_key(tmp_path):
    words = [
        sys.executable,
        "-m",
        "hopperbook.project",
        "--seed",
        "5",
        str(tmp_path / "pair"),
        "--key",
        str(tmp_path / "key.toml"),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((tmp_path / "key.toml").read_text(encoding="utf-8")) == pack(5).key
    assert (tmp_path / "pair" / "outputs" / "job-20.out").is_file()
    refused = subprocess.run([*words[:-2]], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr
    assert "Traceback" not in refused.stderr
