"""Rewrite the functions of `hopperkit.api` from the controls of the questions and from ``api_words.toml``.

    python scripts/write_api.py            write the modules
    python scripts/write_api.py --answers  write them with the examples' answers as they are now, for review

A test compares the committed files with this output.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, indent
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hopperkit.questions.catalogue import QUESTIONS  # noqa: E402
from hopperkit.questions.controls import Choice, Control, MachineChoice, Slider, Switch, Text  # noqa: E402
from hopperkit.questions.question import load  # noqa: E402

FOLDER = ROOT / "hopperkit" / "api"
WORDS = tomllib.loads((ROOT / "scripts" / "api_words.toml").read_text(encoding="utf-8"))
# Questions that are not in the module of their room: no module is longer than 400 lines.
ROOMS = {
    "identify": "files",
    "chunks": "io",
    "fragmentation": "jobs",
    "io-log": "io",
    "iobuf": "io",
    "load-time": "io",
    "runs-needed": "jobs",
    "scheduling": "jobs",
    "simulate": "jobs",
    "slow-ost": "io",
    "variability": "jobs",
    "locality": "jobs",
}
TITLES = {
    "node": "one node: machines, placement, memory, threads",
    "network": "the network",
    "jobs": "jobs, the scheduler and run times",
    "storage": "file systems",
    "io": "reading and writing",
    "failure": "failed jobs, builds and nodes",
    "monitoring": "benchmarks over time",
    "files": "any file",
}


def python_name(question: str) -> str:
    """Return the name of the function of a question."""
    return question.replace("-", "_")


class Parameter:
    """A parameter of a function, from a control and the words of its question."""

    def __init__(self, control: Control, words: dict[str, Any]):
        self.control, self.name = control, control.name
        named = [*words.get("main", ()), *words.get("required", ())]
        self.is_main = self.name in words.get("main", ())
        optional = [*words.get("one_of", ()), *words.get("default", ())]
        self.required = self.name in named and self.name not in optional
        self.default = self._default(words)

    def _default(self, words: dict[str, Any]) -> Any:
        """Return the default; None is not given."""
        control = self.control
        if self.name in words.get("default", {}):
            return None if words["default"][self.name] == "none" else words["default"][self.name]
        if self.name in (*words.get("unset", ()), *words.get("one_of", ())):
            return None
        # The machine of a launch line is the one that its text names.
        if isinstance(control, MachineChoice) and (control.none or (words is WORDS["place"])):
            return None
        if control.kind == "file" or (isinstance(control, Text) and not control.default):
            return None
        return _plain(control, control.default)

    @property
    def annotation(self) -> str:
        """The type as written."""
        control = self.control
        if isinstance(control, MachineChoice):
            kind = "AnyMachine"
        elif isinstance(control, Choice):
            options = ", ".join(repr(_plain(control, key)) for key, _ in control.options)
            kind = f"Literal[{options}]"
            kind += " | Callable[..., Any]" if control.functions else ""
            kind += " | int" if control.numbers else ""
        elif isinstance(control, Switch):
            kind = "bool"
        elif isinstance(control, Slider):
            kind = "Count" if control.whole else "Number"
        else:
            kind = "Text" if control.kind == "file" or (control.argument and control.rows > 1) else "str"
        return kind if self.required or self.default is not None else f"{kind} | None"

    @property
    def written(self) -> str:
        """The parameter as a signature has it."""
        return f"{self.name}: {self.annotation}" + ("" if self.required else f" = {_literal(self.default)}")

    @property
    def documented(self) -> str:
        """Its rows in the table of parameters."""
        control = self.control
        default = "" if self.required or self.default is None else f", default {_literal(self.default)}"
        head = f"{self.name} : {self._kind()}{default}"
        unit = f" [{control.unit}]" if control.unit else ""
        help = _help(control.help)
        bounds = f" From {control.low:,.12g} to {control.high:,.12g}." if isinstance(control, Slider) else ""
        assumed = f" The default is assumed: {control.assumed}" if control.assumed else ""
        text = f"{control.label}.{unit}{bounds} {help}{assumed}"
        return head + "\n" + fill(" ".join(text.split()), 110, initial_indent="    ", subsequent_indent="    ")

    def _kind(self) -> str:
        """Return the type in words."""
        control = self.control
        if isinstance(control, MachineChoice):
            kind = "str, path-like or Machine"
        elif isinstance(control, Choice):
            kind = "{" + ", ".join(repr(_plain(control, key)).replace("'", '"') for key, _ in control.options) + "}"
            kind += " or callable" if control.functions else ""
            kind += " or int" if control.numbers else ""
        elif isinstance(control, Switch):
            kind = "bool"
        elif isinstance(control, Slider):
            kind = "int" if control.whole else "float"
        else:
            kind = "str, path-like, file, lines or DataFrame" if self.annotation.startswith("Text") else "str"
        return kind if self.required or self.default is not None else f"{kind}, or None"


# Sentences of a control's help that are about the page.
_OF_THE_PAGE = re.compile(r"\bpage\b|[Pp]aste|\bdrop\b|text at the start|\bexample here\b|^Made up")


def _help(text: str) -> str:
    """Return the help of a control as it holds for a function."""
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z`0-9])", text)
    kept = " ".join(each for each in sentences if not _OF_THE_PAGE.search(each))
    return re.sub(r"(?<![\w.])0(?:: | = )", "Not given: ", kept)


def _plain(control: Control, value: Any) -> Any:
    """Return an option that is a count as an int where all options of its control are."""
    if type(control) is Choice and all(key.isdecimal() for key, _ in control.options):
        return int(value)
    return value


def _literal(value: Any) -> str:
    """Return a value as the formatter writes it."""
    return repr(value).replace("'", '"') if isinstance(value, str) else repr(value)


def parameters_of(name: str) -> list[Parameter]:
    """Return the parameters of a function: those without a name first, then in the order of the controls."""
    words = WORDS[name]
    # A machine file is given as the machine.
    made = {each.name: Parameter(each, words) for each in load(name).controls if each.name != "machine_file"}
    main = [made.pop(each) for each in words.get("main", ())]
    return main + sorted(made.values(), key=lambda each: not each.required)


def _signature(parameters: Sequence[Parameter]) -> str:
    """Return the parameters as lines: those with keywords come after the main ones."""
    main = [each.written for each in parameters if each.is_main]
    rest = [each.written for each in parameters if not each.is_main]
    lines = [*main, *(["*"] if rest else []), *rest]
    return "".join(f"    {line},\n" for line in lines)


def function_of(name: str, answers: str) -> str:
    """Return the text of a function."""
    words, parameters = WORDS[name], parameters_of(name)
    signature = _signature(parameters)
    if "one_of" in words:
        refused = f"If none of {', '.join(f'`{each}`' for each in words['one_of'])} is given, or a value is refused"
    else:
        refused = "If a value is refused"
    sections = {
        "Parameters": "\n".join(each.documented for each in parameters),
        "Returns": "Result\n    The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.",
        "Raises": f"InputError\n    {refused}; the message names the value and the rule.",
        "Examples": answers,
        "References": "Models and their sources: " + ", ".join(f"`{each}`" for each in words["models"]) + ".",
    }
    body = "\n\n".join(f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items())
    summary = fill(load(name).question, 110)
    given = ", ".join(f"{each.name}={each.name}" for each in parameters)
    one_of = f", {tuple(words['one_of'])!r}".replace("'", '"') if "one_of" in words else ""
    runner = "_place" if name == "place" else "_run"
    doc = indent(f"{summary}\n\n{body}\n", "    ", lambda line: bool(line.strip()))
    head = 'r"""' if "\\" in doc else '"""'
    text = doc.lstrip().replace('"""', "'''")
    called = f'{runner}("{name}"{one_of}, {given})' if given else f'{runner}("{name}")'
    why = "# As long as the question has controls.\n" if len(parameters) > 20 else ""
    return f'{why}def {python_name(name)}(\n{signature}) -> Result:\n    {head}{text}    """\n    return {called}\n'


