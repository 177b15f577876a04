"""Commands in prose exist: each `hopper` line of pages, notebooks, workflows and docstrings is parsed by the real command line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import click
import pytest

from hopperbook.__main__ import book
from hopperkit.cli import NAMES, hopper

# A name of the command that opens a quoted or an indented command line.
_QUOTED = re.compile(r"`+((?:\$ )?(?:hopper|python -m hopper(?:kit|book)) [^`\n]+)`+")
_PROMPTED = re.compile(r"^\s*(?:\$ |>?\s*- run: )((?:hopper|python -m hopper(?:kit|book)) .+)$", re.MULTILINE)
# Words that stand for what a reader fills in, and marks behind which another command begins.
_HOLES = re.compile(r"\.\.\.|\b[A-Z]{3,}\b|[{}<>…]")
_ENDS = ("|", "||", "&&", ";", ">", ">>", "2>", "2>&1", "<", "#")


def _files(root):
    """Tracked files that hold prose or docstrings; the list of changes mentions removed things."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    for name in listed:
        prose = name.endswith((".md", ".ipynb", ".yml", ".py", ".toml")) and name != "CHANGELOG.md"
        if prose and not name.startswith(("tests/", "benchmarks/")):
            yield name


def _texts(root, name):
    """The texts of a file in which commands are named; of a notebook its cells."""
    text = (root / name).read_text(encoding="utf-8")
    if not name.endswith(".ipynb"):
        return [text]
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def command_lines(root):
    """Yield file and words of each command line, up to the next command, including those that only name a command."""
    for name in _files(root):
        for text in _texts(root, name):
            for line in dict.fromkeys([*_QUOTED.findall(text), *_PROMPTED.findall(text)]):
                plain = line.removeprefix("$ ").replace("\\$", "$")
                try:
                    words = shlex.split(plain, comments=True)
                except ValueError:
                    continue
                end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
                yield name, words[:end]


def _parse(words):
    """Parse a command line as the program does, without running it; return why it is refused, if it is."""
    group = hopper
    if words[0] == "python":
        group, words = (book if words[2] == "hopperbook" else hopper), words[2:]
    words = words[1:]
    holes = [at for at, word in enumerate(words) if _HOLES.search(word)]
    command, context = group, click.Context(group, info_name="hopper", resilient_parsing=True)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            # A file alone is asked what it is.
            known = "." in words[0] or 0 in holes or words[0] == "-" or (command is not hopper and not holes)
            return "" if command is hopper and known else f"no command {words[0]!r}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=words[0] if words else "", parent=context, resilient_parsing=True)
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    options |= set(command.get_help_option_names(context)) | {"--version", "--from-slurm-json"}
    wrong = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]
    return f"no option {' '.join(wrong)}" if wrong and words[:1] != ["--from-slurm-json"] else ""


def test_every_command_line_in_prose_is_taken(root):
    lines = list(command_lines(root))
    assert len(lines) > 100
    refused = sorted(
        {f"{name}: {' '.join(words)}: {why}" for name, words in lines if len(words) > 1 and (why := _parse(words))}
    )
    assert not refused, "\n".join(refused)


@pytest.mark.parametrize(
    "line", ["hopper torus --table", "hopper preflight --job-nodes 4", "hopper nosuch", "hopper place --format ascii x"]
)
def test_a_command_line_that_is_gone_is_seen(line):
    assert _parse(shlex.split(line))


def test_names_are_listed():
    assert {"place", "memory"} <= set(NAMES)
