"""Ensembles: results kept as they finish, interruptions, failures, executors of others."""

import json
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from hopperlib.analysis.ensembles import EnsembleError, read_ensemble, run_ensemble
from hopperlib.network.torus.allocation import _sum_of_ring_distances as sum_of_ring_distances

SEEDS = [{"seed": seed, "load": 0.9} for seed in range(6)]


class Counted:
    """A function that remembers its calls and fails where it is told to."""

    def __init__(self, fails_at=None, with_error=None):
        self.__module__, self.__qualname__ = "made_up", "counted"
        self.calls, self.fails_at, self.with_error = [], fails_at, with_error or RuntimeError("no luck")

    def __call__(self, seed, load):
        self.calls.append(seed)
        if seed == self.fails_at:
            raise self.with_error
        return {"wait_s": 10 * seed, "used": load}


def test_rows_stand_in_the_order_of_the_sets(tmp_path):
    rows = run_ensemble(Counted(), SEEDS[::-1], tmp_path / "new" / "folder", workers=0)
    assert list(rows.columns) == ["seed", "load", "wait_s", "used"]
    assert rows["wait_s"].tolist() == [50, 40, 30, 20, 10, 0]


@pytest.mark.parametrize(
    ("answer", "columns", "rows"),
    [
        ({"a": 1}, ["seed", "a"], [[1, 1]]),
        ([{"a": 1}, {"a": 2}], ["seed", "a"], [[1, 1], [1, 2]]),
        (7.5, ["seed", "result"], [[1, 7.5]]),
        (pd.DataFrame({"a": [1, 2]}, index=[5, 5]), ["seed", "a"], [[1, 1], [1, 2]]),
    ],
)
def test_what_a_function_may_return(tmp_path, answer, columns, rows):
    made = run_ensemble(lambda seed: answer, [{"seed": 1}], tmp_path, workers=0)
    assert list(made.columns) == columns
    assert made.to_numpy().tolist() == rows


def test_a_list_is_one_parameter(tmp_path):
    rows = run_ensemble(sum_of_ring_distances, [{"counts": [1, 0, 1, 1, 0]}], tmp_path, workers=0)
    assert list(rows["counts"].iloc[0]) == [1, 0, 1, 1, 0]
    assert rows["result"].tolist() == [5]


def test_only_what_is_missing_runs(tmp_path):
    first, again = Counted(), Counted()
    run_ensemble(first, SEEDS[:3], tmp_path, workers=0)
    rows = run_ensemble(again, SEEDS, tmp_path, workers=0)
    assert (first.calls, again.calls) == ([0, 1, 2], [3, 4, 5])
    assert rows["wait_s"].tolist() == [0, 10, 20, 30, 40, 50]
    # Another order of the same names is the same set.
    run_ensemble(again, [{"load": 0.9, "seed": 2}], tmp_path, workers=0)
    assert again.calls == [3, 4, 5]


def test_what_had_finished_is_kept_when_a_run_fails(tmp_path):
    with pytest.raises(
        EnsembleError, match=r"made_up.counted with {'seed': 3, 'load': 0.9} failed: RuntimeError: no luck"
    ):
        run_ensemble(Counted(fails_at=3), SEEDS, tmp_path, workers=0)
    assert sorted(read_ensemble(tmp_path)["seed"]) == [0, 1, 2]
    mended = Counted()
    assert len(run_ensemble(mended, SEEDS, tmp_path, workers=0)) == 6
    assert mended.calls == [3, 4, 5]


