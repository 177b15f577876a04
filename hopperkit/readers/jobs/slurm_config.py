"""Read the settings of Slurm's scheduler from ``scontrol show config`` or slurm.conf."""

import re
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.rules import Rules
from hopperlib.units import SECONDS_PER_HOUR

_LINE = re.compile(r"^\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$")
# Days, hours, minutes and seconds in Slurm's notation.
_TIME = re.compile(r"(?:(\d{1,6})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_DAY_S = 24 * SECONDS_PER_HOUR
_WINDOW_MIN = 1440
_HEAVIEST = 4_294_967_295


class SlurmSettings(NamedTuple):
    """Scheduler settings of a Slurm cluster.

    Parameters
    ----------
    policy : Backfill or str
        Backfill at intervals; "fcfs" for sched/builtin.
    order : {"submission", "multifactor"}
        From PriorityType.
    rules : Rules
        Weights of the priority.
    """

    policy: Backfill | str
    order: str
    rules: Rules


def read_slurm_config(text: str) -> SlurmSettings:
    r"""Return the scheduler settings of a Slurm cluster; missing ones have Slurm's defaults.

    Parameters
    ----------
    text : str
        Output of ``scontrol show config``, or lines of slurm.conf.

    Raises
    ------
    InputError
        If the text has no setting of the scheduler, or a number cannot be read.

    Examples
    --------
    >>> settings = read_slurm_config("SchedulerType = sched/backfill\nSchedulerParameters = bf_interval=60,bf_max_job_test=50")
    >>> settings.policy, settings.order
    (Backfill(depth=50, interval_s=60, window_s=86400, resolution_s=60), 'submission')

    References
    ----------
    SchedMD, slurm.conf(5): SchedulerType, SchedulerParameters, PriorityType, PriorityWeightAge and the like.
    """
    found = {match[1].lower(): match[2] for line in text.splitlines()[:20_000] if (match := _LINE.match(line))}
    if not {"schedulertype", "schedulerparameters", "prioritytype"} & found.keys():
        raise InputError(
            "there is no SchedulerType, SchedulerParameters or PriorityType: give the output of scontrol show config, or slurm.conf"
        )
    parameters = dict(
        part.split("=", 1) for part in re.split("[, ]", found.get("schedulerparameters", "")) if "=" in part
    )
    policy: Backfill | str = Backfill(
        depth=_number(parameters, "bf_max_job_test", 500, 1),
        interval_s=_number(parameters, "bf_interval", 30, 1),
        window_s=60 * _number(parameters, "bf_window", _WINDOW_MIN, 1),
        resolution_s=_number(parameters, "bf_resolution", 60, 1),
    )
    if found.get("schedulertype", "").endswith("builtin"):
        policy = "fcfs"
    if not found.get("prioritytype", "priority/basic").endswith("multifactor"):
        return SlurmSettings(policy, "submission", Rules())
    weights = {
        name: float(_number(found, f"priorityweight{name}", 0, 0))
        for name in ("age", "jobsize", "partition", "qos", "fairshare")
    }
    # The factor of small jobs is one minus that of large ones, which shifts all priorities equally.
    sign = -1 if found.get("priorityfavorsmall", "no").lower() in ("yes", "1", "true") else 1
    rules = Rules(
        age=weights["age"],
        size=sign * weights["jobsize"],
        queue=weights["partition"],
        qos=weights["qos"],
        fair_share=weights["fairshare"],
        max_age_days=_days(found.get("prioritymaxage", "7-00:00:00"), "PriorityMaxAge") or 7.0,
        half_life_days=_days(found.get("prioritydecayhalflife", "7-00:00:00"), "PriorityDecayHalfLife") or 1e9,
        period_s=max(1, round(_DAY_S * _days(found.get("prioritycalcperiod", "00:05:00"), "PriorityCalcPeriod"))),
    )
    return SlurmSettings(policy, "multifactor", rules)


def _number(found: dict[str, str], name: str, default: int, low: int) -> int:
    """Return a setting as an integer; its default if missing."""
    text = found.get(name, str(default))
    if not text.isdecimal() or not low <= int(text[:12]) <= _HEAVIEST:
        raise InputError(f"{name}={text[:40]!r} must be a whole number from {low} to {_HEAVIEST}, as in slurm.conf(5)")
    return int(text)


def _days(text: str, name: str) -> float:
    """Convert a time in Slurm's notation to days: days-hours:minutes:seconds, hours:minutes:seconds, or minutes."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise InputError(f"{name}={text[:40]!r} must be a time such as 7-00:00:00, as in slurm.conf(5)")
    days, first, second, third = match.groups()
    if days is not None:
        hours, minutes, seconds = first, second, third
    elif second is None:
        hours, minutes, seconds = "0", first, "0"
    elif third is None:
        hours, minutes, seconds = "0", first, second
    else:
        hours, minutes, seconds = first, second, third
    parts = (int(days or 0) * _DAY_S, int(hours or 0) * SECONDS_PER_HOUR, int(minutes or 0) * 60, int(seconds or 0))
    return sum(parts) / _DAY_S
