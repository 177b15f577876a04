"""The licence texts that the site ships."""

from __future__ import annotations

import json

import pytest

from hopperbook.site.assets import licence_texts, write_licences
from hopperbook.site.html import tables


def test_every_part_has_its_text(root):
    texts = licence_texts(root, root / "node_modules")
    npm = tables()["npm"]
    parts = {name.split("/")[name.startswith("@")] for name in [*npm["files"], *npm["bundled"]]}
    assert set(texts) == {f"{part}.txt" for part in parts} | {"hopperlib.txt", "book.txt", "python-library.txt"}
    for part, words in (
        ("pyodide", "Mozilla Public License"),
        ("python-library", "PYTHON SOFTWARE FOUNDATION LICENSE"),
        ("source-sans-3", "SIL OPEN FONT LICENSE"),
        ("plotly.js-cartesian-dist-min", "Permission is hereby granted, free of charge"),
    ):
        assert words in texts[f"{part}.txt"]


def test_the_list_names_every_file(root, tmp_path):
    write_licences(tmp_path, root, root / "node_modules")
    page = (tmp_path / "index.html").read_text()
    assert all(f'href="{file.name}"' in page for file in tmp_path.glob("*.txt"))


def test_a_part_without_a_text_stops_the_build(root, tmp_path):
    npm = tables()["npm"]
    for name in {"/".join(name.split("/")[: 1 + name.startswith("@")]) for name in [*npm["files"], *npm["bundled"]]}:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "package.json").write_text(json.dumps({"license": "WTFPL"}))
    with pytest.raises(FileNotFoundError, match="has no file of its licence, WTFPL"):
        licence_texts(root, tmp_path)
