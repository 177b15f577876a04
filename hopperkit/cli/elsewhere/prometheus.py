"""Write numbers in Prometheus' text format, atomically.

References
----------
Prometheus, Exposition formats: text-based format, version 0.0.4. node_exporter, README: textfile collector.
"""

import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from hopperkit.cli.common import fail
from hopperkit.failures.outputs import OutputRow
from hopperkit.readers.ior.results import IoResult
from hopperlib.monitoring.history import Report


class Sample(NamedTuple):
    """One number of a metric with its labels."""

    metric: str
    value: float
    labels: Mapping[str, str] = {}


HELP = {
    "hopper_watch_worse": "Whether a benchmark's level is worse than before its last change.",
    "hopper_watch_change_ratio": "Last persistent change of a benchmark, relative to the level before; 0 without a change.",
    "hopper_watch_level": "Current level of a benchmark, in its unit.",
    "hopper_watch_outliers": "Outlying runs of a benchmark.",
    "hopper_io_rate_mib_s": "Aggregate rate of a run, the mean of its repetitions. [MiB/s]",
    "hopper_io_failed": "Runs of I/O benchmarks without a rate.",
    "hopper_outputs": "Job outputs by verdict and first cause.",
    "hopper_written_time_seconds": "When this file was written.",
}
"""Description of each metric, as in the file."""


def metrics_text(samples: Sequence[Sample]) -> str:
    r"""Return samples in the text format, grouped by metric.

    Parameters
    ----------
    samples : sequence of Sample
        Samples of any metrics.

    Examples
    --------
    >>> print(metrics_text([Sample("hopper_io_failed", 2, {"file": 'a"b'})]), end="")
    # HELP hopper_io_failed Runs of I/O benchmarks without a rate.
    # TYPE hopper_io_failed gauge
    hopper_io_failed{file="a\"b"} 2.0
    """
    lines = []
    for metric in dict.fromkeys(each.metric for each in samples):
        lines += [f"# HELP {metric} {HELP[metric]}", f"# TYPE {metric} gauge"]
        lines += [f"{metric}{_labels(each.labels)} {float(each.value)!r}" for each in samples if each.metric == metric]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    """Return labels in braces; empty if there are none."""
    escape = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    pairs = ",".join(f'{name}="{text.translate(escape)}"' for name, text in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def watch_samples(reports: Sequence[Report]) -> list[Sample]:
    r"""Return the result of `hopper watch` for each benchmark with enough runs.

    Parameters
    ----------
    reports : sequence of Report
        Reports on benchmark histories.

    Examples
    --------
    >>> from hopperkit.readers.benchmark_history import read_benchmark_history
    >>> from hopperlib.monitoring.history import judge
    >>> (series,) = read_benchmark_history('day,s\n' + ''.join(f'{day},10\n' for day in range(30)), better='lower').series
    >>> [round(sample.value, 2) for sample in watch_samples([judge(series)])]
    [0.0, 0.0, 10.0, 0.0]
    """
    samples = []
    for report in reports:
        if report.level:
            ratio = report.shifts[-1].percent / 100 if report.shifts else 0.0
            numbers = {
                "worse": report.got_worse,
                "change_ratio": ratio,
                "level": report.level[-1],
                "outliers": len(report.outliers),
            }
            labels = {"benchmark": report.history.name}
            samples += [Sample(f"hopper_watch_{name}", float(number), labels) for name, number in numbers.items()]
    return samples


def io_samples(rows: Sequence[IoResult]) -> list[Sample]:
    """Return the mean rates in the outputs of IOR and mdtest, and the number of runs without a rate.

    Parameters
    ----------
    rows : sequence of IoResult
        Rows of I/O benchmarks.

    Examples
    --------
    >>> from hopperkit.readers.ior.results import IoResult
    >>> rows = [IoResult(file='a', access='write', rate_mib_s=rate) for rate in (100.0, 300.0)]
    >>> [sample.value for sample in io_samples(rows)]
    [200.0, 0]
    """
    rates: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row.rate_mib_s is not None and row.statistic in (None, "mean") and row.rank is None:
            rates[row.file, row.api or "", row.access or "", row.type or ""].append(row.rate_mib_s)
    names = ("file", "api", "access", "type")
    means = [
        Sample("hopper_io_rate_mib_s", fmean(group), dict(zip(names, key, strict=True))) for key, group in rates.items()
    ]
    failed = {row.file for row in rows if row.status not in ("ok", "not-run")}
    return [*means, Sample("hopper_io_failed", len(failed))]


def output_samples(rows: Sequence[OutputRow]) -> list[Sample]:
    """Return the number of job outputs by verdict and first cause.

    Parameters
    ----------
    rows : sequence of OutputRow
        Rows of diagnosed job outputs.

    Examples
    --------
    >>> output_samples([])
    []
    """
    counted = Counter((row.verdict, row.code, row.who) for row in rows)
    names = ("verdict", "code", "who")
    return [
        Sample("hopper_outputs", number, dict(zip(names, key, strict=True))) for key, number in sorted(counted.items())
    ]


def save_metrics(path: str | None, samples: Sequence[Sample], *, as_json: bool = False) -> None:
    """Write samples to a file, if one is given; end the command with one message if that fails.

    Parameters
    ----------
    path : str or None
        File to write; None writes nothing.
    samples : sequence of Sample
        Samples to write.
    as_json : bool, default False
        Whether an error is printed as JSON.
    """
    if path:
        try:
            write_metrics(path, samples, time.time())
        except OSError as error:
            fail(f"cannot write metrics {path}: {error.strerror or error}", as_json=as_json)


def write_metrics(path: str, samples: Sequence[Sample], now_s: float) -> None:
    """Write samples and the current time to a file, atomically.

    Parameters
    ----------
    path : str
        Its name must end in ``.prom`` for node_exporter to read it.
    samples : sequence of Sample
    now_s : float
        Seconds since 1970.

    Raises
    ------
    OSError
        If it cannot be written; the previous file is unchanged.
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(metrics_text([*samples, Sample("hopper_written_time_seconds", now_s, {"file": target.stem})]))
        # The exporter is another user.
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
