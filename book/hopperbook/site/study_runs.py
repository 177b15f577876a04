"""The directive `{study-runs}`: the parts of the library that each study runs, and their share of its imports."""

from itertools import groupby
from statistics import median

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from hopperbook.minimality import Share
from hopperbook.studies.study import study_texts
from hopperlib.data_files import rows
from hopperlib.text import share

_HEAD = "| module | functions, each with the lines that run of all its lines |\n|---|---|\n"


def shares() -> tuple[Share, ...]:
    """Return the share of its imports that each study runs, in reading order.

    Examples
    --------
    >>> shares()[0].study
    'machines'
    """
    table = {row["study"]: row for row in rows("minimality.csv")}
    return tuple(
        Share(study, *(int(table[study][name]) for name in ("modules", "lines", "run"))) for study in study_texts()
    )


def study_shares() -> str:
    """Return the shares of all studies as Markdown: a sentence and a table.

    Examples
    --------
    >>> study_shares()[:26]
    'The median over the 22 stu'
    """
    all_shares = shares()
    lowest = min(all_shares, key=lambda one: one.share)
    titles = {study: texts["title"] for study, texts in study_texts().items()}
    lines = (
        f"| [{titles[one.study]}](#runs-{one.study}) | {one.modules} | {one.lines:,} | {one.run:,} | {share(one.share)} |"
        for one in all_shares
    )
    return (
        f"The median over the {len(all_shares)} studies is {share(median(one.share for one in all_shares))}, "
        f"the least {share(lowest.share)} ({titles[lowest.study]}).\n\n"
        "| study | modules | code lines imported | lines run | share |\n|---|---:|---:|---:|---:|\n" + "\n".join(lines)
    )


def study_runs() -> str:
    """Return the rest of the page as Markdown: for each study its modules and functions in reading order."""
    titles = {study: texts["title"] for study, texts in study_texts().items()}
    parts = []
    table = sorted(rows("functions-run.csv"), key=lambda row: list(titles).index(row["study"]))
    for study, of_study in groupby(table, key=lambda row: row["study"]):
        lines = []
        for module, of_module in groupby(of_study, key=lambda row: row["module"]):
            functions = ", ".join(f"{row['function']} ({row['lines_run']}/{row['lines']})" for row in of_module)
            lines.append(f"| `{module}` | {functions} |")
        parts.append(f"(runs-{study})=\n## {titles[study]}\n\n{_HEAD}" + "\n".join(lines))
    return "\n\n".join(parts)


class StudyRunsDirective(SphinxDirective):
    """Shows which functions of the library each study runs; with the argument ``shares``, the table of their shares.

    Sections of a directive come before its other content, so that the table has a directive for itself.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the parsed part of the page."""
        text = study_shares() if self.arguments == ["shares"] else study_runs()
        return list(self.parse_text_to_nodes(text, allow_section_headings=True))
