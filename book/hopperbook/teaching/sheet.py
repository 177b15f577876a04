"""The instructor's sheet of a page, as Markdown: questions, answers, common mistakes, content of the class screen.

A sheet is made from the self-checks that the page itself shows (`Check.to_dict`), so its numbers are the models'.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hopperbook.self_checks.number import SLIPS
from hopperkit.questions.question import load

# Words of a question that needs the page: it cannot be put to a room before anybody has opened it.
_NEEDS_PAGE = re.compile(
    r"\bexplorers?\b|\b(?:run|open|see|next|last)\b[^.?]*\bcells?\b"
    r"|\b(?:study|table|chart|figure|drawing|page|text)s? (?:above|below)\b",
    re.IGNORECASE,
)


class Mistake(NamedTuple):
    """A common mistake: the answer that shows it, and the feedback."""

    answer: str
    say: str


def answer_of(check: Mapping[str, Any]) -> str:
    """Return the answer to a self-check in words.

    Parameters
    ----------
    check : mapping
        The check as plain data (`Check.to_dict`).

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> answer_of(NumberCheck(name="cores", question="How many cores?", answer=24, explanation="Four times six.").to_dict())
    '24'
    """
    match check["kind"]:
        case "number":
            return _accepted(check)
        case "choice":
            return ", ".join(option["text"] for option in check["options"] if option["right"])
        case "curve":
            points = zip(check["x"], check["answer"], strict=True)
            return "; ".join(f"{y:.3g} {check['unit']}".strip() + f" at {x:g}" for x, y in points)
        case "goal":
            return _solution(check)
        case "code":
            begun = check["start"].splitlines()
            return ", ".join(
                f"`{line.strip()}`" for line in check["solution"].splitlines() if line and line not in begun
            )
        case kind:
            raise ValueError(f"kind={kind!r}: a sheet has no answer for such a check")


def _accepted(check: Mapping[str, Any]) -> str:
    """Return a number with its unit, and the range that counts as right where that is wider than rounding."""
    half = (check["high"] - check["low"]) / 2
    if half <= 0.51 * 10 ** -check["decimals"]:
        return str(check["answer_text"])
    ends = " to ".join(f"{end:,.{check['decimals']}f}" for end in (check["low"], check["high"]))
    return f"{check['answer_text']} ({ends} counts as right)"


def _solution(check: Mapping[str, Any]) -> str:
    """Return a setting that satisfies a goal, by the labels of its controls, and the explorer's answer."""
    question = load(check["explorer"])
    controls = {control.name: control for control in question.controls}
    settings = []
    for name, value in check["solution"].items():
        shown = "on" if value is True else "off" if value is False else f"{value}"
        unit = getattr(controls[name], "unit", "")
        settings.append(f"{controls[name].label} `{shown}`{f' {unit}' if unit else ''}")
    return f"{'; '.join(settings)}. The explorer then says: “{check['reached']}”"


def mistakes_of(check: Mapping[str, Any]) -> list[Mistake]:
    """Return the mistakes known to a self-check, each once; typing errors, such as a wrong unit, are left out.

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> check = NumberCheck(name="cores", question="How many cores?", answer=24, unit="cores", explanation="Four times six.",
    ...     misconceptions={6: "Those of one NUMA node."})
    >>> mistakes_of(check.to_dict())
    [Mistake(answer='6 cores', say='Those of one NUMA node.')]
    """
    answers: dict[str, list[str]] = {}
    for answer, say in _mistaken(check):
        answers.setdefault(say, []).append(answer)
    return [Mistake(", ".join(filter(None, given)), say) for say, given in answers.items()]


