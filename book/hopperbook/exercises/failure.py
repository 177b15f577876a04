"""Exercises in Python for the studies of failures and of monitoring."""

from hopperbook.self_checks.code import CodeCheck
from hopperlib.failure.builds.versions import version_key
from hopperlib.failure.messages.rules import load_rules
from hopperlib.failure.nodes.risk import chance_of_bad_node
from hopperlib.monitoring.simultaneous_changes import read
from hopperlib.monitoring.ssp import Rate, Suite


def _bad_nodes() -> CodeCheck:
    """Return the exercise of the study of bad nodes."""
    cases = ((10, 2, 3), (6384, 5, 512), (100, 1, 100), (6384, 1, 1))
    return CodeCheck(
        name="bad-nodes-code",
        question="A job takes some nodes of a machine at random. `chance` of meeting a bad one is computed as if each node were put back before the next is drawn. Fix it: one node fewer is left each time, and as many are bad.",
        start="def chance(nodes, bad, job):\n    good = 1.0\n    for taken in range(job):\n        good = good * (nodes - bad) / nodes\n    return 1 - good\n\nchance(10, 2, 3)",
        solution="def chance(nodes, bad, job):\n    good = 1.0\n    for taken in range(job):\n        good = good * (nodes - bad - taken) / (nodes - taken)\n    return 1 - good\n\nchance(10, 2, 3)",
        values={f"chance({n}, {bad}, {job})": chance_of_bad_node(n, bad, job) for n, bad, job in cases},
        hints=("The second node is one of nine, of which seven are good.",),
        explanation="A node cannot be taken twice. For a job on all nodes the chance is 1, which drawing with replacement does not give.",
    )


def _build_and_link() -> CodeCheck:
    """Return the exercise of the study of builds."""
    lists = (["10.4.2", "10.4.10", "9.1"], ["3.9.2", "3.10.0", "3.2"], ["1.0", "1.0.1", "0.99"])
    return CodeCheck(
        name="build-and-link-code",
        question="`newest` compares versions as texts, letter by letter, so that 9 comes after 10. Fix it: compare the numbers between the dots.",
        start='def newest(versions):\n    return max(versions)\n\nnewest(["10.4.2", "10.4.10", "9.1"])',
        solution='def numbers(version):\n    return [int(part) for part in version.split(".")]\n\ndef newest(versions):\n    return max(versions, key=numbers)\n\nnewest(["10.4.2", "10.4.10", "9.1"])',
        values={f"newest({versions})": max(versions, key=version_key) for versions in lists},
        hints=(
            '`"10.4.2".split(".")` gives the parts as texts.',
            "`max` takes a function by which it compares: `key=`.",
        ),
        explanation="Lists of numbers are compared number by number, which is the order that versions have.",
    )


def _diagnosis() -> CodeCheck:
    """Return the exercise of the study of the diagnosis."""
    by_signal = {number: rule.code for rule in load_rules() for number in rule.signals}
    codes = {137: by_signal[9], 139: by_signal[11], 134: by_signal[6], 1: "", 143: by_signal[15]}
    return CodeCheck(
        name="diagnosis-code",
        question="A shell reports a program that a signal ended with exit code 128 plus the number of the signal. `rule_of` looks for the exit code itself. Fix it: the code of the rule for that signal, or an empty text.",
        start='from hopperlib.failure.messages.rules import load_rules\n\ndef rule_of(exit_code):\n    for rule in load_rules():\n        if exit_code in rule.signals:\n            return rule.code\n    return ""\n\nrule_of(137)',
        solution='from hopperlib.failure.messages.rules import load_rules\n\ndef rule_of(exit_code):\n    for rule in load_rules():\n        if exit_code - 128 in rule.signals:\n            return rule.code\n    return ""\n\nrule_of(137)',
        values={f"rule_of({code})": wanted for code, wanted in codes.items()},
        hints=("137 is signal 9.",),
        explanation="Signal 9 ends a program at once, whoever sent it: the kernel when memory runs out, the scheduler, or a person.",
    )


def _acceptance() -> CodeCheck:
    """Return the exercise of the study of the acceptance."""
    cases = (([0.5, 0.2, 0.8], 888), ([0.1, 1.0], 100), ([0.3], 10))

    def model(rates: list[float], processors: int) -> float:
        codes = tuple(Rate(name=f"code {number}", rate=rate) for number, rate in enumerate(rates))
        return Suite(rates=codes, processors=processors).ssp

    return CodeCheck(
        name="acceptance-code",
        question="`ssp` takes the mean rate of the programs for each processor, times the processors. The arithmetic mean lets one fast program hide slow ones. Fix it: the geometric mean.",
        start="from math import prod\n\ndef ssp(rates, processors):\n    mean = sum(rates) / len(rates)\n    return mean * processors\n\nssp([0.5, 0.2, 0.8], 888)",
        solution="from math import prod\n\ndef ssp(rates, processors):\n    mean = prod(rates) ** (1 / len(rates))\n    return mean * processors\n\nssp([0.5, 0.2, 0.8], 888)",
        values={f"ssp({rates}, {processors})": model(rates, processors) for rates, processors in cases},
        hints=("`prod` multiplies the numbers of a list.",),
        explanation="With the geometric mean, twice the rate of any one program counts the same, whichever it is.",
    )


def _benchmark_history() -> CodeCheck:
    """Return the exercise of the study of histories."""
    cases = (("file system", "memory"), ("parallel", "serial"), ("parallel", "network"), ("memory", "parallel"))
    return CodeCheck(
        name="benchmark-history-code",
        question="Benchmarks of the kind `moved` have become slower, and those of the kind `steady` have not. `possible` lists the parts of the machine that slow the first. Fix it: leave out the parts that would have slowed all of the second.",
        start='from hopperlib.monitoring.simultaneous_changes import subsystems\n\ndef possible(moved, steady):\n    names = []\n    for part in subsystems():\n        if part.effect[moved] in ("all", "some"):\n            names.append(part.name)\n    return sorted(names)\n\npossible("parallel", "serial")',
        solution='from hopperlib.monitoring.simultaneous_changes import subsystems\n\ndef possible(moved, steady):\n    names = []\n    for part in subsystems():\n        if part.effect[moved] in ("all", "some") and part.effect[steady] != "all":\n            names.append(part.name)\n    return sorted(names)\n\npossible("parallel", "serial")',
        values={
            f'possible("{moved}", "{steady}")': sorted(part.name for part in read([moved], [steady]).explained_by)
            for moved, steady in cases
        },
        hints=("`part.effect[steady]` is one of all, some, none and any.",),
        explanation="A benchmark that stayed as it was is as informative as one that moved: it rules out the parts on which it depends.",
    )


EXERCISES = {
    "bad-nodes": _bad_nodes,
    "build-and-link": _build_and_link,
    "diagnosis": _diagnosis,
    "acceptance": _acceptance,
    "benchmark-history": _benchmark_history,
}
