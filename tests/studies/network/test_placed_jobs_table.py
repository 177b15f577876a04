"""The table of placed jobs is of the present code."""

from __future__ import annotations

import ast

from hopperlib.documented.data_files import rows
from hopperlib.studies.network import placed_jobs_table as table


def test_the_table_is_of_the_present_code():
    codes = {row["code"] for row in rows("placed-jobs.csv")}
    assert codes == {table.code_hash()}, (
        f"the code behind data/placed-jobs.csv has changed; make it anew: {table.COMMAND}"
    )


def test_all_that_places_a_job_counts():
    behind = {module.removeprefix("hopperlib.network.") for module in table.modules_behind()}
    assert behind >= {
        "runtime.placed_jobs", "runtime.run_time", "runtime.traffic", "scheduling._free_nodes", "scheduling._waiting",
        "scheduling.generator", "scheduling.scheduler", "scheduling.workload", "torus.allocation", "torus.distances",
        "torus.hull", "torus.orders", "torus.wiring",
    }  # fmt: skip


def test_words_about_the_code_do_not_count_and_the_code_does():
    def form(text):
        return table._as_data(ast.parse(text))

    plain = "def f(a):\n    return a + 1\n"
    wordy = '"""What it is."""\n\n# why\ndef f(\n    a,\n):\n    """Say."""\n    return (a + 1)  # so\n'
    assert form(plain) == form(wordy)
    assert form(plain) != form(plain.replace("1", "2"))