def _mistaken(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each wrong answer known to a check, with its feedback."""
    for one in check.get("mistakes", ()):
        if not one["feedback"].startswith(SLIPS):
            middle = (one["low"] + one["high"]) / 2
            yield f"{middle:,.{check['decimals']}f} {check['unit']}".strip(), one["feedback"]
    for option in check.get("options", ()):
        if not option["right"]:
            yield option["text"], option["feedback"]
    for condition in check.get("conditions", ()):
        yield "", condition["feedback"]


def class_screen(check: Mapping[str, Any]) -> str:
    """Return the class screen of a prediction.

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> class_screen(NumberCheck(name="cores", question="How many?", answer=24, explanation="Four times six.").to_dict())
    "A diamond for each guess on one line; below it the model's 24. In words: the number of guesses, their range and their median."
    """
    match check["kind"]:
        case "number":
            printed = check.get("documented")
            beside = f" and the printed {printed:,.10g} {check['unit']}".rstrip() if printed is not None else ""
            return (
                f"A diamond for each guess on one line; below it the model's {check['answer_text']}{beside}. "
                "In words: the number of guesses, their range and their median."
            )
        case "curve":
            printed = ", with the printed points" if check["documented"] else ""
            return f"Each drawn curve as a thin line, the model's over them{printed}."
        case "choice" if check.get("node"):
            dies, cores = check["node"]
            return f"The node, {dies} NUMA nodes of {cores} cores, with the number of people on what they chose; the model's choice is outlined."
        case _:
            return "Each option with a bar and the number of people who chose it; what is right is marked."


def check_lines(check: Mapping[str, Any], *, on_screen: bool) -> list[str]:
    """Return the part of a sheet about one self-check, as lines of Markdown.

    Parameters
    ----------
    check : mapping
        The check as plain data (`Check.to_dict`).
    on_screen : bool
        Whether it is a prediction, which the class screen shows.

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> check = NumberCheck(name="cores", question="How many cores?", answer=24, explanation="Four times six.")
    >>> check_lines(check.to_dict(), on_screen=False)[:3]
    ['**How many cores?**', '', '*Answer:* 24']
    """
    lines = [f"**{check['question']}**", ""]
    # A choice among all cores of a drawing cannot be read as a list.
    if check["kind"] == "choice" and not check.get("node"):
        lines += [*(f"- {'✓ ' if option['right'] else ''}{option['text']}" for option in check["options"]), ""]
    lines += [f"*Answer:* {answer_of(check)}", "", f"*Why:* {check['explanation']}", ""]
    if check["hints"]:
        lines += [f"*If nobody has it, say:* {' '.join(check['hints'])}", ""]
    if mistakes := mistakes_of(check):
        heading = (
            "Until it is reached, the page says:" if check["kind"] == "goal" else "Usual mistakes, and what to say:"
        )
        lines += [
            f"*{heading}*",
            "",
            *(f"- {f'{one.answer}: ' if one.answer else ''}{one.say}" for one in mistakes),
            "",
        ]
    if on_screen:
        lines += [f"*Class screen:* {class_screen(check)}", ""]
    return lines


def needs_page(question: str) -> list[str]:
    """Return the words of a question that send a reader to the page: it cannot be put to a room before the page is open.

    Examples
    --------
    >>> needs_page("In the explorer above, find a setting."), needs_page("How much is above the mean?")
    (['explorer'], [])
    """
    return _NEEDS_PAGE.findall(question)


def sheet(
    *,
    minutes: int,
    outcomes: Sequence[str],
    setting: str,
    predictions: Sequence[Mapping[str, Any]],
    checks: Sequence[Mapping[str, Any]],
) -> str:
    """Return the sheet of a page as Markdown.

    Parameters
    ----------
    minutes : int
        Time that the page takes. [min]
    outcomes : sequence of str
        Abilities that the page promises.
    setting : str
        Text known to a reader before the predictions, from the page.
    predictions, checks : sequence of mapping
        The predictions and the other self-checks of the page, as plain data.

    Examples
    --------
    >>> from hopperbook.self_checks import NumberCheck
    >>> check = NumberCheck(name="cores", question="How many cores has a node?", answer=24, explanation="Four times six.")
    >>> "*Answer:* 24" in sheet(minutes=20, outcomes=["count"], setting="", predictions=[check.to_dict()], checks=[])
    True
    """
    lines = [f"Minutes: {minutes}.", ""]
    if outcomes:
        lines += ["## Afterwards everybody can", "", *(f"- {outcome}" for outcome in outcomes), ""]
    if predictions:
        lines += ["## Ask, before anybody runs a cell", "", setting, ""]
        for check in predictions:
            lines += check_lines(check, on_screen=True)
    if checks:
        lines += ["## Exercises that the page marks", ""]
        for check in checks:
            lines += check_lines(check, on_screen=check["kind"] == "curve")
    return "\n".join(lines).strip() + "\n"
