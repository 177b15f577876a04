"""Files served by the pages."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sphinx.errors import ExtensionError

from hopperbook.questions import QUESTIONS
from hopperbook.site import assets
from hopperbook.site.extension import content_hash


@pytest.fixture(scope="module")
def collected(root):
    return assets.collect(root / "node_modules", root / "data", root / "_build" / ".memories")


@pytest.fixture(scope="module")
def package(root):
    return zipfile.ZipFile(io.BytesIO(assets.package_zip(root / "data")))


def test_the_package_is_the_same_each_time(root, package):
    again = zipfile.ZipFile(io.BytesIO(assets.package_zip(root / "data")))
    assert again.fp.getvalue() == package.fp.getvalue()
    assert {entry.date_time for entry in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_package_needs_the_standard_library_alone(package):
    """At import; imports inside functions run only when needed."""
    for name in package.namelist():
        if not name.endswith(".py"):
            continue
        for node in ast.parse(package.read(name)).body:
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [node.module]
            for module in modules:
                assert module.split(".")[0] in {"hopperlib", "hopperkit", "hopperbook", *sys.stdlib_module_names}, (
                    f"{name} imports {module}"
                )
                if module.startswith(("hopperlib", "hopperkit", "hopperbook")):
                    path = module.replace(".", "/")
                    assert {f"{path}.py", f"{path}/__init__.py"} & set(package.namelist()), f"{name} imports {module}"


def test_the_package_holds_every_explorer_and_what_it_reads(package, root):
    names = set(package.namelist())
    for module in QUESTIONS.values():
        assert f"{module.replace('.', '/')}.py" in names or f"{module.replace('.', '/')}/__init__.py" in names
    for machine in (root / "hopperlib" / "machines").glob("*.toml"):
        assert f"hopperlib/machines/{machine.name}" in names
    assert not [name for name in names if name.startswith(("hopperkit/cli", "hopperkit/render/widgets"))]


def test_the_folder_is_named_by_its_content(collected):
    changed = assets.Assets(collected.files | {"live.mjs": b"// other"})
    assert re.fullmatch("live-[0-9a-f]{12}", collected.folder)
    assert changed.folder != collected.folder
    assert assets.Assets(dict(reversed(collected.files.items()))).folder == collected.folder


def test_files_are_written_once(tmp_path, collected):
    small = assets.Assets({"a/b.txt": b"text"})
    small.write(tmp_path)
    written = tmp_path / small.folder / "a" / "b.txt"
    assert written.read_bytes() == b"text"
    written.write_bytes(b"kept")
    small.write(tmp_path)
    assert written.read_bytes() == b"kept"
    (tmp_path / small.folder / "complete").unlink()
    small.write(tmp_path)
    assert written.read_bytes() == b"text"


def test_the_chart_library_is_the_one_that_jupyterlab_has(root):
    """The same figure must look the same in both."""
    from plotly.offline import get_plotlyjs_version

    package = json.loads((root / "node_modules" / "plotly.js-cartesian-dist-min" / "package.json").read_text("utf-8"))
    assert package["version"] == get_plotlyjs_version()


def test_installed_browser_parts_are_those_of_the_lock(root):
    locked = json.loads((root / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = json.loads((root / "package.json").read_text("utf-8"))
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert locked[f"node_modules/{name}"]["version"] == version, "versions are exact"
        installed = json.loads((root / "node_modules" / name / "package.json").read_text("utf-8"))
        assert installed["version"] == version


def test_the_lock_names_no_address(root):
    assert "http" not in (root / "package-lock.json").read_text("utf-8")


def test_pyodide_is_offered_no_packages(collected):
    assert json.loads(collected.files["pyodide/pyodide-lock.json"])["packages"] == {}


def test_our_own_files_name_no_other_host(root):
    for path in (root / "book" / "hopperbook" / "site" / "browser").rglob("*"):
        text = path.read_text(encoding="utf-8")
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        # The name of SVG's namespace looks like an address and is none.
        assert hosts <= {"www.w3.org"}, path.name


@pytest.mark.parametrize(
    "missing", ["pyodide/pyodide.asm.wasm", "plotly.js-cartesian-dist-min/plotly-cartesian.min.js"]
)
def test_a_missing_part_is_one_clear_error(root, tmp_path, missing):
    npm = assets.tables()["npm"]
    bundled = [f"{name}/package.json" for name in (*npm["bundled"], "esbuild")]
    for name in [*npm["files"], "pyodide/pyodide-lock.json", *bundled]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(root / "node_modules" / name)
    assert assets.collect(tmp_path, root / "data", root / "_build" / ".memories").files
    (tmp_path / missing).unlink()
    with pytest.raises(ExtensionError, match=rf"{missing} is missing below .*npm ci"):
        assets.collect(tmp_path, root / "data", root / "_build" / ".memories")


def test_a_changed_model_or_datum_is_noticed(tmp_path, monkeypatch):
    """Jupyter's cache looks at cells only: this hash is in its path."""
    package = tmp_path / "hopperlib"
    site = package / "site"
    site.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    model, datum, lock, look = (
        package / "model.py",
        tmp_path / "data" / "d.csv",
        tmp_path / "requirements.lock",
        site / "a.css",
    )
    for path in (model, datum, lock, look):
        path.write_text("1", encoding="utf-8")
    monkeypatch.setattr("hopperbook.site.extension.PACKAGES", (package,))
    monkeypatch.setattr("hopperbook.site.extension.HERE", site)

    def hashes():
        return content_hash(tmp_path, with_site=False), content_hash(tmp_path, with_site=True)

    before = hashes()
    assert hashes() == before
    for path in (model, datum, lock):
        path.write_text(path.name, encoding="utf-8")
        assert all(new != old for new, old in zip(hashes(), before, strict=True))
        before = hashes()
    look.write_text("2", encoding="utf-8")
    after = hashes()
    # Notebooks need not run again for a new look, but pages are rewritten.
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_scripts_are_modules_of_moderate_size(root):
    for path in Path(root / "book" / "hopperbook" / "site" / "browser").glob("*.mjs"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path.name


def test_of_two_builds_one_makes_the_machine_and_the_other_waits(tmp_path, monkeypatch):
    begun = []

    def machine_files():
        begun.append(1)
        time.sleep(0.2)
        return {f"{part}.json": bytes(100_000) for part in range(20)}

    monkeypatch.setattr("hopperbook.site.machine_view.machine_files", machine_files)
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(assets._machine, tmp_path) for _ in range(2)]
    assert made[0].result() == made[1].result()
    assert len(made[0].result()) == 20
    assert len(begun) == 1
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".lock", ".zip"]


ORDERED = """
import hashlib, pathlib, sys
from hopperbook.site import assets, finder
data = finder.finder_data(assets.ROOT / "notebooks"), assets.machines_module(), assets.package_zip(assets.ROOT / "data")
print([hashlib.sha256(part).hexdigest() for part in data])
"""


def test_what_is_made_of_sources_is_the_same_in_every_process(root):
    """Names in the order of a set differ from process to process: each build would rewrite every page."""
    said = {
        subprocess.run(
            [sys.executable, "-c", ORDERED],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said.pop().count(",") == 2
