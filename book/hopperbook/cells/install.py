"""Install the book where it is not installed: from the notebook's repository, or from a copy that is fetched."""

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("hopperkit") is None or importlib.util.find_spec("hopperbook") is None:
    folders = [each for each in (Path.cwd(), *Path.cwd().parents) if (each / "book/hopperbook").is_dir()]
    source = folders[0] if folders else Path("hopper-book").resolve()
    if not source.is_dir():
        address = os.environ.get("HOPPER_REPOSITORY") or input("Address of the book's Git repository: ")
        subprocess.run(["git", "clone", "--depth=1", address, str(source)], check=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--editable", f"{source}[notebooks]"], check=True)
    subprocess.run([*pip, "--no-deps", "--editable", f"{source}/book"], check=True)
    sys.path += [str(source), f"{source}/book"]
    importlib.invalidate_caches()
