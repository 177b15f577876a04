"""The installed package stands alone: built as a wheel, used in an empty folder, with nothing but click and rich."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

# What click and rich need to run: the only packages the wheel may lean on.
DEPENDENCIES = ("click", "rich", "markdown_it", "mdurl", "pygments")


def _run(command, **options):
    """Run a command to its end and return it; fail with what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The wheel of this package, built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=root)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment with the wheel, and what runs a command in it, in an empty folder."""
    environment = tmp_path_factory.mktemp("environment")
    _run([sys.executable, "-m", "venv", "--without-pip", environment])
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    _run([*pip, "--disable-pip-version-check"])
    packages = next((environment / "lib").glob("python*/site-packages"))
    for name in DEPENDENCIES:
        (packages / name).symlink_to(Path(importlib.util.find_spec(name).origin).parent)
    empty = tmp_path_factory.mktemp("empty")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(name, *arguments):
        return _run([environment / "bin" / name, *arguments], cwd=empty, env=kept)

    return run


def test_wheel_holds_package_and_data_once(wheel, root):
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"hopperlib"}
    data = {f"hopperlib/{path.relative_to(root)}" for path in (root / "data").rglob("*") if path.is_file()}
    assert data <= set(names)
    assert not [name for name in names if name.endswith(".pyc")]
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]


def test_wheel_is_the_copy_that_is_used(installed):
    where = installed("python", "-c", "import hopperlib; print(hopperlib.__file__)").stdout
    assert "site-packages" in where


def test_command_runs(installed):
    listed = installed("hopper", "machine", "list").stdout
    assert "hopper" in listed
    assert "franklin" in listed


def test_command_places_a_line(installed):
    assert '"launcher": "aprun"' in installed("hopper", "place", "--json", "aprun -n 24 a.out").stdout


def test_data_is_found(installed):
    program = "from hopperlib import documented; print(len(documented.all_values()))"
    assert int(installed("python", "-c", program).stdout) > 100