def answered(example: str) -> str:
    """Return an example with what its last statement gives."""
    import doctest

    cases = doctest.DocTestParser().get_examples(example.replace('"""', "'''"))
    names: dict[str, Any] = {}
    lines = []
    for case in cases:
        first, *more = case.source.rstrip("\n").split("\n")
        lines += [f">>> {first}", *(f"... {line}" for line in more)]
        try:
            value = eval(case.source.strip(), names)
        except SyntaxError:
            exec(case.source, names)
            continue
        if value is not None:
            lines.append(repr(value))
    return "\n".join(lines)


def committed_examples(text: str) -> dict[str, str]:
    """Return the examples, with their answers, in a module."""
    import ast

    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and (doc := ast.get_docstring(node)) and "Examples\n" in doc:
            part = doc.split("Examples\n--------\n")[1].split("\n\nReferences\n")[0]
            found[node.name.replace("_", "-")] = part
    return found


def modules(answer: bool = False) -> dict[str, str]:
    """Return the text of each module of functions, before the formatter."""
    rooms: dict[str, list[str]] = {}
    for name, path in QUESTIONS.items():
        if name in WORDS:
            rooms.setdefault(ROOMS.get(name) or path.split(".")[2], []).append(name)
    texts = {}
    for room, names in rooms.items():
        file = FOLDER / f"{room}.py"
        examples = {} if answer or not file.exists() else committed_examples(file.read_text(encoding="utf-8"))
        functions = [function_of(name, examples.get(name) or _example(name, answer)) for name in names]
        texts[room] = _head(room, "".join(functions)) + "\n\n" + "\n\n".join(functions)
    return texts


def _example(name: str, answer: bool) -> str:
    """Return the example of a function; a new one has no answer yet."""
    example: str = WORDS[name]["example"].strip()
    return answered(example) if answer else example


def _head(room: str, body: str) -> str:
    """Return the docstring and the imports of a module."""
    kinds = [each for each in ("AnyMachine", "Count", "Number", "Text") if f": {each}" in body]
    runners = ["from hopperkit.api.kinds import run as _run"] if "_run(" in body else []
    runners += ["from hopperkit.api.placing import run_place as _place"] if "_place(" in body else []
    used = [each for each in ("Any", "Literal") if f"{each}[" in body or f", {each}]" in body]
    calls = "    from collections.abc import Callable\n" if "Callable[" in body else ""
    typing = f"    from typing import {', '.join(used)}\n" if used else ""
    return (
        f'"""Questions about {TITLES[room]}, as functions; ``scripts/write_api.py`` writes them from the questions."""\n\n'
        "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        + "\n".join(runners)
        + f"\n\nif TYPE_CHECKING:\n{calls}{typing}\n    from hopperkit.api.kinds import {', '.join(kinds)}\n"
        "    from hopperkit.questions.result import Result\n"
    )


def formatted(text: str) -> str:
    """Return a module as the formatter leaves it."""
    import subprocess

    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--select", "I", "--fix", "--quiet", "-"], ["format", "--quiet", "-"]):
        run = subprocess.run([*ruff, *command], input=text, cwd=ROOT, capture_output=True, check=True, text=True)
        text = run.stdout
    return text


if __name__ == "__main__":
    for _room, _text in modules(answer="--answers" in sys.argv).items():
        (FOLDER / f"{_room}.py").write_text(formatted(_text), encoding="utf-8")
