"""Many scripts at once: every annotation is a finding of `hopper place` on the script, on its line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.questions.question import load
from tests.contrib.conftest import ROOT

# What SARIF 2.1.0 asks for in the parts that are written.
MESSAGE = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
PLACE = {
    "type": "object",
    "properties": {
        "artifactLocation": {"properties": {"uri": {"type": "string", "pattern": r"^[^ \\]+$"}}, "required": ["uri"]},
        "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}, "required": ["startLine"]},
    },
    "required": ["artifactLocation", "region"],
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {"items": {"properties": {"physicalLocation": PLACE}, "required": ["physicalLocation"]}},
        "suppressions": {
            "items": {"properties": {"kind": {"const": "inSource"}}, "required": ["kind", "justification"]}
        },
    },
    "required": ["message"],
    "additionalProperties": False,
}
RUN = {
    "type": "object",
    "properties": {
        "tool": {"properties": {"driver": {"required": ["name"]}}, "required": ["driver"]},
        "invocations": {"items": {"required": ["executionSuccessful"]}},
        "results": {"type": "array", "items": RESULT},
    },
    "required": ["tool"],
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN},
    },
    "required": ["version", "runs"],
    "additionalProperties": False,
}
SCRIPTS = [
    value for values in ({}, *(each.values for each in load("place").examples)) if (value := values.get("line"))
] + [
    "#!/bin/bash\n#SBATCH -C cpu -q regular -N 2\n#SBATCH -t 90:00:00\nsrun -n 16 -c 4 ./a.out\n",
    "#!/bin/bash\n#SBATCH -p standard-q\n#SBATCH -A project_465000001 --gpus-per-node=8\nsrun -n 16 ./a.out # lumi\n",
    "#!/bin/bash\n#SBATCH -N 1\necho no launch line\n",
    "#PBS -l mppwidth=48\naprun -n 24 -N 12 ./first\naprun -n 48 -S 9 ./second\n",
    "#!/bin/bash\nx=1\n",
]


def check(*words, folder):
    """Run `hopper place --sarif` and return its exit status, its output and its SARIF."""
    target = folder / "found.sarif"
    done = CliRunner().invoke(hopper, ["place", "--sarif", str(target), *words], prog_name="hopper")
    log = json.loads(target.read_text(encoding="utf-8"))
    jsonschema.validate(log, SARIF)
    return done.exit_code, done.stdout, log["runs"][0]


def annotated(run):
    """Return (file, line, level, code, message) of each result."""
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        line = place["region"]["startLine"]
        yield place["artifactLocation"]["uri"], line, result["level"], result["ruleId"], result["message"]["text"]


def placed(file):
    """Return the findings of `hopper place` on a script, by launch line, as problems and advice."""
    said, number = set(), 0
    while True:
        number += 1
        done = CliRunner().invoke(hopper, ["place", "--json", "--launch", str(number), file], prog_name="hopper")
        data = json.loads(done.stdout)
        if "error" in data:
            # Without a launch line, or for a machine that is not known, there is nothing to refuse.
            sure = (
                "holds no aprun" not in data["error"]["message"] and "names no machine" not in data["error"]["message"]
            )
            refused = number == 1 and sure
            return said | ({("error", data["error"]["message"])} if refused else set())
        for finding in data["answer"]["findings"]:
            if finding["level"] in ("problem", "advice"):
                level = "error" if finding["level"] == "problem" else "warning"
                said.add((level, f"{finding['message']} {finding.get('advice', '')}".strip()))


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Some scripts in a folder."""
    monkeypatch.chdir(tmp_path)
    files = []
    for number, text in enumerate(SCRIPTS):
        Path(f"job {number}.sh").write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        files.append(f"job {number}.sh")
    return files


def test_annotations_are_what_place_says(scripts, tmp_path):
    _, _, run = check(*scripts, folder=tmp_path)
    found = list(annotated(run))
    assert len({code for _, _, _, code, _ in found}) >= 4
    differing = []
    for file in scripts:
        own = {(level, text) for uri, _, level, _, text in found if uri == file.replace(" ", "%20")}
        if own != (said := placed(file)):
            differing.append((file, own ^ said))
    assert not differing
    lines = {uri: Path(uri.replace("%20", " ")).read_text(encoding="utf-8").count("\n") for uri, *_ in found}
    assert all(1 <= line <= lines[uri] for uri, line, *_ in found)


def test_each_stands_on_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("job.sh").write_text(SCRIPTS[-5], encoding="utf-8")
    status, printed, run = check("job.sh", folder=tmp_path)
    assert status == 1
    assert (3, "time-over-limit") in {(line, code) for _, line, _, code, _ in annotated(run)}
    assert (4, "better-line") in {(line, code) for _, line, _, code, _ in annotated(run)}
    pattern = json.loads((ROOT / "contrib/repository/matcher.json").read_text(encoding="utf-8"))
    pattern = pattern["problemMatcher"][0]["pattern"][0]["regexp"]
    matched = [re.match(pattern, line).groups() for line in printed.splitlines()]
    assert [(file, int(line), level, code) for file, line, level, _, code in matched] == [
        each[:4] for each in annotated(run)
    ]


def test_what_is_ignored_needs_a_reason(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "#PBS -l mppwidth=48\naprun -n 24 -N 12 ./a{}\n"
    Path("with.sh").write_text(text.format("  # hopper: ignore needs the memory"), encoding="utf-8")
    Path("above.sh").write_text(text.format("").replace("aprun", "# hopper: ignore: measured\naprun"), encoding="utf-8")
    Path("without.sh").write_text(text.format("  # hopper: ignore"), encoding="utf-8")
    status, printed, run = check("with.sh", "above.sh", folder=tmp_path)
    assert (status, printed) == (0, "")
    assert {each["suppressions"][0]["justification"] for each in run["results"]} == {"needs the memory", "measured"}
    status, printed, _ = check("without.sh", folder=tmp_path)
    assert status == 1
    assert "[ignore-without-reason]" in printed
    assert "[idle-numa-nodes]" in printed


def test_the_action_checks_what_git_knows(tmp_path):
    for name, text in {
        "good.sh": "#PBS -l mppwidth=24\naprun -n 24 ./a\n",
        "bad name.sh": SCRIPTS[-2],
        "other.txt": "x\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "hopper"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hopperkit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    action = yaml.safe_load((ROOT / "contrib/repository/action.yml").read_text(encoding="utf-8"))
    patterns = {"HOPPER_FILES": action["inputs"]["files"]["default"]}
    done = subprocess.run(
        [ROOT / "contrib/repository/check.sh"],
        cwd=tmp_path,
        env=environment | patterns,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert {line.split(":")[0] for line in done.stdout.splitlines()} == {"bad name.sh"}
    assert (tmp_path / "hopper.sarif").exists()


def test_the_hook_s_line_is_one_of_hopper(tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    script = tmp_path / "job.sh"
    script.write_text("#PBS -l mppwidth=24\naprun -n 24 ./a\n", encoding="utf-8")
    program, *words = hook["entry"].split()
    assert program == "hopper"
    assert re.search(hook["files"], str(script))
    assert CliRunner().invoke(hopper, [*words, str(script)], prog_name="hopper").exit_code == 0
