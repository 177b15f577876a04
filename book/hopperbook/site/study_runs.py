"""The directive `{study-runs}`: the parts of the library that each study runs, and their share of its imports."""

from itertools import groupby
from statistics import median
from typing import NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from hopperbook.studies.study import study_texts
from hopperlib.data_files import rows
from hopperlib.text import share

_HEAD = "| module | functions, each with the lines that run of all its lines |\n|---|---|\n"


class StudyShare(NamedTuple):
    """A row of ``data/minimality.csv``: lines of `hopperlib` that a study imports, and those that it runs."""

    study: str
    modules: int
    lines: int
    run: int

    @property
    def share(self) -> float:
        """Lines run over lines imported. [fraction]"""
        return self.run / self.lines


def shares() -> tuple[StudyShare, ...]:
    """Return the share of its imports that each study runs, in reading order.

    Examples
    --------
    >>> shares()[0].study
    'machines'
    """
    table = {row["study"]: row for row in rows("minimality.csv")}
    return tuple(
        StudyShare(study, *(int(table[study][name]) for name in ("modules", "lines", "run"))) for study in study_texts()
    )


def study_runs() -> str:
    """Return the page as Markdown: a table of shares, then for each study its modules and functions in reading order."""
    all_shares = shares()
    lowest = min(all_shares, key=lambda one: one.share)
    titles = {study: texts["title"] for study, texts in study_texts().items()}
    parts = [
        f"The median over the {len(all_shares)} studies is {share(median(one.share for one in all_shares))}, "
        f"the least {share(lowest.share)} ({titles[lowest.study]}).",
        "\n| study | modules | code lines imported | lines run | share |\n|---|---:|---:|---:|---:|\n"
        + "\n".join(
            f"| [{titles[one.study]}](#runs-{one.study}) | {one.modules} | {one.lines:,} | {one.run:,} | {share(one.share)} |"
            for one in all_shares
        ),
    ]
    table = sorted(rows("functions-run.csv"), key=lambda row: list(titles).index(row["study"]))
    for study, of_study in groupby(table, key=lambda row: row["study"]):
        lines = []
        for module, of_module in groupby(of_study, key=lambda row: row["module"]):
            functions = ", ".join(f"{row['function']} ({row['lines_run']}/{row['lines']})" for row in of_module)
            lines.append(f"| `{module}` | {functions} |")
        parts.append(f"(runs-{study})=\n## {titles[study]}\n\n{_HEAD}" + "\n".join(lines))
    return "\n\n".join(parts).replace("%", " %")


class StudyRunsDirective(SphinxDirective):
    """Shows which functions of the library each study runs."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed page."""
        return list(self.parse_text_to_nodes(study_runs(), allow_section_headings=True))
