"""The ``hopper`` command: the book's models on your own launch lines, traces and logs.

One module a command, imported only when it is called, so that ``hopper``
starts at once. Exit status: 0 fine, 1 a problem was found in what you gave,
2 the input could not be used.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from hopperlib import __version__

__all__ = ["COMMANDS", "hopper", "main"]

# Name -> (module that holds it as `command`, one line for the list of commands).
COMMANDS: dict[str, tuple[str, str]] = {
    "place": ("hopperlib.cli.place", "Where the tasks of a launch line land, what is wrong, which line is better."),
    "memory": ("hopperlib.cli.memory", "Which layouts give each task the memory it needs, and what each is charged."),
    "machine": ("hopperlib.cli.machine", "List, show, check and write machine files."),
    "torus": ("hopperlib.cli.torus", "Where the nodes of a Gemini machine sit in its torus."),
    "simulate": ("hopperlib.cli.simulate", "Run a job trace through a scheduler that remembers every job's nodes."),
    "fit": ("hopperlib.cli.fit", "The distribution of run times, their spread, and the repeats that show a change."),
    "diagnose": ("hopperlib.cli.diagnose", "The cause of a failure, out of a job's output."),
    "build": ("hopperlib.cli.build", "Known problems of modules, versions and flags, and the way out."),
    "preflight": ("hopperlib.cli.preflight", "Free memory of nodes before a run, from /proc/buddyinfo."),
    "stripe": ("hopperlib.cli.stripe", "How to stripe a file: count, size, the commands and the reason."),
    "iobuf": ("hopperlib.cli.iobuf", "Check or write IOBUF_PARAMS, and what buffering may buy."),
    "io": ("hopperlib.cli.io", "What IOR, mdtest and Darshan measured, as a table and as findings."),
    "scorecard": ("hopperlib.cli.scorecard", "Every documented value beside what the models give."),
    "rank-order": ("hopperlib.cli.rank_order", "A rank order that keeps the neighbors of a grid together."),
    "explore": ("hopperlib.cli.explore", "Answer an explorer of the book in the terminal."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a command."""
        if name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in COMMANDS:
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else "there are: " + ", ".join(COMMANDS)
            raise click.UsageError(f"there is no command '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hopper")
def hopper() -> None:
    """Place tasks, size memory, read logs: the models of the Hopper book in a terminal.

    Each command prints text for people, or with --json data for programs.
    Exit status: 0 fine, 1 problem found, 2 bad input.
    """


def main() -> None:
    """Run ``hopper``; a closed pipe (``| head``) and Ctrl-C end it quietly."""
    if sys.stdin is None:
        # Closed before the command began (``<&-``): as if it were empty, which each command tells in its own words.
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    try:
        hopper(prog_name="hopper")
    except BrokenPipeError:
        # Python would complain again when it flushes at exit.
        sys.stdout = None
        raise SystemExit(141) from None
