"""Search entries in addition to the words of pages: messages of the diagnosis, problems of builds, options, fields of
explorers, and the commands, terms and headings of notebooks.

Each is an entry with a title, its words and the explorer that answers; `browser/finder.mjs` looks the words of a search up.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hopperkit.launchers.options import option_table
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperlib.failure.builds.rules import load_build_rules
from hopperlib.failure.messages.rules import read_rules, rule_texts

_WORD = re.compile(r"(?<!\S)-[A-Za-z](?![^\s=])|[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*")
_ENDING = re.compile(r"(?<=...)(?:ing|ed|(?<!s)s)$")
_LOADED = re.compile(r"""load\(["']([\w-]+)["']\)""")
# What a notebook names: commands and settings, terms of the glossary, headings.
_NAMED = re.compile(r"`([^`\n]+)`|#term-([\w-]+)\)|^#+ (.+)$", re.MULTILINE)
_PROGRAMS = ("srun", "sbatch", "aprun", "mpiexec", "mpirun")


class Entry(NamedTuple):
    """Something that a search may mean.

    Parameters
    ----------
    explorer : str
        The explorer that answers.
    title : str
        Its kind, in words; empty if the title of the page names it.
    text : str
        All its words.
    control, value : str
        Initial values of the explorer that show it; empty for the defaults.
    """

    explorer: str
    title: str
    text: str
    control: str = ""
    value: str = ""


def words(text: str) -> list[str]:
    """Return the words of a text in search form: in lower case, without endings, compounds whole and in parts.

    Examples
    --------
    >>> words("Killed by MPI_Abort")
    ['kill', 'by', 'mpi_abort', 'mpi', 'abort']
    >>> words("srun -c 4 --cpus-per-task")
    ['srun', '-c', '4', 'cpus-per-task', 'cpu', 'per', 'task']
    """
    found: dict[str, None] = {}
    for whole in _WORD.findall(text):
        if whole.startswith("-"):
            found[whole] = None
            continue
        parts = re.split("[_-]", whole.lower())
        for part in [whole.lower(), *parts] if len(parts) > 1 else parts:
            found[_ENDING.sub("", part)] = None
    return list(found)


def _messages() -> Iterator[Entry]:
    """Yield an entry for each message of the diagnosis, and for each problem of builds."""
    for rule in read_rules(rule_texts()):
        texts = [rule.code.replace("-", " "), rule.title, *rule.anchors, *rule.positive]
        yield Entry("diagnose", rule.title, " ".join(texts), "log", rule.positive[0])
    for problem in load_build_rules():
        yield Entry("build", problem.title, " ".join([problem.code.replace("-", " "), problem.title, problem.symptom]))


def _options() -> Iterator[Entry]:
    """Yield an entry for each option of a launcher, under the names of all programs that take it."""
    taken: dict[str, list[str]] = {}
    for program in _PROGRAMS:
        for option in option_table(program):
            taken.setdefault(" ".join(option.names), []).append(program)
    for names, programs in taken.items():
        yield Entry("place", f"{names.split()[-1]} of {', '.join(programs)}", f"{names} {' '.join(programs)}")


def _fields() -> Iterator[Entry]:
    """Yield an entry for each explorer, with the words of its fields."""
    for name in QUESTIONS:
        if name == "identify":
            continue
        question = load(name)
        said = [question.title, question.question, *(example.label for example in question.examples)]
        for control in question.to_dict()["controls"]:
            # The machines there are answer no question.
            if control["name"].startswith("machine"):
                continue
            said += [control["label"], control.get("help") or "", *(text for _, text in control.get("options") or ())]
        yield Entry(name, "", " ".join(said))


def pages(notebooks: Path) -> dict[str, str]:
    """Return the first page that shows each explorer.

    Examples
    --------
    >>> from hopperbook.site.assets import ROOT
    >>> pages(ROOT / "notebooks")["bad-nodes"]
    'failure/bad-nodes'
    """
    shown: dict[str, str] = {}
    for path in sorted(notebooks.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        # In the order of the page: that of a set would give each build other bytes, and have it write every page anew.
        for name in _LOADED.findall(code):
            if name in QUESTIONS:
                shown.setdefault(name, path.relative_to(notebooks).with_suffix("").as_posix())
    return shown


def _named(notebooks: Path) -> Iterator[Entry]:
    """Yield an entry for each page of an explorer, with the commands, terms and headings of its text."""
    for name, page in pages(notebooks).items():
        cells = json.loads((notebooks / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        yield Entry(name, "", " ".join(" ".join(part for part in found if part) for found in _NAMED.findall(text)))


def finder_data(notebooks: Path) -> bytes:
    """Return entries and pages as JSON."""
    entries = [
        [entry.explorer, entry.title, " ".join(words(entry.text)), entry.control, entry.value]
        for entry in (*_messages(), *_options(), *_fields(), *_named(notebooks))
    ]
    return json.dumps({"pages": pages(notebooks), "entries": entries}, separators=(",", ":")).encode()
