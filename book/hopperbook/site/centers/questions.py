"""Questions of a center's site: those of its tool pages, set up for its machine.

The controls have no menu of other machines, because the site's file replaces it. Examples are those of the center,
then scripts generated from its launcher, partitions and nodes, then those of the book that name no machine. If the
machine's file lacks a value that a question needs, the question is omitted, and the page lists the missing values.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from html import escape
from typing import Any

from hopperbook.site.centers.own import beside, load_site, site_examples
from hopperkit.questions.controls import Control, MachineChoice
from hopperkit.questions.question import Example, Question
from hopperkit.questions.result import Result
from hopperlib.errors import InputError
from hopperlib.machine import Machine, NodeKind

#: Pages on which a center's users do something; the others are studies of Hopper.
_TOOLS = ("book/index", "book/slides", "notebooks/own/")
# Launchers of one kind of system; mpiexec and mpirun are on most.
_LAUNCHERS = ("aprun", "srun", "jsrun")
# Words of the system that aprun belongs to.
_OF_ALPS = {"ALPS", "apid", "apsched", "apsys", "mppwidth", "mppnppn"}
# Command of a launcher's kind, if it has another name.
_TYPED = {"pals": ("mpiexec",), "openmpi": ("mpirun", "mpiexec"), "mpich": ("mpiexec", "mpirun")}
_TYPED |= {"intelmpi": ("mpirun", "mpiexec"), "prrte": ("mpirun", "prterun")}
_DIRECTIVES = {"partition": "--partition", "constraint": "--constraint", "qos": "--qos", "account": "--account"}
_NODES = 2
_OUT_OF_MEMORY = (
    "step 118 done\nslurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. "
    "Some of the step tasks have been OOM Killed.\nsrun: error: node07: task 12: Out Of Memory\n"
)
# Series of the made-up history, which are programs of another machine in the book, and the years by which it is moved.
_BENCHMARKS, _LATER = "date,program A 64 tasks,program B 64 tasks,serial program,MPI bandwidth", 20
# Questions that take a script, and their control for it.
_SCRIPTS = {"place": "line", "identify": "text"}


def is_tool_page(page: str) -> bool:
    """Whether a page is one of a site's tools.

    Examples
    --------
    >>> is_tool_page("notebooks/own/your-files"), is_tool_page("notebooks/storage/striping")
    (True, False)
    """
    return page.startswith(_TOOLS)


def _typed(machine: Machine) -> set[str]:
    """Return a machine's launch command as users type it; empty if its file has no launcher."""
    return {word for launcher in machine.launchers for word in _TYPED.get(launcher.kind, (launcher.kind,))}


def foreign_words(text: str, machine: Machine) -> list[str]:
    """Return the names of other machines and launchers in a text.

    Examples
    --------
    >>> foreign_words("aprun -n 24 on Hopper, srun on Frontier", Machine.load("frontier"))
    ['Hopper', 'aprun']
    """
    others = {title for title in Machine.titles().values() if title != machine.title} | {"NERSC"}
    others |= set(_LAUNCHERS) - _typed(machine) | (set() if "aprun" in _typed(machine) else _OF_ALPS)
    return sorted(word for word in others if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w])", text))


def _batch(machine: Machine, kind: NodeKind, tasks_per_node: int) -> tuple[str, ...]:
    """Return the directives of a Slurm script for nodes of a kind; of several methods, the first."""
    requests = [each.partition("=") for each in kind.chosen_by[:1]]
    chosen = [f"#SBATCH {_DIRECTIVES[option]}={name}" for option, _, name in requests if option in _DIRECTIVES]
    gpus = [f"#SBATCH --gpus-per-node={kind.gpus}"] if kind.gpus else []
    nodes = min(_NODES, kind.count)
    return ("#!/bin/bash", *chosen, f"#SBATCH --nodes={nodes}", f"#SBATCH --ntasks-per-node={tasks_per_node}", *gpus)


