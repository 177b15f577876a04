"""Check that notebooks are stored without outputs and with their answers folded, or mend that: outputs are made by the build.

    python scripts/notebook_outputs.py notebooks             exit status 1 and a line for each that has some
    python scripts/notebook_outputs.py --clear notebooks     remove them, and fold code that gives an answer away

Takes notebooks and folders of notebooks.
"""

import json
import sys
from pathlib import Path

from notebook_versions import hide_answers

# What JupyterLab writes for itself, which differs from one reader's machine to the next.
PERSONAL_METADATA = ("widgets", "vscode", "toc-autonumbering")


def clear(notebook: dict) -> bool:
    """Remove outputs, execution counts and personal metadata in place; return whether there were any."""
    found = any(notebook["metadata"].pop(key, None) is not None for key in PERSONAL_METADATA)
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        found |= bool(cell["outputs"]) or cell["execution_count"] is not None
        found |= cell["metadata"].pop("execution", None) is not None
        cell["outputs"] = []
        cell["execution_count"] = None
    return found


def main(arguments: list[str]) -> int:
    """Check or clear the notebooks named; return the exit status."""
    clearing = "--clear" in arguments
    paths = [Path(argument) for argument in arguments if argument != "--clear"]
    status = 0
    for path in paths:
        for file in sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]:
            if ".ipynb_checkpoints" in file.parts:
                continue
            notebook = json.loads(file.read_text(encoding="utf-8"))
            if not (clear(notebook) | hide_answers(notebook)):
                continue
            if clearing:
                file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            else:
                print(
                    f"{file}: has outputs, or an answer that is not folded; mend it with: python scripts/notebook_outputs.py --clear {file}"
                )
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
