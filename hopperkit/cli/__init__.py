"""The ``hopper`` command: the book's models for your launch lines, traces and logs.

Each command is a module that is imported only when called, so that ``hopper`` starts at once. Exit status: 0 success, 1
a problem was found, 2 bad input.
"""

import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from hopperkit.questions.catalogue import QUESTIONS, sentences
from hopperlib import __version__

# Commands other than questions: name -> module with an attribute of that name, and the description in the list.
COMMANDS: dict[str, tuple[str, str]] = {
    "machine": ("node.machine", "List, show, compare, check and write machine files."),
    "nodes": ("network.nodes", "Locations of a machine's nodes, on the floor and in the torus."),
    "fit": ("analysis", "The distribution of run times, their spread, and the repeats needed to show a change."),
    "io": ("storage.io", "Results of IOR, mdtest, IO500 and Darshan, as tables and findings."),
    "report": ("analysis", "A report on your files as one HTML page, for use with cron."),
    "trace": (
        "network.trace",
        "The scheduler of a job log: its rules, a test of them on later weeks, why a job waited.",
    ),
    "ensemble": ("analysis", "A question over many settings and seeds, in processes or on a cluster."),
    "mcp": ("elsewhere.assistants", "The questions as tools for an assistant, over the Model Context Protocol."),
}
# Questions whose command has additional options or output.
OPTION_MODULES: dict[str, str] = {
    "place": "node.place",
    **{name: f"network.{name.replace('-', '_')}" for name in ("torus", "rank-order", "simulate")},
    "stripe": "storage.stripe",
    **{name: f"failure.{name}" for name in ("diagnose", "build", "preflight")},
    "watch": "watch",
}
# A form of `place` that must start fast, because a user waits at the prompt.
_SUBMIT = "--from-slurm-json"
# Removed commands, and their replacements.
_REPLACED = {
    "questions": "hopper --help lists them",
    "machines": "hopper machine compare",
    **{name: f"python -m hopperbook {name}, in the repository" for name in ("documented", "errata", "scorecard")},
}
# Earlier names of commands, which work until the next release.
_RENAMED = {"anything": "identify", "where": "locality"}
NAMES: tuple[str, ...] = (*(name for name in QUESTIONS if name not in _REPLACED), *COMMANDS)
_MODULES: dict[str, str] = {name: module for name, (module, _) in COMMANDS.items()} | OPTION_MODULES
# Packages missing from a plain install, by the extra that installs them.
_EXTRAS = {
    "analysis": (
        "numpy",
        "scipy",
        "pandas",
        "statsmodels",
        "ruptures",
        "pyarrow",
        "matplotlib",
        "tqdm",
        "joblib",
        "cloudpickle",
    ),
    "notebooks": ("plotly", "anywidget", "ipywidgets"),
    "cluster": ("dask", "distributed", "dask_jobqueue"),
    "darshan": ("darshan",),
    "mcp": ("mcp", "mcp_types", "anyio"),
}
_UNWRITABLE = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG)


def _refuse(error: click.ClickException, *, as_json: bool) -> NoReturn:
    """Exit with click's error as one line, or as JSON; a group without a command shows its help."""
    from hopperkit.cli.common import fail
    from hopperkit.render.text import printable

    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not as_json:
        error.show(sys.stdout)
        raise SystemExit(0)
    message = printable(" ".join(error.format_message().split()))
    if as_json:
        option = getattr(error, "option_name", None) or getattr(getattr(error, "param", None), "name", None)
        fail(message, as_json=True, details={"flag": option} if option else {})
    where = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        where = f" (see {error.ctx.command_path} --help)"
    click.echo(f"hopper: {message}{where}", err=True)
    raise SystemExit(error.exit_code)


def _refuse_without(error: ModuleNotFoundError, *, as_json: bool) -> NoReturn:
    """Exit and name the extra that contains the missing package; any other missing module is a bug."""
    from hopperkit.cli.common import fail

    package = (error.name or "").split(".")[0]
    extra = next((extra for extra, has in _EXTRAS.items() if package in has), None)
    if extra is None:
        raise error
    fail(f"this command needs {error.name}: pip install '.[{extra}]' in the folder of the repository", as_json=as_json)


