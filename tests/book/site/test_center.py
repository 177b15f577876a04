"""A center's site: its tool pages are about its machine."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from hopperbook.cells.plain import page_of
from hopperbook.site.assets import machines_module
from hopperbook.site.centers import own
from hopperbook.site.centers.glance import glance
from hopperbook.site.centers.pages import for_machine, for_site
from hopperbook.site.centers.questions import (
    center_question,
    foreign_words,
    is_tool_page,
    lacking_html,
    made_for,
    scripts_of,
    visible,
)
from hopperbook.site.html import explorer_html
from hopperkit.questions.question import Question, load
from hopperlib.errors import InputError
from hopperlib.machine import Machine

#: What the tool pages ask: the front page and `notebooks/own`.
TOOLS = (
    "identify", "place", "diagnose", "memory", "stripe", "chunks", "small-files", "io-log", "simulate", "locality", "runs",
    "runs-needed", "watch",
)  # fmt: skip
# The tool pages that are notebooks; one has no explorer, as it marks a project.
OWN = sorted((Path(__file__).resolve().parents[3] / "notebooks" / "own").glob("*.ipynb"))
# Machines of other launchers, with GPUs and without, with a Lustre file system and without.
SHIPPED = ("frontier", "polaris", "graham", "archer2", "titan")


@pytest.fixture(scope="module")
def file(root):
    return root / "tests" / "book" / "site" / "center" / "site.toml"


@pytest.fixture(scope="module")
def text(file):
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def brindle(text):
    return Machine.from_toml(text)


def said(question, text):
    """All text of an explorer before it is used, except the machine file."""
    whole = json.dumps(question.to_dict(), default=str).replace(json.dumps(text)[1:-1], "")
    return f"{whole}\n{visible(question.run())}"


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_page_is_about_the_sites_machine(name, brindle, text):
    made = made_for(load(name), brindle, text)
    assert isinstance(made, Question)
    assert foreign_words(said(made, text), brindle) == []
    for example in made.examples:
        assert foreign_words(visible(made.run(**example.values)), brindle) == [], example.label
    if "machine_file" in load(name).defaults:
        assert made.defaults["machine_file"] == text


@pytest.mark.parametrize("name", ["identify", "place", "diagnose", "memory", "stripe", "small-files"])
def test_the_answer_names_the_machine_or_its_launcher(name, brindle, text):
    made = made_for(load(name), brindle, text)
    assert any(word in visible(made.run()) for word in ("Brindle", "srun", "lfs setstripe", "SLURM"))


def test_scripts_are_of_the_machines_partitions_and_nodes(brindle, text):
    scripts = scripts_of(brindle)
    assert list(scripts) == ["A job on cpu nodes", "A job on gpu nodes"]
    assert scripts["A job on gpu nodes"].splitlines() == [
        "#!/bin/bash",
        "#SBATCH --partition=gpu",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=4",
        "#SBATCH --gpus-per-node=4",
        "srun ./a.out",
    ]
    for script in scripts.values():
        findings = load("place").run(line=script, machine_file=text).findings
        assert not {"asks-unknown", "nodes-over-limit"} & {finding.code for finding in findings}


@pytest.mark.parametrize("name", SHIPPED)
def test_it_holds_for_machines_of_other_kinds(name):
    """Scripts by another launcher are placed on the machine without a refusal; no control names a machine that is not there."""
    text = (files("hopperlib") / "machines" / f"{name}.toml").read_text(encoding="utf-8")
    machine = Machine.load(name)
    for script in scripts_of(machine).values():
        load("place").run(line=script, machine_file=text)
    for question in ("place", "memory", "identify"):
        made = made_for(load(question), machine, text)
        assert isinstance(made, Question), (name, question, made)
        assert foreign_words(said(made, text), machine) == [], (name, question)


def test_the_history_at_the_start_is_of_no_program_of_another_machine(brindle, text):
    made = made_for(load("watch"), brindle, text)
    assert isinstance(made, Question)
    histories = [made.defaults["history"], *(example.values["history"] for example in made.examples)]
    assert histories[0].startswith("date,program A")
    assert [each for each in histories if re.search(r"GTC|NPB|(?m:^200\d-)", each)] == []
    # The same changes as in the book's, twenty years later.
    books = load("watch").run().summary.replace("GTC", "program B").replace(" 2006-", " 2026-")
    assert made.run().summary == books


def test_what_the_file_does_not_state_is_asked_for(text):
    bare = text[: text.index("[[file_system]]")] + text[text.index("[[launcher]]") :]
    lacking = made_for(load("stripe"), Machine.from_toml(bare), bare)
    assert isinstance(lacking, str)
    assert "file system" in lacking
    assert lacking in BeautifulSoup(lacking_html(load("stripe"), lacking), "html.parser").text


def test_only_tool_pages_change_and_only_at_a_center(monkeypatch, file):
    assert is_tool_page("book/index")
    assert is_tool_page("notebooks/own/your-files")
    assert not is_tool_page("notebooks/node/placement")
    assert center_question(load("place"), "book/index") is None
    monkeypatch.setenv("HOPPER_MACHINE", str(file))
    monkeypatch.setenv("HOPPER_RULES", "")
    own.load_site.cache_clear()
    assert center_question(load("place"), "notebooks/node/placement") is None
    assert center_question(load("place"), "book/index").defaults["line"].endswith("srun ./a.out")
    # The menu at the top offers this machine, and no other.
    module = machines_module().decode()
    assert '"title": "Brindle"' in module
    assert "Frontier" not in module


class _App:
    """The parts of Sphinx that the hook of the pages' sources needs."""

    def __init__(self, root):
        self.srcdir = root
        self.config = type("Config", (), {"root_doc": "book/index", "html_title": "Computing on Brindle"})


