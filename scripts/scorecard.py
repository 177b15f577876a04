"""Write the scorecard where it is kept: ``data/scorecard.csv``, its headline in ``README.md``, its summary on its page.

    python scripts/scorecard.py     (or `make scorecard`) after a study, its model or a documented value has changed

Look at the difference before you commit it: a row that moves is a result that moves.
"""

import re
from pathlib import Path

from hopperbook import score
from hopperbook.forecasts import tables

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Write the files."""
    table = score.rows()
    (ROOT / "data" / "scorecard.csv").write_text(score.to_csv(table), encoding="utf-8")
    lines = {
        ("README.md", "scorecard"): f"{tables.summary()}; {score.headline(table)}.",
        ("book/scorecard.md", "summary"): score.summary_line(table),
    }
    for (name, mark), line in lines.items():
        file = ROOT / name
        text = re.sub(
            rf"(<!-- {mark} -->\n).*?(\n<!-- /{mark} -->)",
            lambda found, line=line: found[1] + line + found[2],
            file.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
