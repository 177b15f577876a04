"""A function over many settings and seeds, on many cores, kept as it goes.

    results = run_ensemble(waits, [{"seed": seed, "load": 0.9} for seed in range(100)], "waits-at-90")

Each set of parameters gives one Parquet file in the folder, written when it is
done. Call it again after an interruption and only what is missing runs. Work
goes to processes of this machine, or to whatever has ``submit``: a Dask
``Client``, for a cluster.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import queue
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopperlib.errors import refusal

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EnsembleError", "read_ensemble", "run_ensemble"]

_ABOUT = "ensemble.json"


class EnsembleError(RuntimeError):
    """A run of an ensemble failed; the message says with which parameters. What had finished is kept."""


def _key(parameters: Mapping[str, Any]) -> str:
    """Return the name of a set of parameters: the same for the same values, on every machine."""
    try:
        text = json.dumps(parameters, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"parameters {dict(parameters)} must be texts, finite numbers or lists of them: {error}"
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _name(function: Callable[..., Any]) -> str:
    """Return the name under which a folder remembers its function."""
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', type(function).__name__)}"


def _table(parameters: Mapping[str, Any], answer: Any) -> pd.DataFrame:
    """Return what a run gave as rows that begin with its parameters."""
    import pandas as pd

    if isinstance(answer, pd.DataFrame):
        rows = answer.reset_index(drop=True)
    else:
        records = (
            answer if isinstance(answer, list) else [answer if isinstance(answer, Mapping) else {"result": answer}]
        )
        if not all(isinstance(record, Mapping) for record in records):
            raise ValueError("a list that is returned must hold mappings: one a row")
        rows = pd.DataFrame([dict(record) for record in records])
    both = [name for name in parameters if name in rows.columns]
    if both:
        raise ValueError(f"the result has the name {both[0]!r}, which is also a parameter")
    return pd.concat([pd.DataFrame([parameters] * len(rows), columns=list(parameters)), rows], axis=1)


def _write(rows: pd.DataFrame, path: Path) -> None:
    """Write a file as a whole: under another name first, then renamed."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        rows.to_parquet(half, index=False)
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def _read(path: Path) -> pd.DataFrame:
    """Read one file; say which it is if it cannot be read."""
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except Exception as error:
        raise ValueError(f"{path} cannot be read ({error}); delete it, and its run is made again") from error


def _open(folder: Path, function: str) -> None:
    """Make the folder, or see that it belongs to the same function."""
    about = folder / _ABOUT
    if about.exists():
        try:
            known = json.loads(about.read_text(encoding="utf-8"))["function"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{about} does not say which function the folder is of; use another folder") from None
        if known != function:
            raise ValueError(f"{folder} holds results of {known}, not of {function}; use another folder")
        return
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} holds other files; an ensemble needs a folder of its own")
    folder.mkdir(parents=True, exist_ok=True)
    about.write_text(json.dumps({"function": function}) + "\n", encoding="utf-8")


