"""pyproject.toml, the lock files, the conda environment and the citation say the same."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hopperlib

# What `make lock` locks. darshan has a lock of its own.
LOCKED_EXTRAS = ("analysis", "notebooks", "book", "test", "cluster", "mcp")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def project(root):
    """The table [project] of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _requirements(project, extras):
    """Requirements of the package and of these extras, each once, without references to other extras."""
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    return list(dict.fromkeys(line for lines in lists for line in lines if not line.startswith("hopper-book[")))


def _locked(path):
    """Lines of a lock file as requirements, comments and hashes left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Requirement(line.removesuffix(" \\")) for line in lines if line and not line.startswith(("#", " "))]


@pytest.mark.parametrize(
    ("name", "extras"), [("requirements.lock", LOCKED_EXTRAS), ("requirements-darshan.lock", ("darshan",))]
)
def test_locks_fit_pyproject(root, project, name, extras):
    locked = _locked(root / name)
    for line in _requirements(project, extras):
        wanted = Requirement(line)
        for python in PYTHONS:
            surroundings = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
            if wanted.marker and not wanted.marker.evaluate(surroundings):
                continue
            versions = [
                str(entry.specifier).removeprefix("==")
                for entry in locked
                if canonicalize_name(entry.name) == canonicalize_name(wanted.name)
                and (entry.marker is None or entry.marker.evaluate(surroundings))
            ]
            assert len(versions) == 1, f"{name} gives {versions} for {line} on Python {python}: run `make lock`"
            assert wanted.specifier.contains(versions[0]), f"{name} has {versions[0]} for {line}: run `make lock`"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-darshan.lock", "requirements-uv.lock"])
def test_locks_hold_exact_versions_and_hashes_and_no_addresses(root, name):
    text = (root / name).read_text(encoding="utf-8").replace(" \\\n", "")
    for line in text.splitlines():
        assert re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+( ; .+?)?(    --hash=sha256:[0-9a-f]{64})+", line), (
            line
        )


def test_browser_lock_fits_package_json(root):
    package = json.loads((root / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((root / "package-lock.json").read_text(encoding="utf-8"))
    for kind in ("dependencies", "devDependencies"):
        assert lock["packages"][""].get(kind, {}) == package.get(kind, {})
        for name, version in package.get(kind, {}).items():
            assert lock["packages"][f"node_modules/{name}"]["version"] == version, "write exact versions"
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, f"{name} names the address it came from: run `make lock`"
        assert name == "" or entry["integrity"].startswith("sha512-"), f"{name} has no hash"


def test_conda_environment_is_the_lock(root, project):
    environment = yaml.safe_load((root / "environment.yml").read_text(encoding="utf-8"))
    *from_conda, from_pip = environment["dependencies"]
    assert from_conda == [f"python{project['requires-python']},<3.15", "make", "pip"]
    assert from_pip == {"pip": ["-r requirements.lock"]}


def test_core_needs_two_packages_for_the_command(project):
    assert [Requirement(line).name for line in project["dependencies"]] == ["click", "rich"]


def test_citation(root, project):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(citation), "the three keys that the format asks for"
    assert citation["version"] == hopperlib.__version__
    assert " AND ".join(citation["license"]) == project["license"]
    assert all("name" in author or "family-names" in author for author in citation["authors"])


def test_changelog_knows_the_version(root):
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", changelog, flags=re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0].startswith(hopperlib.__version__)
    kinds = set(re.findall(r"^### (.+)$", changelog, flags=re.MULTILINE))
    assert kinds <= {"Breaking", "New", "Fixed", "Data"}
