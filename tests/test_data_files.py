"""The data folder is found in the repository and inside an installed package."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from hopperlib import data_files as files
from hopperlib.data_files import data_folder

PROGRAM = "from hopperlib.data_files import data_folder, rows; print(len(rows('documented.csv')), data_folder())"


def test_repository_has_it_at_the_root(root):
    assert data_folder() == root / "data"


def test_installed_package_has_it_inside(root, tmp_path):
    # A wheel and the browser's zip have hopperlib/data; a folder called data beside the package is somebody else's.
    (tmp_path / "hopperlib").mkdir()
    for module in ("__init__.py", "data_files.py"):
        shutil.copy(root / "hopperlib" / module, tmp_path / "hopperlib")
    shutil.copytree(root / "data", tmp_path / "hopperlib" / "data", ignore=shutil.ignore_patterns("samples"))
    (tmp_path / "data").mkdir()
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    count, folder = done.stdout.split(maxsplit=1)
    assert int(count) > 800
    assert folder.strip() == str(tmp_path / "hopperlib" / "data")


def test_missing_data_names_both_places(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "__file__", str(tmp_path / "hopperlib" / "files.py"))
    with pytest.raises(FileNotFoundError) as error:
        data_folder.__wrapped__()  # Past what it remembers.
    assert str(error.value) == f"no documented.csv in {tmp_path / 'hopperlib' / 'data'} nor in {tmp_path / 'data'}"
