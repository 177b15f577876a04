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
    result: dict[str, Any] = {
        "executable": log.executable,
        "job_id": log.job_id,
        "tasks": log.tasks,
        "run_time_s": log.run_time_s,
        "modules": list(log.modules),
        "notes": list(log.notes),
        "files": len(log.files),
        "shared_files": sum(one.shared for one in log.files),
        "unique_files": sum(not one.shared for one in log.files),
    }
    for direction, past in (("read", "read"), ("write", "written")):
        used = [one for one in log.files if one.moved(direction)[0]]
        spans = [span for one in used if (span := one.moved(direction)[3])]
        moved = sum(one.moved(direction)[0] for one in used)
        passed = max(end for _, end in spans) - min(start for start, _ in spans) if spans else None
        result[f"bytes_{past}"] = moved
        result[f"{direction}_calls"] = sum(one.moved(direction)[1] for one in used)
        # From the first call of any task to the end of the last; None where the log's own times disagree.
        complete = passed and len(spans) == len(used)
        result[f"{direction}_rate_mb_s"] = round(moved / passed / 1e6, 3) if complete and passed else None
        verdict = judge_osts(log, direction)
        result[f"ost_{direction}_rates"] = [
            {
                "osts": list(one.osts),
                "rate_mb_s": round(one.rate_mb_s, 4),
                "files": one.files,
                "bytes": round(one.moved_bytes),
            }
            for one in verdict.rates
        ]
    result["access_sizes"] = {
        way: {
            name: count
            for place, (name, _) in enumerate(SIZE_BINS)
            if (count := sum(sizes[place] for one in log.files if (sizes := getattr(one, f"{way}_sizes"))))
        }
        for way in ("read", "write")
    }
    layouts = Counter(
        (one.layout.stripe_count, one.layout.stripe_size_bytes) for one in log.files if one.layout is not None
    )
    result["stripe_settings"] = [
        {"stripe_count": count, "stripe_size_bytes": size, "files": files}
        for (count, size), files in sorted(layouts.items(), key=lambda item: (-item[1], item[0][0]))
    ]
    return result