def test_an_interruption_leaves_whole_files_only(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_ensemble(Counted(fails_at=2, with_error=KeyboardInterrupt()), SEEDS, tmp_path, workers=0)
    assert sorted(read_ensemble(tmp_path)["seed"]) == [0, 1]
    assert {path.suffix for path in tmp_path.iterdir()} == {".parquet", ".json"}


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def fails(self, path, **options):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", fails)
    with pytest.raises(OSError, match="disk full"):
        run_ensemble(Counted(), SEEDS, tmp_path, workers=0)
    assert [path.name for path in tmp_path.iterdir()] == ["ensemble.json"]


def test_worker_processes(tmp_path):
    sets = [{"counts": [1] * size} for size in (2, 3, 4, 5)]
    seen = []
    rows = run_ensemble(sum_of_ring_distances, sets, tmp_path, workers=2, progress=lambda *one: seen.append(one))
    # A full ring of 2: one pair at 1. Of 3: three at 1. Of 4: four at 1 and two at 2. Of 5: five at 1, five at 2.
    assert rows["result"].tolist() == [1, 3, 8, 15]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_executor_of_ones_own(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        assert len(run_ensemble(Counted(), SEEDS, tmp_path, client=pool)) == 6


def test_a_failure_elsewhere_keeps_what_was_under_way(tmp_path):
    function = Counted(fails_at=1)
    with ThreadPoolExecutor(1) as pool, pytest.raises(EnsembleError, match="'seed': 1"):
        run_ensemble(
            function, [*SEEDS, *({"seed": seed, "load": 0.5} for seed in range(10, 60))], tmp_path, client=pool
        )
    assert 0 in set(read_ensemble(tmp_path)["seed"])
    assert 1 not in set(read_ensemble(tmp_path)["seed"])


def test_a_dask_client(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        sets = [{"counts": [1] * size} for size in (2, 3, 4)]
        rows = run_ensemble(sum_of_ring_distances, sets, tmp_path, client=client)
    assert rows["result"].tolist() == [1, 3, 8]


def test_a_damaged_file_is_named(tmp_path):
    run_ensemble(Counted(), SEEDS[:1], tmp_path, workers=0)
    path = next(tmp_path.glob("*.parquet"))
    path.write_bytes(b"no table")
    with pytest.raises(ValueError, match=rf"{path.name} cannot be read .*; delete it, and its run is made again"):
        run_ensemble(Counted(), SEEDS[:1], tmp_path, workers=0)


def _defined_at_the_prompt(seed):
    return seed


_defined_at_the_prompt.__module__ = "__main__"


@pytest.mark.parametrize(
    ("function", "sets", "options", "message"),
    [
        (Counted(), [], {}, "there is no set of parameters"),
        (Counted(), [SEEDS[0], SEEDS[0]], {}, r"parameters {'seed': 0, 'load': 0.9} come twice"),
        (Counted(), [{"seed": object()}], {}, "must be texts, finite numbers or lists"),
        (Counted(), [{"seed": float("nan")}], {}, "must be texts, finite numbers or lists"),
        (Counted(), SEEDS, {"workers": -1}, "workers=-1 must be at least 0"),
        (Counted(), SEEDS, {"workers": 2, "client": object()}, "give workers, .* or client"),
        (_defined_at_the_prompt, SEEDS, {"workers": 1}, "is defined in a notebook or at the prompt"),
        (lambda seed, load: 1, SEEDS, {"workers": 1}, "cannot be sent to a worker process"),
    ],
)
def test_refuses(tmp_path, function, sets, options, message):
    with pytest.raises(ValueError, match=message):
        run_ensemble(function, sets, tmp_path, **{"workers": 0, **options} if "client" not in options else options)
    # The folder is still free for the call that is right.
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("answer", "message"),
    [({"seed": 2}, "the result has the name 'seed', which is also a parameter"), ([1, 2], "must hold mappings")],
)
def test_refuses_results(tmp_path, answer, message):
    with pytest.raises(EnsembleError, match=message):
        run_ensemble(lambda seed: answer, [{"seed": 1}], tmp_path, workers=0)


def test_a_folder_belongs_to_one_function(tmp_path):
    run_ensemble(Counted(), SEEDS[:1], tmp_path / "mine", workers=0)
    with pytest.raises(ValueError, match=r"holds results of made_up.counted, not of .*sum_of_ring_distances"):
        run_ensemble(sum_of_ring_distances, [{"counts": [1]}], tmp_path / "mine", workers=0)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="holds other files"):
        run_ensemble(Counted(), SEEDS, tmp_path / "other", workers=0)
    (tmp_path / "mine" / "ensemble.json").write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="does not say which function"):
        run_ensemble(Counted(), SEEDS, tmp_path / "mine", workers=0)


def test_reading_refuses(tmp_path):
    with pytest.raises(ValueError, match="is not the folder of an ensemble"):
        read_ensemble(tmp_path)
    with pytest.raises(EnsembleError):
        run_ensemble(Counted(fails_at=0), SEEDS, tmp_path, workers=0)
    with pytest.raises(ValueError, match="no run of the ensemble"):
        read_ensemble(tmp_path)
