"""Question: the kind of a text, and the answer for it."""

import re
from collections.abc import Mapping
from dataclasses import replace

from hopperkit.questions import ask
from hopperkit.questions.machine_choice import guess_machine
from hopperkit.questions.node.place import run_lines
from hopperkit.questions.question import load
from hopperkit.questions.result import Result
from hopperkit.readers.benchmark_history import read_benchmark_history
from hopperkit.readers.hardware.reader import machine_from, read_hardware
from hopperkit.readers.recognise import NO_MARKS, Kind, in_trouble, not_text, plain_prompts, recognise
from hopperkit.readers.source import texts_of
from hopperkit.variation.factors import is_node_list
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.monitoring.changes import FEWEST
from hopperlib.package_data import load_text_resource
from hopperlib.text import count

# Which question answers for a kind, and the control that takes its text.
_ASKED = {
    "script": ("place", "line"),
    "output": ("diagnose", "log"),
    "trace": ("simulate", "trace"),
    "io": ("io-log", "output"),
    "lustre": ("stripe", "lfs"),
    "history": ("watch", "history"),
    "times": ("runs", "runs"),
    "hardware": ("machines", "machine_file"),
    "machine": ("machines", "machine_file"),
    "buddyinfo": ("preflight", "buddyinfo"),
    "build": ("build", "modules"),
}
# The command that printed a text, copied with it.
_PROMPT = re.compile(r"^\s*[$+] .*\n")
# An error that ended a program is within the last part of its output. [characters]
_END = 20_000
# Kinds that may occur within a job's output.
_WITHIN = {"io", "lustre", "hardware", "buddyinfo", "build", "history", "times"}


class Given(ask.Setting):
    """A text of any kind, and its machine if it does not name one."""

    text: str = ask.file(
        "Anything",
        load_text_resource(__file__, "samples/one-numa-node.txt"),
        argument=True,
        required=True,
        multiple=True,
        rows=6,
        max_length=8_000_000,
        placeholder="Paste or drop a job script, an error, a job's output, a trace, run times, a log of I/O ...",
        help="Also sacct or SWF, mdtest, IO500, darshan-parser, lfs, a benchmark history, lscpu, lstopo, scontrol, a machine file.",
    )
    machine: Machine | None = ask.machine("Machine", "none", none="from the text")
    machine_file: str = ask.machine_file()
    read_as: str = ask.choice(
        "Read it as",
        "auto",
        {"auto": "its form"} | {kind: kind.replace("-", " ") for kind in _ASKED},
        advanced=True,
    )

    def check(self) -> None:
        """Reject input that is not text."""
        if not self.text.strip():
            raise InputError("paste a text, or drop a file", name="text")
        for name, text in texts_of(self.text, "this").items():
            if kind := not_text(text):
                raise InputError(f"{name} is {kind}, not text that can be read here", name="text")


def answer(given: Given) -> Result:
    """Return the answer of the question for this kind of text, and report the kind.

    Parameters
    ----------
    given : Given
        A text of any kind, and its machine if it does not name one.

    Returns
    -------
    Result
        The answer.

    Raises
    ------
    InputError
        If the text is of no known kind, or no question can answer it.

    Examples
    --------
    >>> answer(Given()).facts['tasks']
    8
    """
    texts = texts_of(given.text, "this")
    if len(texts) > 1:
        return _together(texts, given)
    if given.read_as != "auto":
        kinds: tuple[Kind, ...] = (Kind(given.read_as, f"the chosen kind: {given.read_as}", "your choice"),)
    else:
        kinds = recognise(given.text)
        if kinds[0].name == "io" and _failed(given.text):
            kinds = (Kind("output", "the output of a job", "it is a log of I/O that an error ended"), *kinds)
    kinds = tuple(_by_content(kind, given.text) for kind in kinds)
    refusals = []
    for kind, following in zip(kinds, [*kinds[1:], None], strict=True):
        try:
            return _taken_for(kind, _answer_as(kind, given))
        except InputError as error:
            refusals.append((kind, f"as {kind.title} ({kind.why}): {error}"))
        # Any text may be a job's output, unless it has markers of another kind and cannot be read as that.
        if kind.name not in _WITHIN or (following == kinds[-1] and not in_trouble(given.text)):
            break
    (first, _), *others = refusals
    # The kind of a text with marks is certain: its content is rejected.
    start = "no question can read this text" if others or first.why == NO_MARKS else "read"
    raise InputError(f"{start} {'; '.join(refusal for _, refusal in refusals)}", name="text")


