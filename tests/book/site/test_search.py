"""The search: words as people type them lead to the page that answers, and to the tools' knowledge of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from hopperbook.site.finder import finder_data, pages, words

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

# What people ask, and the page that should stand first.
ANSWERED_BY = {
    "node/placement": "hyperthreading | cpu-bind | --ntasks-per-node | aprun -S | numa | affinity | GPU binding | srun | mpirun | cores per task | one rank per GPU",
    "node/memory": "out of memory | memory per core | high memory nodes | job uses swap",
    "node/hybrid": "OpenMP threads | hybrid | OMP_NUM_THREADS",
    "node/pages-and-libraries": "huge pages | shared library | load time python import",
    "failure/diagnosis": "walltime exceeded | Detected 1 oom_kill event | DUE TO TIME LIMIT | segmentation fault | exit code 137 | "
    "oom killer | quota | slurmstepd: error | why did my job fail | core dumped",
    "failure/bad-nodes": "MPI_Init hang | bad node | my job hangs",
    "failure/build-and-link": "undefined reference | module not found | libmpi.so.12: cannot open shared object file",
    "network/rank-order": "rank reordering | MPICH_RANK_ORDER | halo exchange neighbors on same node",
    "network/networks": "dragonfly | fat tree | bisection bandwidth | topology.conf",
    "network/torus": "torus | Gemini",
    "network/fragmentation": "fragmentation",
    "network/variability": "variability | noise | run to run variation",
    "network/scheduling-trouble": "orphaned nodes | queues | machine utilization",
    "own/your-jobs": "why is my job pending | job wait time | backfill | sacct | SWF | why is my job stuck in the queue | fairshare | estimated start time",
    "storage/slow-ost": "OST | slow OST",
    "storage/striping": "stripe count | lfs setstripe | Lustre",
    "storage/iobuf": "IOBUF | too many small writes",
    "storage/io-node": "slow write",
    "storage/trillion": "checkpoint | collective buffering | romio hints cb_nodes | file per process or shared file",
    "own/your-files": "HDF5 chunking | small files | metadata server overloaded",
    "own/your-darshan": "darshan",
    "own/your-io": "IOR | slow I/O | mdtest",
    "monitoring/acceptance": "acceptance test | SSP",
    "own/your-benchmarks": "benchmark regression | ReFrame | HPL dropped after maintenance",
    "own/your-runs": "percentile | how many runs | is this speedup significant",
    "own/your-launch-lines": "machine file | lscpu",
}


# Asks them one after the other, as pages of the search would; the address of the page that stands first.
SEARCHED = """async (questions) => {
  const { startSearch } = await import(new URL("searching.mjs", document.querySelector('script[src*="live.mjs"]').src));
  const place = document.createElement("div");
  document.querySelector("#search-results").after(place);
  const found = [];
  for (const asked of questions) {
    history.replaceState(null, "", `?${new URLSearchParams({ q: asked })}`);
    place.replaceChildren(document.createElement("div"));
    await startSearch(place.firstChild);
    found.push(place.querySelector(".hopper-first-answers li a")?.getAttribute("href") ?? "");
  }
  return found;
}"""


def test_the_page_that_answers_comes_first(reader, site_folder):
    pages = {asked: page for page, words in ANSWERED_BY.items() for asked in words.split(" | ")}
    found = dict(zip(pages, reader.go("search.html").evaluate(SEARCHED, list(pages)), strict=True))
    wrong = {
        asked: found[asked]
        for asked, page in pages.items()
        if not found[asked].startswith(f"notebooks/{page}.html#explorer-")
    }
    assert wrong == {}
    for page, explorer in (link.split("#") for link in set(found.values())):
        assert f'id="{explorer}"' in (site_folder / page).read_text(encoding="utf-8")
    assert len(pages) >= 60


# Error codes, symptoms and commands, and the pages that answer. The words that the search takes for a page were chosen with
# this table in view: it keeps what was reached, and is no blind test. Of the last 57, 42 were right before they were seen.
QUERIES = list(csv.DictReader(Path(__file__).with_name("queries.csv").read_text(encoding="utf-8").splitlines()))
FIRST = 112


def test_words_as_people_type_them_lead_to_the_page_that_answers(reader):
    asked = [row["query"] for row in QUERIES]
    found = reader.go("search.html").evaluate(SEARCHED, asked)
    assert [query for query, link in zip(asked, found, strict=True) if not link] == []
    wrong = {
        row["query"]: link
        for row, link in zip(QUERIES, found, strict=True)
        if not link.startswith(tuple(f"notebooks/{page}.html#explorer-" for page in row["page"].split()))
    }
    assert len(QUERIES) >= 115
    assert len(QUERIES) - len(wrong) >= FIRST, wrong


def test_a_message_that_the_diagnosis_knows_is_named_and_read(reader):
    page = reader.go("search.html?q=MPI_ERR_TRUNCATE")
    known = page.locator(".hopper-known a")
    expect(known.first).to_contain_text("longer than the receive buffer")
    known.first.click()
    expect(page.locator("#explorer-diagnose .hopper-summary")).to_contain_text("longer than the receive buffer")


def test_words_are_looked_up_whole_in_parts_and_without_endings():
    assert words("Killed: MPI_Abort, -c and --cpus-per-task=4") == [
        "kill", "mpi_abort", "mpi", "abort", "-c", "and", "cpus-per-task", "cpu", "per", "task", "4",
    ]  # fmt: skip


def test_every_explorer_of_a_page_is_known(root):
    shown = pages(root / "notebooks")
    known = finder_data(root / "notebooks").decode()
    assert len(shown) >= 30
    assert [name for name in shown if f'["{name}",' not in known] == []
    # Each message of the diagnosis and each launcher's option is in it.
    assert "MPI_ERR_TRUNCATE".lower() in known
    assert "cpus-per-task of srun" in known
