"""The JSON schema of ``hopper NAME --json``, computed on request from the answers at defaults and examples.

A key of every answer is required, and differing types are merged; null is allowed anywhere among the facts.
"""

import json
from collections.abc import Sequence
from typing import Any, get_args

from hopperkit.questions.question import Question
from hopperkit.questions.result import Badge
from hopperkit.render.data import result_data
from hopperlib.errors import InputError
from hopperlib.finding import LEVELS

# Tables with more names than this, or with names that are not identifiers, have input-dependent keys.
_MOST_NAMES = 60
_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}


def _rows(optional: Sequence[str] = (), **columns: Any) -> dict[str, Any]:
    """Return the schema of a list of objects with these keys."""
    required = [name for name in columns if name not in optional]
    return {"type": "array", "items": {"type": "object", "properties": columns, "required": required}}


_TABLE: dict[str, Any] = {"caption": _TEXT, "numeric": {"type": "array"}, "columns": _rows(heading=_TEXT), "csv": _TEXT}
_TABLE |= {"rows": {"type": "array", "items": _TEXTS}, "marked": {"type": "array", "items": {"type": "integer"}}}
_LEVEL = {"enum": list(LEVELS)}
_BADGE = {"enum": list(get_args(Badge))}
_ANY: dict[str, Any] = {}
# The human-readable part of every answer.
_PARTS = {
    "findings": _rows(
        ("evidence", "advice"), code=_TEXT, message=_TEXT, level=_LEVEL, evidence={"type": "object"}, advice=_TEXT
    ),
    "values": _rows(label=_TEXT, text=_TEXT, unit=_TEXT, badge=_BADGE, note=_TEXT, value=_ANY, low=_ANY, high=_ANY),
    "drawings": _rows(title=_TEXT, alt=_TEXT, svg=_TEXT),
    "figures": _rows(title=_TEXT, alt=_TEXT, bundle=_TEXT, figure={"type": "object"}, table={"type": "object"}),
    "copyables": _rows(title=_TEXT, text=_TEXT, note=_TEXT, before=_TEXT),
    "listings": _rows(title=_TEXT, lines={"type": "array"}),
    "tables": _rows(**_TABLE),
    "downloads": _rows(name=_TEXT, text=_TEXT, media_type=_TEXT),
}
#: Schema of the part of every answer that people read.
ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {"summary": _TEXT, **_PARTS},
    "required": ["question", "summary", *_PARTS],
}


def answer_schema(question: Question) -> dict[str, Any]:
    """Return the JSON schema of a question's ``--json`` output.

    Parameters
    ----------
    question : Question
        It is answered at its defaults and at each of its examples.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> answer_schema(load("stripe"))["properties"]["answer"]["properties"]["question"]
    {'const': 'stripe'}
    """
    answers = []
    for values in ({}, *(example.values for example in question.examples)):
        try:
            answers.append(json.loads(json.dumps(result_data(question.name, question.run(**values)))))
        except InputError:
            continue
    plain = _joined([{key: part for key, part in answer.items() if key != "answer"} for answer in answers])
    const = {"question": {"const": question.name}}
    plain["type"] = "object"
    plain.setdefault("properties", {})["answer"] = {**ANSWER, "properties": const | ANSWER["properties"]}
    plain.setdefault("required", []).append("answer")
    title = f"What `hopper {question.name} --json` prints"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **plain}


def _joined(values: Sequence[Any], *, facts: bool = True) -> dict[str, Any]:
    """Return a schema that all values fit."""
    types = {"null"} if facts else set()
    schema: dict[str, Any] = {}
    for value in values:
        types.add(
            {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}.get(
                type(value), "null"
            )
        )
    tables = [value for value in values if isinstance(value, dict)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if tables:
        names = list(dict.fromkeys(name for table in tables for name in table))
        if names and (len(names) > _MOST_NAMES or not all(name.isidentifier() for name in names)):
            schema["additionalProperties"] = _joined([item for table in tables for item in table.values()], facts=facts)
        else:
            schema["properties"] = {
                name: _joined([table[name] for table in tables if name in table], facts=facts) for name in names
            }
            schema["required"] = [name for name in names if all(name in table for table in tables)]
    if items:
        schema["items"] = _joined(items, facts=facts)
    # Of what no answer here has a value nothing is known.
    if types == {"null"}:
        return {}
    return {"type": sorted(types) if len(types) > 1 else next(iter(types), "null"), **schema}