def test_front_page_and_first_route_are_the_machines(monkeypatch, root, file, brindle):
    monkeypatch.setenv("HOPPER_MACHINE", str(file))
    monkeypatch.setenv("HOPPER_RULES", "")
    own.load_site.cache_clear()
    front, routes = [""], [(root / "book" / "routes.md").read_text(encoding="utf-8")]
    own.front_page(_App(root), "book/index", front)
    own.front_page(_App(root), "book/routes", routes)
    ours, _, studies = front[0].partition("## The studies of Hopper")
    assert foreign_words(ours, brindle) == []
    for stated in (
        "# Computing on Brindle",
        "| cpu | 20 | 64 in 4 NUMA nodes | 256 GB |",
        "`--partition=gpu`",
        "| work | 12 | 18 GB/s |",
        "`srun`",
    ):
        assert stated in ours
    assert "```{machine}" in studies
    first, _, others = routes[0].partition("## Trainee")
    assert "(one-hour)=" in first
    assert "notebooks/own/your-files" in first
    assert "$machine" not in first
    assert "notebooks/network/torus" in others
    # The explorers of the front page are in the catalogue.
    for line in ours.splitlines():
        if line.startswith("```{explorer}"):
            load(line.removeprefix("```{explorer}").strip())


def test_a_glance_leaves_out_what_is_not_stated(text):
    bare = Machine.from_toml(text[: text.index("[[file_system]]")])
    said = glance(bare)
    assert "| cpu | 20 |" in said
    assert "OSTs" not in said
    assert "Jobs start" not in said


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_tool_page_names_no_other_machine(monkeypatch, file, brindle, text, path):
    """The text and the examples of a page, including the examples' answers."""
    monkeypatch.setenv("HOPPER_MACHINE", str(file))
    monkeypatch.setenv("HOPPER_RULES", "")
    own.load_site.cache_clear()
    cells = for_site(f"notebooks/own/{path.stem}", page_of(path))["cells"]
    assert "".join(cells[0]["source"]).startswith("# ")
    names = []
    for cell in cells:
        words = "".join(cell["source"])
        assert foreign_words(words, brindle) == []
        names += re.findall(r'(?m)^hopperkit\.load\("([\w-]+)"\)\s*$', words)
    assert set(names) <= set(TOOLS)
    assert names or path.stem == "your-project"
    # Every question of these pages is tried above; none of them runs Python on a sample of the book, and each runs alone.
    if names:
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        assert [text.split("\n\n")[0] for text in code] == ["import hopperkit"] * len(names)
        # A tool's code is for nobody who came for the tool.
        assert {tuple(cell["metadata"]["tags"]) for cell in cells if cell["cell_type"] == "code"} == {("hide-input",)}


def test_a_command_names_the_sites_file(brindle):
    fenced = "```console\n$ hopper place --machine perlmutter job.sh\n$ papermill a.ipynb b.ipynb\n```"
    assert for_machine(fenced, brindle) == "```console\n$ hopper place --machine brindle.toml job.sh\n```"
    assert for_machine("```console\n$ papermill a.ipynb b.ipynb\n```", brindle) == ""
    said = "Choose your machine first, and drop a file. The last example is of Frontier. It stays here."
    assert for_machine(said, brindle) == "Drop a file. It stays here."


@pytest.mark.parametrize("slides", ["slides", "slides-workshop"])
def test_the_slides_are_about_the_sites_machine(root, brindle, slides):
    """Their explorers are tools too; texts on Hopper, and slides that show it, are left out."""
    text = for_machine((root / "book" / f"{slides}.md").read_text(encoding="utf-8"), brindle)
    assert re.findall(r"MILC|twelve tasks|twenty-four|\{machine\}|\{scene\} placement|% Of Hopper", text) == []
    assert "## Your" in text
    assert "## Bytes dealt to OSTs" in text
    assert set(re.findall(r"```\{explorer\} ([\w-]+)", text)) <= set(TOOLS)
    # What a directive sets in the book is for the book's machine; on a tool page the site's takes its place.
    assert foreign_words(re.sub(r"(?m)^:.*$", "", text), brindle) == []


def test_an_explorer_of_a_site_has_no_menu_of_other_machines(brindle, text):
    made = made_for(load("place"), brindle, text)
    page = BeautifulSoup(explorer_html(made, key="place", ours=False), "html.parser")
    assert page.select("select[name=machine]") == []
    assert page.select_one("textarea[name=machine_file]").text.strip() == text.strip()
    assert "Brindle" in page.select_one(".hopper-summary").text


@pytest.mark.parametrize(
    ("script", "messages"),
    [
        ("#SBATCH -p nosuch\nsrun -n 4 ./a.out", ["partition=nosuch does not exist on Brindle"]),
        (
            "#SBATCH -p nosuch\n#SBATCH -N 90\nsrun ./a.out",
            ["partition=nosuch does not exist on Brindle", "asks for 90 nodes; Brindle has 20"],
        ),
        ("#SBATCH -p gpu\n#SBATCH -N 5\nsrun ./a.out", ["asks for 5 nodes; Brindle has 4 of kind 'gpu'"]),
    ],
)
@pytest.mark.parametrize(("question", "control"), [("identify", "text"), ("place", "line")])
def test_an_unknown_partition_is_named(question, control, script, messages, text):
    try:
        answer = load(question).run(**{control: script, "machine_file": text}).summary
    except InputError as error:
        answer = str(error)
    assert "no question can read" not in answer
    for message in messages:
        assert message in answer
