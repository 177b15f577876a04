"""What `hopper-mail` puts below a mail of Slurm: `hopper_mail_text.py HOPPER SUBJECT` prints it, or nothing.

Needs Python 3.10 and Slurm's commands. A file of a job is read only if it belongs to the job's user: who reads here may
be allowed more than the one who gets the mail.
"""

import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile

HEAD_BYTES, TAIL_BYTES = 500_000, 1_500_000
MOST_CHARACTERS = 3000
# Shorter jobs and smaller sizes are not worth a sentence.
SHORTEST_S, LEAST_GB, WASTED = 300, 4, 0.5
ENDED = ("FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "BOOT_FAIL", "DEADLINE")
FIELDS = "JobID,State,ExitCode,Elapsed,ElapsedRaw,Timelimit,NNodes,NTasks,AllocCPUS,TotalCPU,MaxRSS,ReqMem,AllocTRES,TRESUsageInMax"


def run(*words, pass_fds=(), timeout=None):
    """Return a command's output."""
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    done = subprocess.run(words, check=False, stdout=subprocess.PIPE, pass_fds=pass_fds, timeout=timeout, **quiet)
    return done.stdout.decode("utf-8", "replace")


def output_of(*words):
    """Return the output of a Slurm command; empty if the command is missing or hangs, like sacct without its database."""
    try:
        return run(*words, timeout=0.5)
    except (OSError, subprocess.SubprocessError):
        return ""


def main(hopper, subject):
    """Print the text for a mail with this subject."""
    job = re.search(r"Job_id=(\d+)\S*(?: \((\d+)\))?", subject)
    end = re.search(r" (?:Ended|Failed), Run time [^,]*, ([A-Z_]+|Mixed)", subject)
    if not job or not end:
        return
    number = job[2] or job[1]
    rows = sacct_rows(output_of("sacct", "-j", number, "-P", "--format", FIELDS))
    if end[1] == "COMPLETED":
        text = unused(rows)
    else:
        text = cause(hopper, number, rows)
    sys.stdout.write(text.encode("ascii", "replace").decode()[:MOST_CHARACTERS])


# A job that failed.


def cause(hopper, number, rows):
    """Return the first cause in the outputs of a job, who acts and the steps."""
    records = re.split(r"\n(?=JobId=)", output_of("scontrol", "show", "job", number))
    job = next((record for record in records if field(record, "JobState") in ENDED), "")
    names = list(dict.fromkeys(re.findall(r"^ *Std(?:Out|Err)=(.+)$", job, re.M)))
    copies = [copy for copy in map(copied, sorted(names, reverse=True)) if copy]
    if not copies:
        return ""
    with tempfile.NamedTemporaryFile("w", suffix=".sacct") as record:
        record.write(as_record(job, rows))
        record.flush()
        files = [f"/dev/fd/{copy.fileno()}" for _, copy, _ in copies]
        printed = run(
            hopper,
            "diagnose",
            "--json",
            "--sacct",
            record.name,
            "--",
            *files,
            pass_fds=[copy.fileno() for _, copy, _ in copies],
        )
    found = json.loads(printed)
    if found["verdict"] != "cause":
        return ""
    quoted = [f"{line['file']}:{line['line']}: {line['text']}" for line in found["causes"][0]["lines"][:2]]
    steps = [each["message"] for each in found["answer"]["findings"] if each["code"].startswith("step-")]
    text = "\n".join([found["answer"]["summary"], *quoted, *steps]).replace("`", "")
    for file, (name, _, cut) in zip(files, copies, strict=True):
        # Of a file that was read in parts, the number of a line is not known.
        text = re.sub(
            re.escape(file) + (r"(?::\d+)?" if cut else r"\b"), os.path.basename(name).replace("\\", "/"), text
        )
    return text


def field(record, name):
    """Return a field of scontrol's output."""
    found = re.search(rf"(?:^| ){name}=(\S*)", record, re.M)
    return found[1] if found else ""


def copied(name):
    """Return a file's name, a copy of its beginning and end, and whether it is longer; None if it is not the user's."""
    # scontrol's output may quote the user; fields set by slurmctld are reliable.
    owner = int(os.environ.get("SLURM_JOB_UID", "-1"))
    try:
        file = os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError:
        return None
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != owner:
            return None
        copy = tempfile.TemporaryFile()  # noqa: SIM115
        cut = status.st_size > HEAD_BYTES + TAIL_BYTES
        copy.write(file.read(HEAD_BYTES if cut else HEAD_BYTES + TAIL_BYTES))
        if cut:
            file.seek(-TAIL_BYTES, os.SEEK_END)
            file.readline()
            copy.write(b"\n" + file.read(TAIL_BYTES))
        copy.flush()
        return name, copy, cut


def as_record(job, rows):
    """Return sacct's record of a job; where Slurm keeps none, the same from scontrol."""
    names = {
        "JobID": "JobId",
        "State": "JobState",
        "ExitCode": "ExitCode",
        "Elapsed": "RunTime",
        "Timelimit": "TimeLimit",
    }
    rows = rows or [{name: field(job, spelled) for name, spelled in names.items()}]
    return "\n".join("|".join(cells) for cells in [list(rows[0]), *(row.values() for row in rows)]) + "\n"


# A job that ended well.


def sacct_rows(text):
    """Return the rows of sacct: the job, then its steps."""
    lines = [line.split("|") for line in text.splitlines()]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[1:] if len(cells) == len(lines[0])]


