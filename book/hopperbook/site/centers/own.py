"""A center's site: its machine, the files next to the machine's file, and pages that begin with the tools of its users.

``make html MACHINE=site.toml`` names the file. Beside it may lie

=================  ===============================================================================================
``rules.toml``     the center's messages, which the diagnosis then knows: tables ``[[rule]]``
``examples.toml``  settings to try in the explorers, shown before those of the book: tables ``[[place]]``, ``[[memory]]`` and
                   so on, each with a `label` and `values`; they are for the center's machine; tool pages show none for other machines
=================  ===============================================================================================

The front page is then ``book/site.md`` in the place of ``book/index.md``, and by ``book/_toc-site.yml`` the studies of
Hopper come second.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from hopperbook.site.centers.glance import glance
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import Example, Question
from hopperlib.errors import InputError, did_you_mean
from hopperlib.failure.messages.rules import read_rules, rule_texts
from hopperlib.machine import Machine
from hopperlib.schema import read_records, read_toml


def beside(name: str = "") -> Path | None:
    """Return a file next to the site's machine file, or without a name that file; None if it does not exist."""
    given = os.environ.get("HOPPER_MACHINE")
    path = Path(given).with_name(name or Path(given).name) if given else None
    return path if path and (path.is_file() or not name) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stated:
    """One example setting of a site."""

    label: str
    values: Mapping[str, Any]


def _stated_examples(text: str) -> dict[str, tuple[_Stated, ...]]:
    """Return the settings to try of a site's file, by the name of their question."""
    document = read_toml(text, name="examples.toml")
    for name in document:
        if name not in QUESTIONS:
            raise InputError(f"examples.toml: {name}: is no question{did_you_mean(name, QUESTIONS)}")
    return {name: read_records(_Stated, {name: document[name]}, name, name="examples.toml") for name in document}


@cache
def load_site(path: Path) -> tuple[Machine, str, dict[str, tuple[_Stated, ...]]]:
    """Load a site's machine, the text of its file and the examples next to it, and register its rules.

    Raises
    ------
    sphinx.errors.ExtensionError
        If one of the files is invalid: the message names it and the error.
    """
    rules, examples = beside("rules.toml"), beside("examples.toml")
    os.environ["HOPPER_RULES"] = str(rules or "")
    try:
        read_rules(rule_texts())
        stated = examples.read_text(encoding="utf-8") if examples else ""
        text = path.read_text(encoding="utf-8")
        return Machine.from_toml(text, name=path.name), text, _stated_examples(stated)
    except (OSError, InputError) as error:
        raise ExtensionError(f"MACHINE={path}: {error}") from error


def site_examples(question: Question) -> tuple[Example, ...]:
    """Return the site's example settings for an explorer."""
    path = beside()
    _, text, stated = load_site(path) if path else (None, "", {})
    file = {"machine_file": text} if any(control.name == "machine_file" for control in question.controls) else {}
    return tuple(
        Example(each.label, ({} if "machine" in each.values else file) | dict(each.values))
        for each in stated.get(question.name, ())
    )


def front_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the front page and the first route of a center's site in the place of the book's."""
    path = beside()
    if path is None or docname not in (app.config.root_doc, "book/routes"):
        return
    machine, front = load_site(path)[0], docname == app.config.root_doc
    text = Path(app.srcdir, "book", "site.md" if front else "site-routes.md").read_text(encoding="utf-8")
    filled = Template(text).substitute(
        title=app.config.html_title, machine=machine.title, glance=glance(machine) if front else ""
    )
    # The routes through the studies follow.
    source[0] = filled if front else filled + source[0][source[0].index("## Trainee") :]
