"""Write the scorecard where it is kept: ``data/scorecard.csv`` and its summary line in ``README.md``.

    python scripts/scorecard.py     (or `make scorecard`) after a study, its model or a documented value has changed

Look at the difference before you commit it: a row that moves is a result that moves.
"""

import re
from pathlib import Path

from hopperbook import score
from hopperbook.forecasts import tables

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Write both files."""
    table = score.rows()
    (ROOT / "data" / "scorecard.csv").write_text(score.to_csv(table), encoding="utf-8")
    readme = ROOT / "README.md"
    line = f"<!-- scorecard -->\n{tables.summary()} {score.summary_line(table)}\n<!-- /scorecard -->"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(re.sub(r"<!-- scorecard -->.*?<!-- /scorecard -->", lambda _: line, text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
