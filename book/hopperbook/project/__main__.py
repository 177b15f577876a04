"""``python -m hopperbook.project``: write a project pack, and its key for the instructor."""

from pathlib import Path

import click

from hopperbook.project.pack import LARGEST_SEED, pack, toml_of, write_pack
from hopperlib.errors import InputError


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--seed", type=click.IntRange(0, LARGEST_SEED), required=True, help="Number that makes the pack.")
@click.option("--key", metavar="FILE", type=click.Path(path_type=Path), help="Write the key of the pack to this file.")
def project(folder: Path | None, seed: int, key: Path | None) -> None:
    """Write the project pack of a seed into FOLDER, and with --key the key to it.

    Everything in a pack is synthetic; the same seed makes the same files. Without FOLDER only the key is written.
    """
    if folder is None and key is None:
        raise click.UsageError("give a FOLDER for the pack, or --key FILE, or both")
    try:
        if folder is not None:
            files = write_pack(seed, folder)
            click.echo(f"{folder}: {len(files)} files of the pack with seed {seed}")
        if key is not None:
            key.write_text(f"# The key of the pack with seed {seed}.\n\n{toml_of(pack(seed).key)}", encoding="utf-8")
            click.echo(f"{key}: the key")
    except InputError as error:
        raise click.ClickException(error.message) from error
    except OSError as error:
        raise click.ClickException(f"{key}: cannot be written: {error.strerror or error}") from error


if __name__ == "__main__":
    project(prog_name="python -m hopperbook.project")
