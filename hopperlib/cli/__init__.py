"""The ``hopper`` command: the book's models on your own launch lines, traces and logs.

One module a command, imported only when it is called, so that ``hopper``
starts at once. Exit status: 0 fine, 1 a problem was found in what you gave,
2 the input could not be used.
"""

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from hopperlib import __version__
from hopperlib.package_data import read_beside
from hopperlib.questions.catalogue import QUESTIONS, sentences

# Commands that answer no question, which `commands.toml` states, and questions whose command does more than ask and show:
# name -> module of the function of that name.
COMMANDS: dict[str, str] = {
    "machine": "machine",
    **dict.fromkeys(("fit", "report", "ensemble"), "analysis"),
    "io": "storage",
    "questions": "book",
}
OWN: dict[str, str] = {
    "place": "place",
    **dict.fromkeys(("torus", "rank-order"), "network"),
    "simulate": "simulate",
    **dict.fromkeys(("stripe", "iobuf"), "storage"),
    **dict.fromkeys(("diagnose", "build", "preflight"), "failure"),
    **dict.fromkeys(("scorecard", "watch"), "book"),
}
NAMES: tuple[str, ...] = (*QUESTIONS, *COMMANDS)
_UNWRITABLE = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG)


def _refuse(error: click.ClickException, *, as_json: bool) -> NoReturn:
    """End with a refusal of click's own: its usage and message, or the message as data."""
    from hopperlib.cli.common import fail
    from hopperlib.render.text import printable

    message = printable(error.format_message())
    if as_json:
        option = getattr(error, "option_name", None) or getattr(getattr(error, "param", None), "name", None)
        fail(message, as_json=True, details={"flag": option} if option else {})
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n", err=True)
    click.echo(f"Error: {message}", err=True)
    raise SystemExit(error.exit_code)


def stated_commands() -> dict[str, dict[str, Any]]:
    """Return the tables of `commands.toml`."""
    return read_beside(__file__, "commands.toml")


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the questions, then of the other commands."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a command."""
        if name not in NAMES:
            return None
        from hopperlib.cli.question import question_command, stated_command

        place = (COMMANDS | OWN).get(name)
        module = importlib.import_module(f"hopperlib.cli.{place}") if place else None
        if name in COMMANDS:
            stated = stated_commands()
            return stated_command(name, stated[name], module, stated["shared"])
        from hopperlib.questions.question import load

        return question_command(load(name), getattr(module, name.replace("-", "_"), None))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of that name."""
        if args and args[0] not in NAMES:
            from hopperlib.tables import nearest

            raise click.UsageError(f"there is no command '{args[0]}'{nearest(args[0], NAMES)}", ctx)
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **more: Any,
    ) -> Any:
        """Run a command line; every refusal is one message, as data with --json."""
        words = list(sys.argv[1:] if args is None else args)
        name, as_json = prog_name or "hopper", "--json" in words
        # Whoever calls it so, as tests do, handles what is raised.
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **more)
        # A shell that asks for completions gets them here, and the program ends.
        self._main_shell_completion(more, name, complete_var)
        try:
            with self.make_context(name, words, **more) as context:
                self.invoke(context)
            # Closed before the command began: what it printed is lost, which must not pass for success.
            if sys.stdout is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            # A full disk is told now: when Python ends, nobody would catch it.
            sys.stdout.flush()
        except click.exceptions.Exit as error:
            raise SystemExit(error.exit_code) from None
        except (KeyboardInterrupt, EOFError, click.Abort):
            click.echo("Aborted!", err=True)
            raise SystemExit(1) from None
        except click.ClickException as error:
            _refuse(error, as_json=as_json)
        except ModuleNotFoundError as error:
            from hopperlib.cli.common import fail

            # A package of an extra may be missing; any other missing module is a defect.
            package = (error.name or "").split(".")[0]
            extra = next((extra for extra, has in stated_commands()["extras"].items() if package in has), None)
            if extra is None:
                raise
            fail(f"this command needs {error.name}: pip install 'hopper-book[{extra}]'", as_json=as_json)
        except BrokenPipeError:
            raise
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
            # What is left in the buffer would fail again when Python ends.
            sys.stdout = None
            click.echo(f"hopper: cannot write to standard output: {error.strerror}", err=True)
            raise SystemExit(2) from None
        raise SystemExit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List questions and commands without importing any."""
        with formatter.section("Questions"):
            formatter.write_dl(sorted(sentences().items()))
        with formatter.section("Other commands"):
            stated = stated_commands()
            formatter.write_dl([(name, stated[name]["line"]) for name in COMMANDS])


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
    # A command is over before its garbage weighs: looking for it seldom, and not at the end, saves a tenth of a start.
    gc.set_threshold(100_000)
    try:
        hopper(prog_name="hopper")
    except BrokenPipeError:
        # Python would complain again when it flushes at exit.
        sys.stdout = None
        raise SystemExit(141) from None
    finally:
        gc.freeze()
