"""Data for the widget: a user's failed jobs with their causes, and why other jobs wait, as JSON on standard output.

    python hopper_jobs.py [DAYS]     of the user who runs it, over sacct, squeue and `hopper ... --json`

HOPPER names the command; HOPPER_TRACE is a file of `sacct --parsable2` over some weeks that the site writes each night.
Without it, waiting jobs show only Slurm's reason.
"""

import getpass
import json
import os
import subprocess
import sys

HOPPER = os.environ.get("HOPPER", "hopper")
TRACE = os.environ.get("HOPPER_TRACE", "")
MOST = 10
# Explanations of Slurm's reasons; others are shown unchanged.
REASONS = {
    "Priority": "Jobs with a higher priority wait before it.",
    "Resources": "It is next, and waits until enough nodes are free.",
    "Dependency": "It waits for another job to end.",
    "BeginTime": "Its requested start time has not been reached.",
    "ReqNodeNotAvail": "Requested nodes are down, drained or reserved.",
    "AssocGrpCPUMinutesLimit": "The account has used its CPU time.",
    "QOSMaxJobsPerUserLimit": "You have as many jobs running as the QOS allows.",
}


def printed(*words):
    """Return a command's output; empty if it is missing or takes too long."""
    try:
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def hopper_json(*words):
    """Return the answer of a hopper command, as data; empty if it fails."""
    try:
        return json.loads(printed(HOPPER, *words, "--json"))
    except ValueError:
        return {}


def failed(days):
    """Return the last failed jobs with their first cause."""
    states = "FAILED,TIMEOUT,OUT_OF_MEMORY,NODE_FAIL"
    fields = "JobID,State,End,StdOut,StdErr,WorkDir,JobName"
    lines = printed("sacct", "-X", "-P", "-n", f"-Snow-{days}days", "-s", states, "-o", fields).splitlines()
    jobs = []
    for line in reversed(lines[-MOST:]):
        # The name comes last, as it may contain any character.
        number, state, end, *outputs, folder, name = (line.split("|", 6) + [""] * 7)[:7]
        # Releases before 24.05 do not list the files; most have these names.
        meant = [each.replace("%j", number).replace("%A", number).replace("%x", name) for each in outputs if each] or [
            f"slurm-{number}.out"
        ]
        files = [path for each in dict.fromkeys(meant) if os.path.isfile(path := os.path.join(folder, each))]
        answer = hopper_json("diagnose", *files) if files else {}
        found = answer.get("verdict") == "cause"
        cause = (
            answer["answer"]["summary"]
            if found
            else "The output does not show it."
            if files
            else "Its output was not found."
        )
        steps = [each["message"] for each in answer["answer"]["findings"] if each["level"] == "advice"] if found else []
        jobs.append({"job": number, "name": name, "state": state, "end": end, "cause": cause, "steps": steps})
    return jobs


def waiting():
    """Return the jobs that wait, with Slurm's reason and, from the site's log, when they start."""
    lines = printed("squeue", "-h", "-t", "PENDING", "-u", getpass.getuser(), "-o", "%i|%r|%S|%j").splitlines()
    jobs = []
    for line in lines[:MOST]:
        number, reason, start, name = (line.split("|", 3) + [""] * 4)[:4]
        answer = hopper_json("trace", "when", TRACE, number) if TRACE else {}
        why = REASONS.get(reason, f"Slurm says: {reason}.")
        if expected := answer.get("answer", {}).get("summary"):
            why += f" {expected}"
        elif start not in ("", "N/A"):
            why += f" Slurm plans its start for {start}."
        jobs.append({"job": number, "name": name, "why": why})
    return jobs


if __name__ == "__main__":
    json.dump({"failed": failed(int(sys.argv[1]) if len(sys.argv) > 1 else 7), "waiting": waiting()}, sys.stdout)