def unused(rows):
    """Return one sentence on resources that a job requested but did not use, with the line to change; empty if there
    are none.
    """
    if not rows or float(rows[0]["ElapsedRaw"] or 0) < SHORTEST_S:
        return ""
    job, steps = rows[0], [row for row in rows[1:] if not row["JobID"].endswith(".extern")]
    # Nothing was measured: that is not waste.
    if not steps or any(not row["MaxRSS"] for row in steps):
        return ""
    return gpus(job, steps) or cores(job, steps) or memory(job, steps)


def gpus(job, steps):
    """Return the sentence on GPUs that no step used, where Slurm measures their use."""
    asked_for = re.search(r"gres/gpu=(\d+)", job["AllocTRES"])
    used = [re.search(r"gres/gpuutil=(\d+)", row["TRESUsageInMax"]) for row in steps]
    if not asked_for or not all(used) or any(int(each[1]) for each in used):
        return ""
    return f"No GPU of the {asked_for[1]} that the job had was used: leave the #SBATCH line with --gpus or --gres out."


def cores(job, steps):
    """Return the sentence on CPUs that waited; on several nodes only where srun started the tasks."""
    cpus, elapsed_s = int(job["AllocCPUS"] or 0), float(job["ElapsedRaw"])
    used = seconds(job["TotalCPU"]) / elapsed_s
    started = [row for row in steps if not row["JobID"].endswith(".batch")]
    tasks = max((int(row["NTasks"] or 1) for row in started), default=1)
    if not used or (not started and int(job["NNodes"]) > 1):
        return ""
    each = math.ceil(round(used / tasks, 1))
    if used >= WASTED * cpus * 0.9 or tasks * each > WASTED * cpus:
        return ""
    line = f"--cpus-per-task={each}" if started else f"--ntasks=1 --cpus-per-task={each}"
    return f"Of {cpus} CPUs the job kept {used:.1f} busy on average: #SBATCH {line} would do."


def memory(job, steps):
    """Return the sentence on memory: no node used more than all its tasks at their largest, all steps together."""
    nodes = int(job["NNodes"] or 1)
    total = re.search(r"\bmem=([\d.]+[KMGT]?)", job["AllocTRES"])
    if not total or re.match(r"0\D*$", job["ReqMem"]):
        return ""
    had_gb = gigabytes(total[1]) / nodes
    used_gb = sum(
        gigabytes(row["MaxRSS"]) * math.ceil(int(row["NTasks"] or 1) / int(row["NNodes"] or 1)) for row in steps
    )
    if used_gb >= WASTED * had_gb or had_gb - used_gb < LEAST_GB:
        return ""
    line = f"--mem={max(1, math.ceil(used_gb * 1.25))}G"
    where = "of each node" if nodes > 1 else "that the job had"
    return f"Of {had_gb:.0f} GB {where} at most {used_gb:.1f} GB were used, as sampled: #SBATCH {line} would do."


def seconds(text):
    """Return a time of sacct, [days-][hours:]minutes:seconds, in seconds."""
    days, _, clock = text.rpartition("-")
    parts = [float(part) for part in clock.split(":")]
    return float(days or 0) * 86400 + sum(part * 60**power for power, part in enumerate(reversed(parts)))


def gigabytes(text):
    """Return a size of sacct in GB of 1024 MB."""
    number, unit = re.match(r"([\d.]+)([KMGT]?)", text).groups()
    return float(number) * 1024.0 ** ("KMGT".index(unit or "K") - 2)


if __name__ == "__main__":
    # When stopped at its timeout, it also ends its child processes and removes its file.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main(*sys.argv[1:3])
