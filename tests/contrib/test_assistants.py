"""``hopper mcp`` as an assistant talks to it, and the schemas of the commands' output."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache

import jsonschema
import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.cli.elsewhere.assistants import call, tools
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load
from hopperkit.render.json_schema import answer_schema
from tests.contrib.conftest import PATIENCE_S, ROOT


@cache
def schema_of(name):
    """The schema of a question, which is answered at each of its examples for it: once for all tests."""
    return answer_schema(load(name))


@pytest.fixture(scope="module")
def talk():
    """A function that sends a JSON-RPC request to a running server and returns its answer."""
    command = [sys.executable, "-m", "hopperkit", "mcp"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def send(method, number=None, **parameters):
            request = {"jsonrpc": "2.0", "method": method, "params": parameters} | ({"id": number} if number else {})
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            answer = json.loads(server.stdout.readline()) if number else {}
            assert answer.get("id") == number
            return answer.get("result")

        who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
        assert send("initialize", 1, **who)["serverInfo"]["name"] == "hopper"
        send("notifications/initialized")
        yield send
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0


def test_every_question_is_a_tool(talk):
    listed = talk("tools/list", 2)["tools"]
    assert [tool["name"] for tool in listed] == list(QUESTIONS)
    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])


def test_an_answer_is_the_command_s_with_its_provenance(talk):
    asked = {"need_gb": 1.5, "tasks": 384}
    first, again = (talk("tools/call", number, name="memory", arguments=asked) for number in (3, 4))
    assert first == again
    data = first["structuredContent"]
    jsonschema.validate(data, next(tool["outputSchema"] for tool in tools() if tool["name"] == "memory"))
    printed = json.loads(CliRunner().invoke(hopper, ["memory", "--need", "1.5", "--tasks", "384", "--json"]).stdout)
    assert data["answer"]["values"] == printed["answer"]["values"]
    assert all(value["badge"] and value["note"] for value in data["answer"]["values"] if value["badge"] != "predicted")
    assert first["content"][0]["text"] == printed["answer"]["summary"]


def test_a_refusal_is_one_sentence(talk):
    refused = talk("tools/call", 5, name="memory", arguments={"tasks": 0})
    assert refused["isError"]
    assert refused["content"][0]["text"] == "tasks=0 must be from 1 to 1,000,000,000, the range of this control"
    assert call("memry", {})[0]["error"]["message"] == "there is no tool 'memry'; did you mean 'memory'?"


SAMPLES = ROOT / "data" / "samples"
# Command lines that are no defaults and no examples of the questions, by the name of their schema.
PRINTED = {
    "place": ["place", "--machine", "lumi-g", "srun -N 2 -n 16 --gpus-per-node=8 -c 7 ./a.out"],
    "memory": ["memory", "--need", "3", "--tasks", "96", "--machine", "cluster"],
    "stripe": ["stripe", "--size", "3TB", "--writers", "500", "--pattern", "shared"],
    "diagnose": ["diagnose", str(ROOT / "README.md")],
    "build": ["build", "cc -dynamic -o a a.c"],
    "watch": ["watch", "{history}"],
}


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_command_prints_fits_its_schema(name, tmp_path):
    history = tmp_path / "history.csv"
    history.write_text("time,value\n" + "".join(f"{run},{100 + run % 7}\n" for run in range(50)), encoding="utf-8")
    line = [word.format(history=history) for word in PRINTED[name]]
    printed = CliRunner().invoke(hopper, [*line, "--json"], prog_name="hopper")
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(printed.stdout), schema)


def test_a_schema_refuses_what_is_no_such_answer():
    data, _ = call("memory", {})
    for broken in ({}, data | {"tasks": "many"}, data | {"answer": data["answer"] | {"question": "place"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema_of("memory"))


def test_the_command_prints_its_schema():
    printed = CliRunner().invoke(hopper, ["memory", "--schema"], prog_name="hopper")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == schema_of("memory")