class LazyGroup(click.Group):
    """A group that lists its commands by name and imports each one when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the questions, then of the other commands."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a command."""
        if name == _SUBMIT:
            from hopperkit.cli.elsewhere.submit import submit

            return submit
        if name not in NAMES:
            return None
        if name in _MODULES:
            module = importlib.import_module(f"hopperkit.cli.{_MODULES[name]}")
            command: click.Command = getattr(module, name.replace("-", "_"))
            return command
        from hopperkit.cli.question import question_command
        from hopperkit.questions.question import load

        return question_command(load(name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the closest command if the given one does not exist."""
        if args and args[0] in _REPLACED:
            raise click.UsageError(f"the command '{args[0]}' was removed: {_REPLACED[args[0]]}", ctx)
        if args and args[0] in _RENAMED:
            args = [_RENAMED[args[0]], *args[1:]]
        if args[:1] == ["place"] and _SUBMIT in args:
            return _SUBMIT, self.get_command(ctx, _SUBMIT), args[1:]
        # A single file or pipe argument is identified.
        if args and args[0] not in NAMES and (args[0] == "-" or os.path.isfile(args[0])):
            args = ["identify", *args]
        if args and args[0] not in NAMES:
            from hopperlib.errors import did_you_mean

            if {".", "/"} & set(args[0]):
                raise click.UsageError(f"there is no file or command named '{args[0]}'", ctx)
            raise click.UsageError(f"there is no command '{args[0]}'{did_you_mean(args[0], NAMES)}", ctx)
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
        # The caller, such as a test, handles exceptions.
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **more)
        if not words and f"_{name.replace('-', '_').upper()}_COMPLETE" not in os.environ:
            from hopperkit.cli.first_screen import first_screen

            click.echo(first_screen())
            raise SystemExit(0)
        # Requests for shell completions are answered here, and the program exits.
        self._main_shell_completion(more, name, complete_var)
        try:
            with self.make_context(name, words, **more) as context:
                self.invoke(context)
            # Closed before the command began: its output is lost, which must not count as success.
            if sys.stdout is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            # Report a full disk now: an error at exit would not be caught.
            sys.stdout.flush()
        except click.exceptions.Exit as error:
            raise SystemExit(error.exit_code) from None
        except (KeyboardInterrupt, EOFError, click.Abort):
            click.echo("Aborted!", err=True)
            raise SystemExit(1) from None
        except click.ClickException as error:
            _refuse(error, as_json=as_json)
        except ModuleNotFoundError as error:
            _refuse_without(error, as_json=as_json)
        except OSError as error:
            if error.errno not in _UNWRITABLE:
                raise
            # The rest of the buffer would fail again at exit.
            sys.stdout = None
            click.echo(f"hopper: cannot write to standard output: {error.strerror}", err=True)
            raise SystemExit(2) from None
        raise SystemExit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List questions and commands without importing any."""
        from hopperkit.cli.first_screen import STUDIES

        texts = {name: text for name, text in sentences().items() if name in NAMES}
        with formatter.section("Questions"):
            formatter.write_dl(sorted((name, text) for name, text in texts.items() if name not in STUDIES))
        with formatter.section("Other commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Questions of the studies only"):
            formatter.write_dl([(name, texts[name]) for name in STUDIES])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hopper")
def hopper() -> None:
    """Place tasks, size memory, read logs: the models of the Hopper book in a terminal.

    Each command prints text for people, or with --json data for programs.
    Exit status: 0 fine, 1 problem found, 2 bad input.
    """


def main() -> None:
    """Run ``hopper``; a closed pipe (``| head``) and Ctrl-C end it quietly.

    Raises
    ------
    SystemExit
        With the status of the command, if it is not 0.
    """
    if sys.stdin is None:
        # Closed before the command began (``<&-``): treated as empty, which each command reports.
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    # Commands end before garbage matters: collecting it rarely, and not at the end, saves a tenth of the start time.
    gc.set_threshold(100_000)
    try:
        hopper(prog_name="hopper")
    except BrokenPipeError:
        # Otherwise, Python would complain again when flushing at exit.
        sys.stdout = None
        raise SystemExit(141) from None
    finally:
        gc.freeze()
