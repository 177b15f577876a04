"""Self-checks about a reader's data: the answer is computed from the data that the page has read.

If the data cannot answer the question (one partition, no repeats), a text explains that in place of the check.
"""

import math
from collections.abc import Mapping
from typing import Any

from IPython.display import Markdown

from hopperbook.self_checks import ChoiceCheck, NumberCheck, Option

MOST_OPTIONS = 6


def largest(
    name: str, question: str, values: Mapping[Any, float], *, quantity: str, explanation: str, decimals: int = 1
) -> ChoiceCheck | Markdown:
    """Return the question which of some groups has the largest value; the six largest are the options.

    Parameters
    ----------
    name, question, explanation : str
        As of any self-check.
    values : mapping
        Each group and its value; groups without a number are left out.
    quantity : str
        Meaning of the values, with their unit.
    decimals : int
        Decimals to which values are shown, and by which two of them are equal.

    Examples
    --------
    >>> check = largest("wait", "Who waits longest?", {"short": 1.5, "long": 30.25}, quantity="Mean wait [h]",
    ...     explanation="The mean over all jobs that started.")
    >>> [(option.text, option.right, option.feedback) for option in check.options]
    [('long', True, '30.2.'), ('short', False, '1.5, and the largest is 30.2.')]
    >>> largest("wait", "Who waits longest?", {"all": 1.5}, quantity="Mean wait [h]", explanation="-").data
    '*Who waits longest?* These data cannot say: there are not two groups to compare.'
    """
    known = {str(group): float(value) for group, value in values.items() if math.isfinite(value)}
    shown = dict(sorted(known.items(), key=lambda item: (-item[1], item[0]))[:MOST_OPTIONS])
    if len(shown) < 2:
        return _cannot(question, "there are not two groups to compare")
    texts = {group: f"{value:,.{decimals}f}" for group, value in shown.items()}
    most = next(iter(texts.values()))
    # Groups that are equal to the last decimal shown form one option: they cannot be distinguished.
    alike: dict[str, list[str]] = {}
    for group, text in texts.items():
        alike.setdefault(text, []).append(group)
    if len(alike) < 2:
        return _cannot(question, "all groups are equal")
    options = [
        Option(
            text=_named(groups),
            right=text == most,
            feedback=f"{text}." if text == most else f"{text}, and the largest is {most}.",
            value=shown[groups[0]],
        )
        for text, groups in alike.items()
    ]
    return ChoiceCheck(
        name=name,
        question=question,
        quantity=quantity,
        explanation=explanation,
        options=tuple(sorted(options, key=lambda option: option.text)),
    )


def _named(groups: list[str]) -> str:
    """Return the names of equal groups, the first two and how many more."""
    more = f" and {len(groups) - 2} more" if len(groups) > 2 else ""
    return ", ".join(groups[:2]) + more


def number(name: str, question: str, value: float | None, *, explanation: str, **rest: Any) -> NumberCheck | Markdown:
    """Return the question for a number; a text if the data do not give it.

    Parameters
    ----------
    name, question, explanation : str
        As of any self-check.
    value : float or None
        The answer; None or not a number if the data do not give it.
    **rest
        `unit`, `decimals`, `tolerance` and so on, as of `NumberCheck`. Misconceptions too close to the answer, or to each
        other, are left out: with other data they may be equal.

    Examples
    --------
    >>> number("used", "How much was used?", 84.6, unit="%", explanation="Node-hours.").answer_text
    '85 %'
    >>> number("used", "How much was used?", None, explanation="Node-hours.").data
    '*How much was used?* These data cannot say.'
    """
    if value is None or not math.isfinite(value):
        return _cannot(question)
    mistakes = dict(rest.pop("misconceptions", None) or {})
    # One after the other, as two of them may be equal with these data.
    kept: dict[float, str] = {}
    for mistake, said in mistakes.items():
        try:
            NumberCheck(
                name=name,
                question=question,
                answer=value,
                explanation=explanation,
                misconceptions=kept | {mistake: said},
                **rest,
            )
        except ValueError:
            continue
        kept[mistake] = said
    return NumberCheck(name=name, question=question, answer=value, explanation=explanation, misconceptions=kept, **rest)


def _cannot(question: str, why: str = "") -> Markdown:
    """Return the replacement for a question that the data cannot answer."""
    return Markdown(f"*{question}* These data cannot say{f': {why}' if why else ''}.")  # type: ignore[no-untyped-call]