def run_ensemble(
    function: Callable[..., Any],
    parameter_sets: Iterable[Mapping[str, Any]],
    folder: str | Path,
    *,
    workers: int | None = None,
    client: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Call a function with each set of parameters, keep every result, and return all as one table.

    A set that has its file in the folder is not run again, so an ensemble that
    was interrupted goes on where it stopped, and one that is asked for more
    seeds runs only the new ones. A file appears only when it is complete. A
    change *inside* the function is not seen: use a new folder for it. Use one
    folder from one process at a time.

    Parameters
    ----------
    function : callable
        ``function(**parameters)`` returns a mapping (one row), a list of mappings or a DataFrame (several), or one
        value (a row with the column ``result``). It is told its seed as a parameter and draws from nothing else.
        Worker processes import it, so it must stand in a module, not in a notebook or at the prompt.
    parameter_sets : iterable of mappings
        Texts, finite numbers, or lists of them, by name. Each set once.
    folder : str or Path
        Where the files are; made if it is missing.
    workers : int or None
        Processes on this machine: None takes one a core, 0 stays in this process.
    client : object with ``submit``, or None
        A Dask ``Client``, or an executor of ``concurrent.futures``, to use in place of processes.
    progress : callable or None
        Called with runs done and runs in all, after each.

    Returns
    -------
    DataFrame
        Rows in the order of the parameter sets: parameters first, then what the function returned.

    Raises
    ------
    ValueError
        If a set comes twice or is not plain data, the folder is not this function's, a file in it is damaged, or
        the function cannot be sent to a process.
    EnsembleError
        If a run failed. Runs that were under way are waited for and kept, others are not begun.

    Examples
    --------
    >>> import tempfile
    >>> from hopperlib.analysis.regression import repeats_to_see
    >>> sets = [{"change_fraction": 0.05, "spread_fraction": spread} for spread in (0.05, 0.1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_ensemble(repeats_to_see, sets, folder, workers=0)["result"].tolist()
    [17, 64]
    """
    if client is not None and workers is not None:
        raise ValueError("give workers, for processes here, or client, for processes elsewhere, not both")
    if workers is not None and workers < 0:
        raise refusal("workers", workers, "must be at least 0")
    sets: dict[str, dict[str, Any]] = {}
    for parameters in parameter_sets:
        key = _key(parameters)
        if key in sets:
            raise ValueError(f"parameters {dict(parameters)} come twice: the same seed gives the same run")
        sets[key] = dict(parameters)
    if not sets:
        raise ValueError("there is no set of parameters to run")
    in_processes = client is None and workers != 0
    if in_processes:
        # Before the folder is taken for this function: the next call may be with another.
        _check_sendable(function)
    folder = Path(folder)
    _open(folder, _name(function))
    paths = {key: folder / f"{key}.parquet" for key in sets}
    missing = {key: parameters for key, parameters in sets.items() if not paths[key].exists()}
    done = len(sets) - len(missing)
    failures: list[EnsembleError] = []
    with ExitStack() as stack:
        if in_processes and missing:
            client = stack.enter_context(_processes(min(workers or os.cpu_count() or 1, len(missing))))
        for key, answer in stack.enter_context(closing(_finished(client, function, missing, failures))):
            try:
                rows = _table(sets[key], answer())
            except Exception as error:
                failure = EnsembleError(f"{_name(function)} with {sets[key]} failed: {type(error).__name__}: {error}")
                failure.__cause__ = error
                failures.append(failure)
                continue
            _write(rows, paths[key])
            done += 1
            if progress is not None:
                progress(done, len(sets))
    if failures:
        raise failures[0]
    return _joined(paths.values())


def _finished(
    client: Any, function: Callable[..., Any], missing: Mapping[str, Mapping[str, Any]], failures: list[EnsembleError]
) -> Generator[tuple[str, Callable[[], Any]]]:
    """Yield what gives the answer of each run, as the runs finish; after a failure only of those that were under way."""
    if client is None:
        for key, parameters in missing.items():
            yield key, partial(function, **parameters)
            if failures:
                break
        return
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
    keys: dict[Any, str] = {}
    try:
        for key, parameters in missing.items():
            keys[client.submit(function, **parameters)] = key
        for future in list(keys):
            future.add_done_callback(finished.put)
        for _ in range(len(keys)):
            future = finished.get()
            if not future.cancelled():
                yield keys[future], future.result
            if failures:
                for other in keys:
                    other.cancel()
    finally:
        # After Ctrl-C, or with a full disk: what waits is not begun.
        for future in keys:
            future.cancel()


def _processes(workers: int) -> Any:
    """Return so many processes of this machine."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A forked process would inherit the locks of threads that numpy and pyarrow started: so new ones.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_use_one_thread)


def _check_sendable(function: Callable[..., Any]) -> None:
    """Refuse a function that worker processes could not find."""
    if function.__module__ == "__main__":
        raise ValueError(
            f"{function.__qualname__} is defined in a notebook or at the prompt, where worker processes cannot find it; "
            "put it into a module, or give workers=0"
        )
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"{_name(function)} cannot be sent to a worker process ({error}); give workers=0") from error


def _use_one_thread() -> None:
    """Let the linear algebra of a worker use one thread: there are as many workers as cores."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _joined(paths: Iterable[Path]) -> pd.DataFrame:
    """Return the files as one table."""
    import pandas as pd

    return pd.concat([_read(path) for path in paths], ignore_index=True)


def read_ensemble(folder: str | Path) -> pd.DataFrame:
    """Return what an ensemble has finished so far, while it runs or after it was interrupted.

    Raises
    ------
    ValueError
        If the folder is no ensemble's, nothing has finished, or a file is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_ensemble(folder)
    Traceback (most recent call last):
    ValueError: ... is not the folder of an ensemble: it has no ensemble.json
    """
    folder = Path(folder)
    if not (folder / _ABOUT).exists():
        raise ValueError(f"{folder} is not the folder of an ensemble: it has no {_ABOUT}")
    paths = sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))
    if not paths:
        raise ValueError(f"no run of the ensemble in {folder} has finished")
    return _joined(paths)
