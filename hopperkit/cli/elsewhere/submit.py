"""Advice on a job that sbatch, srun or salloc is about to submit: at most two lines, and only tested changes.

Slurm's cli_filter passes the options that it read from the command line, the environment and the script together. Only
modules for placing are imported, because a user waits at the prompt.

References
----------
SchedMD, Slurm 22.05, ``src/plugins/cli_filter/common/cli_filter_common.c``: ``cli_filter_json_set_options``.
"""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from hopperkit.cli.common import json_option, print_json, read_source, refusing
from hopperkit.launchers.judging.job import PlacedLine
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.launchers.options import option_table
from hopperkit.launchers.review import Review, review_lines
from hopperkit.launchers.scripts import Directive, Script, read_script
from hopperkit.launchers.words.shell import Word
from hopperkit.render.text import printable
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

MOST_LINES = 2
CANNOT_RUN = "cannot run: "
# Findings that mean that a job is rejected, waits forever or is killed.
_FATAL = ("asks-unknown", "gpu-type-unknown", "nodes-over-limit", "time-over-limit", "memory-exceeds-node")
# Only this much of a longer script is read.
_MAX_CHARACTERS = 400_000


def submit_advice(options: str, machine: Machine) -> list[str]:
    """Return at most two lines on a job: why it cannot run, or a tested, better launch line.

    Parameters
    ----------
    options : str
        Output of ``slurm.json_cli_options`` in a cli_filter.
    machine : Machine

    Raises
    ------
    InputError
        If the text is not a JSON object.

    Examples
    --------
    >>> hopper = Machine.load("perlmutter")
    >>> submit_advice('{"nodes":"2","ntasks":"16","cpus-per-task":"4","argv":["./a.out"]}', hopper)
    ['better: srun -n 16 -N 2 -c 4 --hint=nomultithread ./a.out (ends: hardware-threads-shared)']
    >>> submit_advice('{"type":"salloc","nodes":"9999"}', hopper)[0]
    "cannot run: #SBATCH -N 9999 asks for 9,999 nodes; Perlmutter has 3,072 of kind 'cpu'"
    """
    try:
        given = json.loads(options)
    except ValueError as error:
        raise InputError(f"--from-slurm-json: this is not valid JSON: {error}") from None
    if not isinstance(given, dict):
        raise InputError("--from-slurm-json: this is not a JSON object of options")
    script, has_lines = _script(given)
    try:
        reviews = review_lines(script, machine)
    except LaunchError as error:
        # A rejection is certain if Slurm's message for it is known; otherwise a variable may have an unknown value.
        return [CANNOT_RUN + str(error).removeprefix(f"{error.words}: ")] if error.words else []
    except InputError:
        return []
    placed = [PlacedLine(review.line, review.placement) for review in reviews]
    # Options of the command line are not text that can be edited.
    findings = check_job(script, machine, placed, tried=False)
    findings += tuple(each for review in reviews if not review.placement.doubts for each in review.problems)
    fatal = [CANNOT_RUN + _words(finding, script) for finding in findings if finding.code in _FATAL]
    return [*dict.fromkeys(fatal), *_better(reviews if has_lines else (), script)][:MOST_LINES]


def _better(reviews: Sequence[Review], script: Script) -> Iterator[str]:
    """Yield the tested, better lines."""
    # Equal lines share a review.
    for review in {id(review): review for review in reviews}.values():
        if review.better:
            where = f" line {review.line.line}" if len(script.raw) > 2 else ""
            # A translation for another launcher must not change anything else.
            wrong, right = review.placement.launch.launcher, review.better.placement.launch.launcher
            why = f"ends: {', '.join(review.won)}" if review.won else f"{right} in place of {wrong}"
            yield f"better:{where} {review.better.line} ({why})"


def _words(finding: Finding, script: Script) -> str:
    """Return a finding, with its line if it is in the script."""
    typed = "" if finding.evidence.get("line") else r'^Line \d+ ".*?": '
    return " ".join(f"{re.sub(typed, '', finding.message)} {finding.advice}".split())


def _script(given: Mapping[str, Any]) -> tuple[Script, bool]:
    """Return the script of sbatch, or srun's line, with the effective options, and whether it has launch lines."""
    words = [str(word) for word in given.get("argv") or ()]
    if given.get("type", "srun") == "srun":
        return read_script(_own_line(given, words)), True
    # A script on standard input, or for salloc, is not available: only the options are checked.
    text = str(given.get("wrap", ""))
    with suppress(OSError):
        if words:
            with open(words[0], encoding="utf-8", errors="replace") as file:
                text = file.read(_MAX_CHARACTERS)
    has_lines = bool(read_script(text).lines)
    # Without a launch line, the job itself is judged.
    script = read_script(text if has_lines else f"{text}\nsrun true")
    return replace(script, directives=tuple(_directives(given, script))), has_lines


def _own_line(given: Mapping[str, Any], words: Sequence[str]) -> str:
    """Return the srun line, with the threads set in the environment."""
    line = shlex.join(["srun", *(word for _, typed in _options(given, "srun") for word in typed), *words])
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return f"export OMP_NUM_THREADS={threads}\n{line}" if threads.isdigit() else line


def _directives(given: Mapping[str, Any], script: Script) -> Iterator[Directive]:
    """Yield the effective options as directives, on their lines in the script."""
    lines = {name: each.line for each in script.directives for name in _spellings(each.option)}
    for name, typed in _options(given, "sbatch"):
        option, _, value = typed[0].partition("=")
        words = tuple(Word(text=word) for word in typed)
        yield Directive("slurm", option, value or "".join(typed[1:]), lines.get(name, 0), words)


def _options(given: Mapping[str, Any], program: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the options supported by the program, as words with long names."""
    for option in option_table(program):
        long = next((name for name in option.names if isinstance(given.get(name.removeprefix("--")), str)), "")
        if not long.startswith("--") or option.refused:
            continue
        short, value = option.names[0], given[long.removeprefix("--")]
        alone = option.value == "none" or not value
        yield long, [long] if alone else [short, value] if len(short) == 2 else [f"{long}={value}"]


def _spellings(typed: str) -> Sequence[str]:
    """Return the names of an option of sbatch."""
    return next((option.names for option in option_table("sbatch") if typed in option.names), ())


@click.command("place")
@click.option("--from-slurm-json", "source", metavar="FILE|-", required=True)
@click.option("--machine", metavar="NAME|FILE", default="", help="The site's machine file.  [default: HOPPER_MACHINE]")
@json_option
@refusing
def submit(source: str, machine: str, as_json: bool) -> None:
    """Advise on a job that is about to be submitted; print nothing if no machine is named.

    Exit status: 0 fine, 1 the job cannot run, 2 bad input.
    """
    machine = machine or os.environ.get("HOPPER_MACHINE", "")
    lines = submit_advice(read_source(source, what="options"), Machine.load(machine)) if machine else []
    if as_json:
        print_json({"lines": lines})
    else:
        click.echo("".join(f"{printable(line)}\n" for line in lines), nl=False)
    raise SystemExit(int(any(line.startswith(CANNOT_RUN) for line in lines)))
