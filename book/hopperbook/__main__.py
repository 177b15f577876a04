"""``python -m hopperbook``: the book's tables on the command line."""

import click

from hopperbook.questions import BOOK_QUESTIONS, load
from hopperkit.cli import LazyGroup
from hopperkit.cli.question import question_command
from hopperlib.errors import did_you_mean


class BookGroup(LazyGroup):
    """The commands of the book, which refuse bad input as ``hopper`` does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the questions of the book."""
        return list(BOOK_QUESTIONS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Make the command of a question."""
        return question_command(load(name)) if name in BOOK_QUESTIONS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the closest command if the given one does not exist."""
        if args and args[0] not in BOOK_QUESTIONS:
            raise click.UsageError(
                f"there is no command '{args[0]}'{did_you_mean(args[0], tuple(BOOK_QUESTIONS))}", ctx
            )
        return click.Group.resolve_command(self, ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the questions of the book, each in one sentence."""
        with formatter.section("Questions"):
            formatter.write_dl([(name, load(name).question) for name in BOOK_QUESTIONS])


@click.group(cls=BookGroup, context_settings={"help_option_names": ["-h", "--help"]})
def book() -> None:
    """Show the documented values, the errata of their sources, and how well the models give them."""


if __name__ == "__main__":
    book(prog_name="python -m hopperbook")
