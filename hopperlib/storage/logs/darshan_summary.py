"""A Darshan log in numbers: what a report prints above its findings."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog
from hopperlib.storage.logs.ost_rates import judge_osts

__all__ = ["summary"]


def summary(log: DarshanLog) -> dict[str, Any]:
    """Return the job in numbers: bytes, rates, access sizes, shared and unique files, stripe settings, OSTs.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> summary(log)["tasks"], summary(log)["bytes_written"]
    (4, 0)
    """
    shared = sum(file.shared for file in log.files)
    result: dict[str, Any] = {
        "executable": log.executable,
        "job_id": log.job_id,
        "tasks": log.tasks,
        "run_time_s": log.run_time_s,
        "modules": list(log.modules),
        "notes": list(log.notes),
        "files": len(log.files),
        "shared_files": shared,
        "unique_files": len(log.files) - shared,
    }
    sizes: dict[str, dict[str, int]] = {}
    for direction, past in (("read", "read"), ("write", "written")):
        traffic = [file.moved(direction) for file in log.files]
        used = [each for each in traffic if each.moved_bytes]
        spans = [each.span_s for each in used if each.span_s]
        result[f"bytes_{past}"] = moved = sum(each.moved_bytes for each in used)
        result[f"{direction}_calls"] = sum(each.calls for each in used)
        # From the first call of any task to the end of the last; None where the log's own times disagree.
        complete = bool(spans) and len(spans) == len(used)
        passed = max(end for _, end in spans) - min(start for start, _ in spans) if complete else 0.0
        result[f"{direction}_rate_mb_s"] = round(moved / passed / 1e6, 3) if passed else None
        result[f"ost_{direction}_rates"] = [
            {
                "osts": list(rate.osts),
                "rate_mb_s": round(rate.rate_mb_s, 4),
                "files": rate.files,
                "bytes": round(rate.moved_bytes),
            }
            for rate in judge_osts(log, direction).rates
        ]
        counts = [sum(bin_) for bin_ in zip(*(each.sizes for each in traffic if each.sizes), strict=True)]
        sizes[direction] = {name: count for (name, _), count in zip(SIZE_BINS, counts, strict=False) if count}
    result["access_sizes"] = sizes
    layouts = Counter((file.layout.stripe_count, file.layout.stripe_size_bytes) for file in log.files if file.layout)
    result["stripe_settings"] = [
        {"stripe_count": count, "stripe_size_bytes": size, "files": files}
        for (count, size), files in sorted(layouts.items(), key=lambda item: (-item[1], item[0][0]))
    ]
    return result
