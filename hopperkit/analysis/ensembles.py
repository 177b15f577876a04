"""Run a function over many settings and seeds, on many cores, and store results as they finish.

    results = run_ensemble(waits, [{"seed": seed, "load": 0.9} for seed in range(100)], "waits-at-90")

Each set of parameters is written to one Parquet file as soon as it is done. The file name encodes the parameters and a
digest of the function, its dependencies (`function_digest`) and this package. After an interruption, the next call runs
only the missing sets; after a change of the function, of a helper or of a global that it reads, it runs all of them.
joblib runs them in processes of this machine; Dask runs them on a cluster.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from itertools import chain, product, takewhile
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from scipy.special import stdtrit

import hopperlib
from hopperkit.analysis._worker import Failure, attempt
from hopperkit.analysis.function_digest import function_digest
from hopperlib import __version__
from hopperlib.errors import InputError, refusal

_ABOUT = "ensemble.json"
_MOST_RUNS = 1_000_000
# The error of a mean cannot be estimated from fewer runs.
_FEWEST_RUNS = 5


class EnsembleError(RuntimeError):
    """A run of an ensemble failed; the message lists its parameters. Results of completed runs are kept."""


def _plain(value: Any) -> Any:
    """Convert numpy numbers to Python's, which JSON accepts."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is not a text, a number or a list")