def _by_content(kind: Kind, text: str) -> Kind:
    """Read a history as run times if it has too few runs for trends, or has nodes to compare."""
    if kind.name != "history":
        return kind
    try:
        series = read_benchmark_history(_text_of(kind, text)).series
    except InputError:
        return kind
    if max(len(history.values) for history in series) < FEWEST and len(series) == 1:
        why = f"its {count(len(series[0].values), 'dated run')} are too few for a history"
        return Kind("times", "run times", why)
    columns = series[0].covariates
    if len(series) == 1 and any(is_node_list(name, list(cells)) for name, cells in columns.items()):
        return Kind("times", "run times", "each run has its date and its nodes")
    return kind


def _failed(text: str) -> bool:
    """Whether a log ends in an error known to the diagnosis rules."""
    end = text[-_END:]
    facts = load("diagnose").run(log=end).facts if in_trouble(end) else None
    return bool(facts and (facts["message_codes"] or facts.get("first_failure")))


def _taken_for(kind: Kind, result: Result) -> Result:
    """Return an answer that first reports the kind of the text."""
    name, _ = _ASKED[kind.name]
    facts = {**result.facts, "taken_for": kind.name, "question": name}
    words = f"Read as {kind.title}: {kind.why}."
    if kind.why == NO_MARKS and facts.get("verdict") == "no-cause":
        words = "The kind of this text is unknown. If it is not the output of a job, choose its kind (read it as)."
    # A script is recognizable; the machine is reported first.
    if kind.name == "script" and "machine_named_by" in facts:
        return replace(result, facts=facts)
    return replace(result, summary=f"{words} {result.summary}", facts=facts)


def _together(texts: Mapping[str, str], given: Given) -> Result:
    """Answer for several files: the outputs of one job, with its script if that is there, or logs of I/O."""
    kinds = {name: recognise(text)[0] for name, text in texts.items()}
    scripts, outputs = ([name for name, kind in kinds.items() if kind.name == each] for each in ("script", "output"))
    if {kind.name for kind in kinds.values()} == {"io"}:
        return _taken_for(
            Kind("io", f"{len(texts)} logs of I/O", "each has the markers of one"),
            _answer_as(next(iter(kinds.values())), given),
        )
    if 1 <= len(outputs) <= 2 and len(scripts) <= 1 and len(outputs) + len(scripts) == len(texts):
        log, errors, *_ = (*(texts[name] for name in outputs), "")
        launch = texts[scripts[0]] if scripts else ""
        result = load("diagnose").run(log=log, errors=errors, launch=launch)
        if scripts:
            result = _with_script(result, texts[scripts[0]], scripts[0], given)
        named = " and ".join(f"{name} ({kinds[name].title})" for name in texts)
        return _taken_for(Kind("output", "the files of one job", named), result)
    named = ", ".join(f"{name} is {kind.title}" for name, kind in kinds.items())
    raise InputError(f"these files belong to several questions ({named}): give files for one of them", name="text")