def scripts_of(machine: Machine) -> dict[str, str]:
    """Return job scripts for the kinds of node of a machine, by its launcher: a task for each GPU, or for every other core.

    Examples
    --------
    >>> print(scripts_of(Machine.load("perlmutter"))["A job on gpu nodes"])
    #!/bin/bash
    #SBATCH --constraint=gpu
    #SBATCH --nodes=2
    #SBATCH --ntasks-per-node=4
    #SBATCH --gpus-per-node=4
    srun ./a.out
    >>> scripts_of(Machine.load("hopper"))["A job on standard nodes"]
    'aprun -n 24 -N 12 ./a.out'
    """
    scripts = {}
    for kind in machine.node_kinds:
        each = kind.gpus or max(1, kind.cores // 2)
        tasks = each * min(_NODES, kind.count)
        launcher = machine.launcher().kind
        if launcher == "srun":
            text = "\n".join((*_batch(machine, kind, each), "srun ./a.out"))
        elif launcher == "aprun":
            text = f"aprun -n {tasks} -N {each} ./a.out"
        else:
            per_node = "--ppn" if launcher == "pals" else "-ppn" if launcher in ("mpich", "intelmpi") else "--npernode"
            text = f"{_TYPED[launcher][0]} -n {tasks} {per_node} {each} ./a.out"
        scripts[f"A job on {kind.name} nodes"] = text
    return scripts


def _history(made_up: str) -> str:
    """Return the made-up history of the book under the names of no program, in the years of now."""
    _, rows = made_up.split("\n", 1)
    return f"{_BENCHMARKS}\n" + re.sub(r"(?m)^20(\d\d)", lambda year: f"20{int(year[1]) + _LATER:02d}", rows)


def _generated(question: Question, machine: Machine) -> Iterator[Example]:
    """Yield settings that are made for a machine: scripts, or a job of a size that it has."""
    names = question.defaults
    if question.name in ("place", "identify"):
        yield from (Example(label, {_SCRIPTS[question.name]: text}) for label, text in scripts_of(machine).items())
    elif question.name == "diagnose" and "srun" in _typed(machine):
        yield Example("Memory ran out", {"log": _OUT_OF_MEMORY})
    elif question.name == "watch":
        yield Example("Two programs lose speed", {"history": _history(question.defaults["history"])})
    elif "tasks" in names:
        kind = machine.node()
        yield Example(f"Four {kind.name} nodes", {"tasks": 4 * kind.cores})


def _values(values: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an example for the site's machine."""
    return {**base, **values}


def _words(control: Control, machine: Machine) -> dict[str, Any]:
    """Return help and placeholder of a control without parts about other machines."""
    changed: dict[str, Any] = {}
    for field in ("label", "help", "placeholder", "assumed"):
        text = getattr(control, field, "")
        if isinstance(text, str) and foreign_words(text, machine):
            changed[field] = _without_foreign(text, machine, field)
    return changed


def _without_foreign(text: str, machine: Machine, field: str) -> str:
    """Return a text of a control without another machine's words: less a part in brackets, an item of a list, a sentence."""
    if field == "placeholder":
        # A launch line of the machine shows the expected form.
        return next(iter(scripts_of(machine).values())).splitlines()[-1]
    text = re.sub(r" \([^)]*\)", lambda part: "" if foreign_words(part[0], machine) else part[0], text)
    text = re.sub(r"\b(\w+)(?:, | or )", lambda item: "" if foreign_words(item[1], machine) else item[0], text)
    return " ".join(part for part in re.split(r"(?<=[.;]) ", text) if not foreign_words(part, machine))


def _controls(question: Question, machine: Machine) -> tuple[Control, ...]:
    """Return the controls of a question without menus of other machines where the site's file is in their place."""
    has_file = "machine_file" in question.defaults
    kept = (each for each in question.controls if not (has_file and isinstance(each, MachineChoice)))
    return tuple(replace(each, **_words(each, machine)) for each in kept)


def _answered(answer: Callable[..., Result], left_out: Mapping[str, Any]) -> Callable[..., Result]:
    """Return an answer function with fixed values for hidden controls."""
    return lambda **values: answer(**{**left_out, **values})


def visible(result: Result) -> str:
    """Return the visible text of an answer: not its facts, whose names are for programs, and not its citations."""
    parts = {name: _without_sources(part) for name, part in result.to_dict().items() if name != "facts"}
    return json.dumps(parts, default=str)


def _without_sources(part: Any) -> Any:
    """Return a part of an answer without the notes of its values, which name the documents that a number or a rule is from."""
    if isinstance(part, Mapping):
        return {name: _without_sources(each) for name, each in part.items() if name != "note"}
    return [_without_sources(each) for each in part] if isinstance(part, (list, tuple)) else part


def _fits(question: Question, example: Example, machine: Machine) -> bool:
    """Whether an example is accepted, and neither it nor its answer is about another machine."""
    texts = [example.label, *(str(value) for name, value in example.values.items() if name != "machine_file")]
    if foreign_words("\n".join(texts), machine):
        return False
    with suppress(InputError):
        return not foreign_words(visible(question.run(**example.values)), machine)
    return False


def made_for(question: Question, machine: Machine, text: str, stated: Iterable[Example] = ()) -> Question | str:
    """Return a question made for a machine, or what its file lacks for any answer.

    Parameters
    ----------
    question : Question
    machine : Machine
    text : str
        Of its file.
    stated : iterable of Example
        Those of the center, which come first.

    Examples
    --------
    >>> from importlib.resources import files
    >>> from hopperkit.questions.question import load
    >>> text = (files("hopperlib") / "machines" / "frontier.toml").read_text(encoding="utf-8")
    >>> made = made_for(load("place"), Machine.load("frontier"), text)
    >>> made.defaults["line"].splitlines()[-1], "machine" in made.defaults
    ('srun ./a.out', False)
    """
    base = {"machine_file": text} if "machine_file" in question.defaults else {}
    controls = _controls(question, machine)
    names = {control.name for control in controls}
    left_out = {name: value for name, value in question.defaults.items() if name not in names}
    plain = replace(question, controls=controls, examples=(), answer=_answered(question.answer, left_out))
    ours = [Example(each.label, _values(each.values, base)) for each in (*stated, *_generated(question, machine))]
    # Those of the book that were made for a machine are not made for this one, and its history has other names here.
    of_book = [question.defaults["history"]] if question.name == "watch" else []
    books = (
        each
        for each in question.examples
        if not any("machine" in name or value in of_book for name, value in each.values.items())
    )
    general = [Example(each.label, _values(each.values, base)) for each in books]
    fitting = [each for each in (*ours, *general) if _fits(plain, each, machine)]
    start = Example("start", _values({}, base))
    generates = question.name in (*_SCRIPTS, "diagnose", "watch") and bool(ours)
    first = start if not generates and _fits(plain, start, machine) else next(iter(fitting), None)
    if first is None:
        return _lacking(plain, base)
    return replace(plain.starting(**first.values), examples=tuple(fitting))


def _lacking(question: Question, base: Mapping[str, Any]) -> str:
    """Return why a question has no answer on a machine."""
    try:
        question.run(**base)
    except InputError as error:
        return str(error)
    return "its answers would be about another machine"


def center_question(question: Question, page: str) -> Question | str | None:
    """Return a question of a tool page made for the site's machine, or what its file lacks; None where the book's is shown."""
    path = beside()
    if path is None or not is_tool_page(page):
        return None
    machine, text, _ = load_site(path)
    return made_for(question, machine, text, site_examples(question))


def lacking_html(question: Question, lacking: str) -> str:
    """Return the replacement for a question that a machine's file cannot answer.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> "Striping" in lacking_html(load("stripe"), "x"), lacking_html(load("stripe"), "a < b").count("&lt;")
    (False, 1)
    """
    return (
        f'<div class="hopper-not-stated" role="note"><p><strong>{escape(question.title)}</strong> The file of this site\'s machine '
        f"does not state what an answer needs: {escape(lacking)}. <code>hopper machine check</code> lists what can be added.</p></div>"
    )
