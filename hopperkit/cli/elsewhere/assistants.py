"""``hopper mcp``: the questions as tools of the Model Context Protocol, over standard input and output.

An assistant gets the answer that the command prints with ``--json``, without drawings and charts: the same values give
the same numbers, each with its badge and its source.

References
----------
Model Context Protocol, specification of 2025-06-18: tools, structured content. The extra ``mcp`` installs its Python
reference library; nothing else imports it.
"""

from typing import Any

import click

from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.controls import Control
from hopperkit.questions.question import load
from hopperkit.render.data import error_data, result_data
from hopperkit.render.json_schema import ANSWER
from hopperlib import __version__
from hopperlib.errors import InputError, did_you_mean

# Parts that an assistant cannot display, or that are redundant.
_LEFT_OUT = ("drawings", "figures", "downloads", "listings")
_TYPES = {"slider": "number", "number": "number", "switch": "boolean"}


def tools() -> list[dict[str, Any]]:
    """Return every question as a tool: its name, description, and the schemas of its controls and answer.

    Examples
    --------
    >>> memory = next(tool for tool in tools() if tool["name"] == "memory")
    >>> memory["inputSchema"]["properties"]["tasks"]["type"], memory["inputSchema"]["additionalProperties"]
    ('number', False)
    """
    return [_tool(name) for name in QUESTIONS]


def _tool(name: str) -> dict[str, Any]:
    """Return one question as a tool."""
    question = load(name)
    inputs: dict[str, Any] = {
        "type": "object",
        "properties": {control.name: _property(control) for control in question.controls},
        "required": [control.name for control in question.controls if control.required],
        "additionalProperties": False,
    }
    return {
        "name": name,
        "title": question.title,
        "description": question.question,
        "inputSchema": inputs,
        "outputSchema": _output_schema(name),
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    }


def _output_schema(name: str) -> dict[str, Any]:
    """Return the schema of an answer without the parts omitted for assistants; `hopper NAME --schema` includes its
    facts.
    """
    parts = {part: schema for part, schema in ANSWER["properties"].items() if part not in _LEFT_OUT}
    required = [part for part in ANSWER["required"] if part not in _LEFT_OUT]
    answer = {"type": "object", "properties": {"question": {"const": name}, **parts}, "required": required}
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}


def _property(control: Control) -> dict[str, Any]:
    """Return the schema of a control's value."""
    unit = f" [{control.unit}]" if control.unit else ""
    words = [f"{control.label}{unit}.", control.help, f"Assumed: {control.assumed}" if control.assumed else ""]
    schema: dict[str, Any] = {"description": " ".join(filter(None, words)), "type": _TYPES.get(control.kind, "string")}
    if control.kind in ("slider", "number"):
        schema |= {"minimum": control.low, "maximum": control.high}
    if control.kind in ("text", "file"):
        return schema | {"maxLength": control.max_length}
    # A machine may also be a machine file.
    if control.kind == "choice" and control.name != "machine":
        schema["enum"] = [value for value, _ in control.to_dict()["options"]]
    return schema | {"default": control.default}


def call(name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Call a tool; return its answer, and whether the arguments were rejected.

    Parameters
    ----------
    name : str
        Name of the tool, that of a question.
    arguments : dict[str, Any]
        Values of its controls by name.

    Examples
    --------
    >>> call("memory", {"need_gb": 1.0, "tasks": 48})[0]["answer"]["summary"]
    'Cheapest on Hopper: 24 tasks per node on 2 standard nodes, cost factor 1.'
    >>> call("memory", {"tasks": 0})[0]["error"]["message"]
    'tasks=0 must be from 1 to 1,000,000,000, the range of this control'
    """
    try:
        if name not in QUESTIONS:
            raise InputError(f"there is no tool {name!r}{did_you_mean(name, tuple(QUESTIONS))}")
        data = result_data(name, load(name).run(**arguments))
    except InputError as error:
        return error_data(error), True
    for part in _LEFT_OUT:
        del data["answer"][part]
    return data, False


@click.command()
def mcp() -> None:
    """Serve the questions to an assistant, over standard input and output, until it closes them.

    Needs the protocol's library: pip install '.[mcp]' in the folder of the repository. It reads no files except machine
    files named in calls.
    """
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    async def listed(_context: Any, _parameters: Any) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": tools()})

    async def called(_context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        data, refused = call(given.name, given.arguments or {})
        words = data["error"]["message"] if refused else data["answer"]["summary"]
        content: dict[str, Any] = {"content": [{"type": "text", "text": words}], "isError": refused}
        return types.CallToolResult.model_validate(content if refused else content | {"structuredContent": data})

    server = Server("hopper", version=__version__, on_list_tools=listed, on_call_tool=called)

    async def serve() -> None:
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())

    anyio.run(serve)
