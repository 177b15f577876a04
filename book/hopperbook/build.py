"""Build the book: ``python -m hopperbook.build``.

Into ``_build/html``; every warning is an error. Notebooks are executed unless
Jupyter's cache has their outputs for exactly these models, data and packages.
"""

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def build(root: Path, output: Path, *, fresh: bool = False) -> int:
    """Build the book of a repository.

    Parameters
    ----------
    root : Path
        Folder that holds ``book/_config.yml`` and ``book/_toc.yml``.
    output : Path
        Folder for pages (``html``) and the cache of outputs.
    fresh : bool
        Whether to forget all that earlier builds left.

    Returns
    -------
    int
        0, or another number if there was an error or a warning.
    """
    if fresh:
        for name in ("html", ".doctrees", ".jupyter_cache", "jupyter_execute"):
            shutil.rmtree(output / name, ignore_errors=True)
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(root)]
    # On a center's site, the tools of its users come first.
    toc = "_toc-site.yml" if os.environ.get("HOPPER_MACHINE") else "_toc.yml"
    command += ["--config", str(root / "book" / "_config.yml"), "--toc", str(root / "book" / toc)]
    # Jupyter Book adds the folder _build itself.
    command += ["--path-output", str(output.parent), "-W", "-n", "--keep-going"]
    output.mkdir(parents=True, exist_ok=True)
    # No two builds write into the folder at once.
    with (output / ".lock").open("w") as lock:
        # The lock ends with the process, however that ends.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(command, cwd=root, check=False).returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Build from the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m hopperbook.build", description="Build the book into _build/html.")
    parser.add_argument(
        "--fresh", action="store_true", help="forget what earlier builds left, outputs of notebooks too"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="repository to build")
    parser.add_argument("--machine", metavar="FILE", type=os.path.abspath, help="machine file with which pages start")
    parser.add_argument("--title", help="title of the site")
    parser.add_argument("--repository", metavar="URL", help="of the notebooks in public, which Binder then opens")
    parser.add_argument("--hub", metavar="URL", help="JupyterHub with nbgitpuller that opens them too")
    given = parser.parse_args(arguments)
    root = given.root.resolve()
    if not (root / "book" / "_toc.yml").exists():
        print(f"hopper: {root} holds no book: book/_toc.yml is missing", file=sys.stderr)
        return 2
    named = {f"HOPPER_{name.upper()}": getattr(given, name) for name in ("machine", "title", "repository", "hub")}
    os.environ.update({name: value for name, value in named.items() if value})
    begun = time.perf_counter()
    status = build(root, root / "_build", fresh=given.fresh)
    if status == 0:
        print(
            f"The book is in {root / '_build' / 'html'} ({time.perf_counter() - begun:.0f} s). Read it with `make book`."
        )
    else:
        print("hopper: the book was not built: see the warnings and errors above", file=sys.stderr)
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
