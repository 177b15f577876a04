"""Tables of the package: read unchanged, cached next to the bytecode, and read again when the file has changed."""

import os
import sys

import pytest

from hopperlib.package_data import load_csv_resource, load_toml_resource


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "tides.toml").write_text("high = 3\n[[moon]]\nname = 'new'\n", encoding="utf-8")
    (tmp_path / "tides.csv").write_text("hour,height_m\n6,3.5\n", encoding="utf-8")
    return tmp_path


def _toml(folder):
    return load_toml_resource(str(folder / "module.py"), "tides.toml")


def test_a_file_is_read_again_when_it_has_changed(folder):
    assert _toml(folder) == _toml(folder) == {"high": 3, "moon": [{"name": "new"}]}
    # Of one size and time, as the files of two releases may be.
    for high in (4, 5):
        (folder / "tides.toml").write_text(f"high = {high}\n", encoding="utf-8")
        os.utime(folder / "tides.toml", (1, 1))
        assert _toml(folder) == {"high": high}


def test_what_is_kept_takes_no_modules_place(folder):
    _toml(folder)
    load_csv_resource.__wrapped__(str(folder / "module.py"), "tides.csv")
    names = {path.name.split(".cpython")[0] for path in (folder / "__pycache__").iterdir()}
    assert names == {"tides.toml", "tides.csv"}


def test_what_is_kept_is_what_is_read(folder, monkeypatch):
    first = _toml(folder)
    first["high"] = 5
    monkeypatch.setitem(sys.modules, "tomllib", None)
    # Without a parser there is only what was kept, and a caller's change is not in it.
    assert _toml(folder)["high"] == 3


def test_nothing_is_written_where_python_writes_no_bytecode(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load_csv_resource.__wrapped__(str(folder / "module.py"), "tides.csv") == ({"hour": "6", "height_m": "3.5"},)
    assert not (folder / "__pycache__").exists()