def _with_script(result: Result, text: str, name: str, given: Given) -> Result:
    """Return the answer for an output together with findings about the job's script."""
    try:
        script = _answer_as(Kind("script", "a job script", "it was given with its output"), given, text)
    except InputError as error:
        refused = Finding("refused", f"{name}: {error}", "problem")
        return replace(result, findings=(*result.findings, refused), facts={**result.facts, "script_problems": 1})
    wrong = [each for each in script.findings if each.level in ("problem", "advice") and each.code != "better-line"]
    problems = [each for each in wrong if each.level == "problem"]
    named = [replace(each, message=f"{name}: {each.message}") for each in wrong]
    summary = result.summary
    if problems:
        codes = ", ".join(dict.fromkeys(each.code for each in problems))
        summary += f" The script has {count(len(problems), 'problem')} too ({codes}), below."
    return replace(
        result,
        summary=summary,
        findings=(*result.findings, *named),
        copyables=(*result.copyables, *script.copyables),
        facts={**result.facts, "script_problems": len(problems), "script_codes": [each.code for each in wrong]},
    )


def _answer_as(kind: Kind, given: Given, text: str | None = None) -> Result:
    """Answer the question for a kind about all or part of the input, for the machine chosen or named by the text."""
    name, control = _ASKED[kind.name] if kind.title != "a compile line" else ("build", "line")
    question, text = load(name), _text_of(kind, given.text if text is None else text)
    values, taken = {control: text}, {each.name for each in question.controls}
    machine = given.machine.name if given.machine else ""
    if given.machine_file and {"machine", "machine_file"} <= taken:
        return question.run(**values, machine_file=given.machine_file)
    if kind.name == "script" and not machine:
        return _script_as_named(text)
    if machine and "machine" in taken:
        values["machine"] = machine
    return question.run(**values)


def _script_as_named(text: str) -> Result:
    """Answer for a script on the machine that it names, and report the words that named it."""
    guess, question = guess_machine(text), load("place")
    values = question.read({"line": text, "machine": guess.machine})
    result = _with_way_on(run_lines(values, doubt=guess.doubt, evidence=guess.sign))
    if not guess.sign:
        return result
    title = Machine.load(guess.machine).title
    rest = result.summary.removeprefix(f"{title}: ")
    named = f'{title}, as the text has "{guess.sign}": {rest}'
    if rest == result.summary:
        named = f'Taken for {title}, as the text has "{guess.sign}". {rest}'
    return replace(result, summary=named)


# The factor of idle resources above which a note is a cost.
_MANY_TIMES = 4.0


def _with_way_on(result: Result) -> Result:
    """Return the answer for a script; if it finds nothing, it says where to look if the job is still slow."""
    judged = result.facts.get("tasks_by_numa_node") is not None
    # A note about idle resources is a cost too.
    found = any(each.level != "note" or each.evidence.get("times", 1.0) >= _MANY_TIMES for each in result.findings)
    if not judged or found:
        return result
    message = (
        "No cost was found in the task placement. If the job is slow nevertheless, paste its run times with their nodes, "
        "its Darshan log as text, or the end of its output."
    )
    return replace(result, findings=(*result.findings, Finding("look-elsewhere", message, "advice")))


def _text_of(kind: Kind, text: str) -> str:
    """Return a text in the form that its question accepts."""
    if kind.name in ("script", "output", "build"):
        return text
    plain = _PROMPT.sub("", plain_prompts(text))
    if kind.name == "hardware":
        return machine_from(read_hardware(plain), name="yours", title="Your machine").to_toml()
    if kind.name == "history" and kind.why.startswith("each line"):
        rows = (re.sub(r"[,;\s]+(?=\S+\s*$)", ";", line) for line in plain.splitlines())
        return "\n".join(("date;value", *rows))
    return plain


QUESTION = ask.declared(
    Given,
    answer,
    title="Paste anything",
    examples={
        "An error": {
            "text": "slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed."
        },
        "Run times that differ": {"text": load_text_resource(__file__, "samples/run-times.txt")},
        "One of Hopper's lines": {"text": "aprun -n 384 -N 12 vasp"},
    },
)
