"""Question: the scorecard, to search and to filter.

It reads ``data/scorecard.csv``, since the studies themselves cannot run in a
page: some need packages that the browser does not have. A test holds the table
to the studies.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any

from hopperbook.documented import VERDICTS
from hopperbook.questions import search as browse
from hopperkit.questions import ask
from hopperkit.questions.result import Facts, Result, table
from hopperlib.data_files import rows
from hopperlib.finding import Finding
from hopperlib.text import count

Row = dict[str, str]

_ROLES = ("retrodicted", "calibrated", "arithmetic", "shape", "input", "not modelled")


@cache
def _table() -> tuple[Row, ...]:
    """Return the rows of the scorecard."""
    return tuple(rows("scorecard.csv"))


class Search(ask.Setting):
    """One search."""

    search: str = browse.words("memory, Franklin, 1.88")
    study: str = browse.study()
    role: str = browse.one_of("Role", "Any role", _ROLES)
    verdict: str = browse.one_of("Verdict", "Any verdict", VERDICTS, help="Missed takes the explained ones too.")
    shown: int = browse.most_rows(50)

    @cached_property
    def found(self) -> list[Row]:
        """The rows that are found."""
        parts = ("id", "quantity", "unit", "documented", "note", "place")
        return [
            row
            for row in _table()
            if browse.keeps(self.study, row["study"])
            and browse.keeps(self.role, row["role"])
            and browse.keeps(self.verdict, row["verdict"], row["verdict"].removesuffix(", explained"))
            and browse.has_words(self.search, *(row[part] for part in parts))
        ]

    @cached_property
    def verdicts(self) -> Counter[str]:
        """How many of the rows have each verdict."""
        return Counter(row["verdict"] for row in self.found)

    @property
    def unexplained(self) -> list[str]:
        """Ids of the rows that are missed without an explanation."""
        return [row["id"] for row in self.found if row["verdict"] == "missed"]


def answer(search: Search) -> Result:
    """Return the answer."""
    cut, caption = browse.rows_shown(search.found, search.shown, "row")
    return Result(
        summary=_summary(search, caption),
        findings=tuple(_findings(search)),
        tables=(
            table(
                f"Scorecard: {caption}",
                cut,
                {
                    "What": lambda row: (
                        f"{row['study']}: {row['quantity']}" if search.study == browse.ALL else row["quantity"]
                    ),
                    "Documented": lambda row: f"{row['documented']} {row['unit']}".strip(),
                    "Model": lambda row: row["reproduced"] or "-",
                    "Role": lambda row: row["role"],
                    "Verdict": lambda row: row["verdict"],
                    "Why, and where it stands": lambda row: (
                        f"{row['note']} ({row['place']})" if row["note"] else row["place"]
                    ),
                },
                marked=tuple(number for number, row in enumerate(cut) if row["verdict"].startswith("missed")),
                marked_label="the model misses this value",
            ),
        ),
        facts=_facts(search),
    )


def _summary(search: Search, caption: str) -> str:
    predictions, won, rival_too = _won(search.found)
    verdicts = ", ".join(
        f"{search.verdicts[name]} {name.replace(',', ' and')}" for name in VERDICTS if search.verdicts[name]
    )
    sentence = f"{caption}: {verdicts}." if verdicts else f"{caption}."
    if not predictions:
        return sentence
    held = sum(not row["verdict"].startswith("missed") for row in search.found if row["role"] == "retrodicted")
    rivals = f"{won} narrow enough to say something, {rival_too} of these for the simplest rival too"
    return f"{count(predictions, 'retrodiction')}: {held} of the nominal 90 % intervals hold, {rivals}. {sentence}"


def _won(found: Sequence[Row]) -> tuple[int, int, int]:
    """Return the number of retrodictions among the rows, those reproduced, and those also reproduced by the rival."""
    predicted = [row for row in found if row["role"] == "retrodicted"]
    won = [row for row in predicted if row["verdict"] == "reproduced"]
    return len(predicted), len(won), sum(row["rival_verdict"] == "reproduced" for row in won)


def _findings(search: Search) -> Iterator[Finding]:
    if search.unexplained:
        message = f"missed, and nobody explains it: {', '.join(search.unexplained)}"
        yield Finding("unexplained", message, "problem")


def _facts(search: Search) -> Facts:
    named = {
        "found": len(search.found),
        "missed": search.verdicts["missed"],
        "explained": search.verdicts["missed, explained"],
    }
    return Facts(named, rest=lambda: _contract(search))


def _contract(search: Search) -> dict[str, Any]:
    """Return the additional output of `python -m hopperbook scorecard --json`; its keys are stable."""
    predictions, won, rival_too = _won(search.found)
    return {
        "rows": [_plain(row) for row in search.found],
        "summary": {
            "retrodictions": predictions,
            "won": won,
            "rival_wins_too": rival_too,
            "rows": len(search.found),
            "roles": dict(Counter(row["role"] for row in search.found)),
            "verdicts": dict(search.verdicts),
            "unexplained": search.unexplained,
        },
    }


def _plain(row: Row) -> dict[str, Any]:
    """Return a row for programs: numbers as numbers, and of a retrodiction the intervals, the score and the rival."""

    def number(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    def interval(name: str) -> list[float | None]:
        return [number(f"{name}low"), number(f"{name}high")]

    predicted = bool(row["rival"])
    rival = {
        "rival": row["rival"],
        "value": number("rival_value"),
        "interval": interval("rival_"),
        "verdict": row["rival_verdict"],
        "score": number("rival_score"),
    }
    texts = ("id", "study", "quantity", "unit", "role", "documented", "reproduced", "verdict", "note", "place")
    return {
        **{name: row[name] for name in texts},
        "seeds": int(row["seeds"]) if row["seeds"] else None,
        "deviation": number("deviation"),
        "tolerance": number("tolerance"),
        "interval": interval("") if predicted else None,
        "documented_interval": interval("documented_") if predicted else None,
        "null": rival if predicted else None,
        "score": number("score"),
    }


QUESTION = ask.declared(
    Search,
    answer,
    title="Scorecard",
    sentence="Which documented values do the models give, and how closely?",
    examples={
        "Retrodictions": {"role": "retrodicted"},
        "Misses": {"verdict": "missed"},
        "What no model gives": {"role": "not modelled"},
        "The memory study": {"study": "memory"},
    },
)