def _normal(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as plain data, in order of their names."""
    try:
        text = json.dumps(dict(parameters), sort_keys=True, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"parameters {dict(parameters)} must be texts, finite numbers or lists of them: {error}"
        ) from None
    # Converted to JSON and back, so that numpy's 1 and Python's 1 are the same setting.
    return dict(json.loads(text))


def _digest(*texts: str | bytes) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() if isinstance(text, str) else text)
    return digest.hexdigest()


@cache
def _package_digest() -> str:
    """Return a digest of the version and the sources of both packages: edited models give different numbers."""
    folders = [*map(Path, hopperlib.__path__), Path(__file__).resolve().parents[1]]
    sources = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml"))
    return _digest(__version__, *(path.read_bytes() for path in sources))


def _name(function: Callable[..., Any]) -> str:
    """Return the name of the function for a folder's metadata."""
    if isinstance(function, partial):
        return ":".join([_name(function.func), *(each for each in function.args if isinstance(each, str))])
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', type(function).__name__)}"


def _table(parameters: Mapping[str, Any], result: Any) -> pd.DataFrame:
    """Return a run's result as rows that begin with its parameters."""
    rows = result
    if not isinstance(result, pd.DataFrame):
        records = result if isinstance(result, list) else [result]
        if result is records and not all(isinstance(record, Mapping) for record in records):
            raise ValueError("a returned list must contain mappings, one per row")
        rows = pd.DataFrame([dict(each) if isinstance(each, Mapping) else {"result": each} for each in records])
    both = [name for name in parameters if name in rows.columns]
    if both:
        raise ValueError(f"the result has the name {both[0]!r}, which is also a parameter")
    inputs = pd.DataFrame([parameters] * len(rows), columns=list(parameters))
    return pd.concat([inputs, rows.reset_index(drop=True)], axis=1)


def _write(rows: pd.DataFrame, path: Path) -> None:
    """Write a file as a whole: under another name first, then renamed."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        rows.to_parquet(half, index=False)
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def _read(paths: Iterable[Path]) -> pd.DataFrame:
    """Read files into one table; name the file that cannot be read."""
    tables = []
    for path in paths:
        try:
            tables.append(pd.read_parquet(path))
        except Exception as error:
            raise ValueError(f"{path} cannot be read ({error}); delete it to repeat its run") from error
    return pd.concat(tables, ignore_index=True)


def _about(folder: Path) -> dict[str, str]:
    """Return the metadata of an ensemble folder."""
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        return {name: str(about[name]) for name in ("function", "version")}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{folder / _ABOUT} does not name its function; use another folder") from None


def _open(folder: Path, function: str, version: str) -> None:
    """Create the folder, or check that it belongs to the same function."""
    if (folder / _ABOUT).exists():
        known = _about(folder)["function"]
        if known != function:
            raise ValueError(f"{folder} holds results of {known}, not of {function}; use another folder")
    elif folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} contains other files; an ensemble needs an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _ABOUT).write_text(json.dumps({"function": function, "version": version}) + "\n", encoding="utf-8")


def run_ensemble(
    function: Callable[..., Any],
    parameter_sets: Iterable[Mapping[str, Any]] | pd.DataFrame,
    folder: str | Path,
    *,
    workers: int | None = None,
    client: Any = None,
    progress: bool | Callable[[int, int], None] = True,
) -> pd.DataFrame:
    """Call a function with each set of parameters, store every result, and return them all as one table.

    A set with a file in the folder is not run again, so an interrupted ensemble resumes where it stopped, and an
    ensemble with more seeds runs only the new ones. A file appears only when it is complete. Results from an earlier
    version of the function or of this package are kept but not used. Use one folder from one process at a time.

    Parameters
    ----------
    function : callable
        ``function(**parameters)`` returns a mapping (one row), a list of mappings or a DataFrame (several), or one
        value (a row with the column ``result``). It gets its seed as a parameter and must not draw from any other
        source. It may be defined in a notebook, have closures, or be a public function such as `hopperkit.memory`:
        worker processes get a copy of it with the current values of its helpers and globals.
    parameter_sets : iterable of mappings, or DataFrame
        Texts, finite numbers, or lists of them, by name. Each set once.
    folder : str or Path
        Folder of the files; created if missing.
    workers : int or None
        Processes on this machine: None uses one per core, 0 runs in this process.
    client : str, Dask ``Client``, or None
        The address of a Dask scheduler, ``tcp://...``, or a client of it, whose workers run instead of processes here.
    progress : bool or callable
        Whether to show a progress bar; or a function to call with runs done and total runs, after each.

    Returns
    -------
    DataFrame
        Rows in the order of the parameter sets: parameters first, then the function's results.

    Raises
    ------
    ValueError
        If a set is repeated or is not plain data, the folder belongs to another function, a file in it is damaged, or
        the function depends on something that cannot be hashed or sent to a process, such as an open file.
    EnsembleError
        If a run failed, or a worker died. The call waits for running sets and stores their results.

    Examples
    --------
    >>> import tempfile
    >>> from hopperkit.analysis.run_times import repeats_to_see
    >>> sets = [{"change_fraction": 0.05, "spread_fraction": spread} for spread in (0.05, 0.1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_ensemble(repeats_to_see, sets, folder, workers=0, progress=False)["result"].tolist()
    [17, 64]
    """
    _check_workers(workers, client)
    digest, user_modules = function_digest(function)
    version = _digest(digest, _package_digest())[:8]
    sets = _keyed(parameter_sets, version)
    run = function if client is None and workers == 0 else _sendable(function, user_modules)
    folder = Path(folder)
    _open(folder, _name(function), version)
    paths = {key: folder / f"{key}.parquet" for key in sets}
    missing = {key: parameters for key, parameters in sets.items() if not paths[key].exists()}
    failures: list[EnsembleError] = []
    with ExitStack() as stack:
        client = stack.enter_context(_dask_client(client)) if isinstance(client, str) else client
        step = _stepper(stack, progress, len(sets) - len(missing), len(sets))
        results = stack.enter_context(closing(_results(client, workers, run, missing, failures)))
        try:
            for key, result in results:
                if failure := _kept(function, sets[key], result, paths[key]):
                    failures.append(failure)
                else:
                    step()
        except BrokenProcessPool as error:
            why = "a worker process died, probably because memory ran out; call again with fewer workers for the remaining runs"
            failures.append(_failure(function, f"failed: {why}", error))
    if failures:
        raise failures[0]
    table = _read(paths.values())
    table.attrs["parameters"] = list(dict.fromkeys(chain.from_iterable(sets.values())))
    return table


def _check_workers(workers: int | None, client: Any) -> None:
    """Reject invalid combinations of `workers` and `client`."""
    if client is not None and workers is not None:
        raise ValueError("give either workers, for processes on this machine, or client, for processes elsewhere")
    if workers is not None and workers < 0:
        raise refusal("workers", workers, "must be at least 0")


def _kept(function: Callable[..., Any], parameters: Mapping[str, Any], result: Any, path: Path) -> EnsembleError | None:
    """Store the rows of one run; return the reason if it failed."""
    if isinstance(result, Failure):
        return _failure(function, f"with {parameters} failed: {result.why}", result.trace)
    try:
        rows = _table(parameters, result)
    except ValueError as error:
        return _failure(function, f"with {parameters} failed: {error}")
    _write(rows, path)
    return None


def _failure(function: Callable[..., Any], why: str, trace: object = "") -> EnsembleError:
    """Return the error of a run, with the traceback of the process that ran it."""
    failure = EnsembleError(f"{_name(function)} {why}")
    failure.__cause__ = RuntimeError(f"\n{trace}") if trace else None
    return failure


def _keyed(parameter_sets: Iterable[Mapping[str, Any]] | pd.DataFrame, version: str) -> dict[str, dict[str, Any]]:
    """Return each set of parameters as plain data, by the name of its file."""
    given = parameter_sets.to_dict("records") if isinstance(parameter_sets, pd.DataFrame) else parameter_sets
    sets: dict[str, dict[str, Any]] = {}
    for parameters in given:
        normal = _normal(parameters)
        key = f"{version}-{_digest(json.dumps(normal))[:24]}"
        if key in sets:
            raise ValueError(f"parameters {dict(parameters)} occur twice: the same seed gives the same run")
        # In the given order, which is that of the columns.
        sets[key] = {name: normal[name] for name in parameters}
    if not sets:
        raise ValueError("there is no set of parameters to run")
    return sets


def _stepper(stack: ExitStack, progress: bool | Callable[[int, int], None], done: int, count: int) -> Callable[[], Any]:
    """Return the callback to run after each run."""
    if callable(progress):
        steps = iter(range(done + 1, count + 1))
        return lambda: progress(next(steps), count)
    from tqdm.auto import tqdm

    bar = stack.enter_context(tqdm(total=count, initial=done, unit="run", disable=None if progress else True))
    return lambda: bar.update(1)


def _dask_client(address: str) -> Any:
    """Return a client of the Dask scheduler at an address."""
    try:
        from distributed import Client as connect
    except ModuleNotFoundError:
        raise InputError(
            "a Dask scheduler needs distributed: pip install '.[cluster]' in the folder of the repository"
        ) from None
    try:
        client: Any = connect
        return client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}", name="scheduler", value=address) from None


def _results(
    client: Any,
    workers: int | None,
    function: Callable[..., Any] | bytes,
    missing: Mapping[str, Mapping[str, Any]],
    failures: Sequence[EnsembleError],
) -> Generator[tuple[str, Any]]:
    """Yield the key and the result of each run as it finishes; after a failure, only of those already under way."""
    if client is not None:
        return (yield from _on_dask(client, function, missing, failures))
    calls = (
        delayed(attempt)(function, key, parameters)
        for key, parameters in takewhile(lambda _: not failures, missing.items())
    )
    if workers == 0:
        for call, arguments, _ in calls:
            yield call(*arguments)
        return None
    count = min(workers or os.cpu_count() or 1, max(1, len(missing)))
    # One thread of linear algebra per worker: there are as many workers as cores.
    with parallel_config("loky", n_jobs=count, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=count)(calls)
    return None


def _on_dask(
    client: Any, function: Any, missing: Mapping[str, Mapping[str, Any]], failures: Sequence[EnsembleError]
) -> Generator[tuple[str, Any]]:
    """Yield what `_results` does, from the workers of a Dask client."""
    from distributed import as_completed

    # Without `pure=False` Dask would return the result of an earlier call.
    futures = {
        client.submit(attempt, function, key, parameters, pure=False): key for key, parameters in missing.items()
    }
    try:
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            try:
                # A result whose worker died before it was fetched is computed again.
                result = future.result()
            except CancelledError:
                continue
            except Exception as error:
                result = futures[future], Failure(f"{type(error).__name__}: {error}", "")
            yield result
            if failures:
                client.cancel([other for other in futures if not other.done()])
    finally:
        # After Ctrl-C, or with a full disk: what waits is not started.
        client.cancel(list(futures))


def _sendable(function: Callable[..., Any], user_modules: Iterable[ModuleType]) -> bytes:
    """Return a function as bytes that a worker loads without the user's modules: their code is pickled by value."""
    with _by_value(user_modules):
        try:
            return bytes(cloudpickle.dumps(function))
        except Exception as error:  # each class raises a different exception
            raise InputError(
                f"{_name(function)} cannot be sent to a worker process ({error}); give workers=0"
            ) from error


@contextmanager
def _by_value(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Make cloudpickle pickle the functions of these modules by value, as they are now."""
    with ExitStack() as stack:
        for module in modules:
            if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.register_pickle_by_value(module)
                stack.callback(cloudpickle.unregister_pickle_by_value, module)
        yield


def parameter_sets(vary: Mapping[str, Sequence[Any]], seeds: int = 0, first_seed: int = 0) -> list[dict[str, Any]]:
    """Return every combination of values, each with the given number of seeds.

    Parameters
    ----------
    vary : mapping
        Values of each input.
    seeds, first_seed : int
        Number of seeds (0 for none), and the first seed.

    Raises
    ------
    InputError
        If there are more than a million.

    Examples
    --------
    >>> parameter_sets({"load": [0.8, 0.9]}, seeds=2)[1:3]
    [{'load': 0.8, 'seed': 1}, {'load': 0.9, 'seed': 0}]
    """
    if seeds < 0:
        raise refusal("seeds", seeds, "must be at least 0")
    columns = {**vary, **({"seed": range(first_seed, first_seed + seeds)} if seeds else {})}
    count = prod(map(len, columns.values()))
    if count > _MOST_RUNS:
        raise InputError(f"these are {count:,} runs; {_MOST_RUNS:,} is the maximum")
    return [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]


def intervals(table: pd.DataFrame, inputs: Sequence[str], answer: str, *, level: float = 0.95) -> pd.DataFrame:
    """Return the mean of an answer over the runs of each setting, with its interval by Student's t.

    With fewer than five runs, the bounds are missing. In 400 samples of five to fifty normal values, 94 to 96 % of the
    intervals contain the mean; for exponential values, 88 % with five and 93 % with twenty.

    Parameters
    ----------
    table : DataFrame
        As `run_ensemble` returns it.
    inputs : sequence of str
        Columns that identify a setting; one row per combination.
    answer : str
        Column of numbers.
    level : float
        Confidence level of the interval.

    Raises
    ------
    InputError
        If a column does not exist or is not numeric.

    Examples
    --------
    >>> runs = pd.DataFrame({"load": [0.8] * 5 + [0.9], "wait_h": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]})
    >>> intervals(runs, ["load"], "wait_h").round(2).to_numpy().tolist()
    [[0.8, 5.0, 3.0, 1.04, 4.96], [0.9, 1.0, 7.0, nan, nan]]
    """
    if not 0 < level < 1:
        raise refusal("level", level, "must be between 0 and 1, such as 0.95")
    for name in (*inputs, answer):
        if name not in table.columns:
            raise InputError(f"there is no column {name!r}; there are: {', '.join(map(str, table.columns))}")
    if not pd.api.types.is_numeric_dtype(table[answer]):
        raise InputError(f"column {answer!r} has no numbers")
    of = table.groupby(list(inputs), sort=False)[answer]
    runs, mean, error = of.count(), of.mean(), of.sem()
    off = (error * stdtrit(runs.clip(lower=2) - 1, (1 + level) / 2)).where(runs >= _FEWEST_RUNS)
    columns = {"runs": runs, f"{answer}_mean": mean, f"{answer}_low": mean - off, f"{answer}_high": mean + off}
    return pd.DataFrame(columns)[runs > 0].reset_index()
