"""``hopper stripe``: starts with the recommended layout, and fits the file system to files, folders and Darshan logs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.question import answer, question_command
from hopperkit.questions.question import load
from hopperlib.errors import refusal

if TYPE_CHECKING:
    from hopperkit.questions.question import Question

_MEASURED = "Fit rates, creates and locks to outputs of IOR, mdtest or IO500, or Darshan logs; may be repeated."
_LOG, _HEAD, _MAX_BYTES = re.compile(rb"[23]\.\d\d\0"), 4096, 64_000_000


def _run(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; reject a stripe size alone, which would not affect the recommended layout."""
    if "stripe_mib" in values and "stripe_count" not in values:
        raise refusal("stripe_mib", values["stripe_mib"], "needs --stripe-count: the recommended layout sets the size")
    if paths := values.pop("measured_paths", ()):
        from hopperkit.readers.source import texts_together

        values["measured"] = texts_together({name: text for path in paths for name, text in _texts(Path(path))})
    answer(question, values, as_json, show_all)


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a file, or of all files in a folder; for a Darshan log, its measurements.

    Files of other types are skipped.
    """
    if not path.exists():
        raise refusal("measured", str(path), "is neither a file nor a folder")
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        head = file.open("rb").read(_HEAD)
        if _LOG.match(head):
            from hopperkit.questions.storage._measured_texts import of_log, written
            from hopperkit.readers.darshan import read_darshan

            yield str(file), written(of_log(read_darshan(str(file))))
        elif b"\0" not in head and file.stat().st_size <= _MAX_BYTES:
            yield str(file), file.read_text(errors="replace")


stripe = question_command(
    load("stripe"),
    _run,
    left_out=("measured",),
    parameters=[
        click.Option(["--from", "measured_paths"], multiple=True, metavar="FILE|FOLDER", help=_MEASURED),
    ],
    # Without a stripe count, the recommended layout is requested.
    starting={"stripe_count": 0},
    lines="""
hopper stripe --size 31TB --writers 20000 --pattern shared
hopper stripe --size 2GB --writers 1 --pattern one-writer --machine perlmutter
hopper stripe --size 500GB --writers 960 --pattern file-per-process --osts 40 --ost-rate 500 --json
hopper stripe --size 2TB --writers 65536 --nodes 512 --pattern shared --machine frontier --now "20 min"
hopper stripe --size 2TB --writers 4096 --pattern shared --lfs-df lfs.txt --from io500-results/ --from job.darshan
""",
)
