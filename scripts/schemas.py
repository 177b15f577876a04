"""Write the JSON schema of every ``--json`` into hopperkit/schemas, as the answers at defaults and examples show it.

    python scripts/schemas.py

What every answer has is required, of what differs the types are joined; null may stand anywhere among the facts.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperkit.questions.result import Badge
from hopperkit.render.data import result_data
from hopperlib.errors import InputError
from hopperlib.finding import LEVELS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "hopperkit" / "schemas"
# Commands that answer no question, or another one, by the name of their schema.
JOBS, IOR, TIMES = (str(ROOT / "data" / "samples" / name) for name in ("jobs", "ior", "run-times"))
# Tables with more names than this, or with names that are none, are keyed by what was given.
_MOST_NAMES = 60
TEXT, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}


def rows(optional: Sequence[str] = (), **columns: Any) -> dict[str, Any]:
    """Return the schema of a list of objects with these keys."""
    required = [name for name in columns if name not in optional]
    return {"type": "array", "items": {"type": "object", "properties": columns, "required": required}}


TABLE = {"caption": TEXT, "numeric": {"type": "array"}, "columns": rows(heading=TEXT), "csv": TEXT}
TABLE |= {"rows": {"type": "array", "items": TEXTS}, "marked": {"type": "array", "items": {"type": "integer"}}}
LEVEL = {"enum": list(LEVELS)}
BADGE = {"enum": list(get_args(Badge))}
ANY: dict[str, Any] = {}
# What people read of every answer.
PARTS = {
    "findings": rows(
        ("evidence", "advice"), code=TEXT, message=TEXT, level=LEVEL, evidence={"type": "object"}, advice=TEXT
    ),
    "values": rows(label=TEXT, text=TEXT, unit=TEXT, badge=BADGE, note=TEXT, value=ANY, low=ANY, high=ANY),
    "drawings": rows(title=TEXT, alt=TEXT, svg=TEXT),
    "figures": rows(title=TEXT, alt=TEXT, bundle=TEXT, figure={"type": "object"}, table={"type": "object"}),
    "copyables": rows(title=TEXT, text=TEXT, note=TEXT),
    "listings": rows(title=TEXT, lines={"type": "array"}),
    "tables": rows(**TABLE),
    "downloads": rows(name=TEXT, text=TEXT, media_type=TEXT),
}
ANSWER = {"type": "object", "properties": {"summary": TEXT, **PARTS}, "required": ["question", "summary", *PARTS]}


def commands() -> dict[str, list[list[str]]]:
    """Return command lines by the name of their schema."""
    swf = str(next(Path(JOBS).glob("*.swf")))
    texts = sorted(str(file) for file in Path(IOR).iterdir())
    times = str(next(Path(TIMES).glob("*.csv")))
    return {
        "machine-list": [["machine", "list"]],
        "machine-show": [["machine", "show", name] for name in ("hopper", "perlmutter", "toy")],
        "machine-compare": [
            ["machine", "compare", "--first", first, "--second", second]
            for first, second in (("hopper", "perlmutter"), ("toy", "lumi-g"))
        ],
        "nodes": [["nodes"]],
        "io": [["io", file] for file in texts] + [["io", *texts]],
        "fit": [["fit", times]],
        "trace-learn": [["trace", "learn", swf, "--nodes", "64"]],
        "trace-backtest": [["trace", "backtest", swf, "--nodes", "64"]],
        "trace-what-if": [["trace", "what-if", swf, "--nodes", "+10%", "--machine-nodes", "64"]],
        "trace-why": [["trace", "why", swf, "5", "--nodes", "64"]],
        "error": [["memory", "--need", "1", "--tasks", "0"], ["place", "aprun -n x a"], ["diagnose", "/nowhere"]],
    }


def printed(line: Sequence[str]) -> Any:
    """Return what a command prints with ``--json``."""
    return json.loads(CliRunner().invoke(hopper, [*line, "--json"], prog_name="hopper").stdout)


def samples() -> dict[str, list[Any]]:
    """Return answers by the name of their schema."""
    found: dict[str, list[Any]] = defaultdict(list)
    for name in QUESTIONS:
        question = load(name)
        for values in ({}, *(example.values for example in question.examples)):
            try:
                found[name].append(json.loads(json.dumps(result_data(name, question.run(**values)))))
            except InputError:
                continue
    return found | {name: [printed(line) for line in lines] for name, lines in commands().items()}


def joined(values: Sequence[Any], *, facts: bool = True) -> dict[str, Any]:
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
            schema["additionalProperties"] = joined([item for table in tables for item in table.values()], facts=facts)
        else:
            schema["properties"] = {
                name: joined([table[name] for table in tables if name in table], facts=facts) for name in names
            }
            schema["required"] = [name for name in names if all(name in table for table in tables)]
    if items:
        schema["items"] = joined(items, facts=facts)
    # Of what no answer here has a value nothing is known.
    if types == {"null"}:
        return {}
    return {"type": sorted(types) if len(types) > 1 else next(iter(types), "null"), **schema}


def schema(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the schema of a command's output."""
    parts = [
        {key: part for key, part in value.items() if key != "answer"} if isinstance(value, dict) else value
        for value in values
    ]
    plain = joined(parts)
    plain["type"] = "object" if isinstance(values[0], dict) else "array"
    if any("answer" in value for value in values):
        asked = {"question": {"const": values[0]["answer"]["question"]}}
        plain.setdefault("properties", {})["answer"] = {**ANSWER, "properties": asked | ANSWER["properties"]}
        plain.setdefault("required", []).append("answer")
    title = f"What `hopper {name.replace('-', ' ') if name in commands() else name} --json` prints"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **plain}


def texts() -> dict[str, str]:
    """Return the text of every schema by its name."""
    return {name: json.dumps(schema(name, values), indent=1) + "\n" for name, values in samples().items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{FOLDER} written\n")
