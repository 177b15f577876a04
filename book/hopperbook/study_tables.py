"""Tables of documented values and assumptions in a study's notebook.

Every study page shows the same things in the same way, so they are made
in one place, from the data and the scorecard.
"""

from collections import Counter
from collections.abc import Iterable
from textwrap import wrap

from hopperbook.documented import by_study
from hopperbook.score import kept
from hopperbook.studies import load
from hopperbook.studies.study import Range, ranges
from hopperkit.questions.result import Table, table
from hopperlib.text import capital, digits

# Documented values that a page shows at once; more of them are folded away.
_OPEN_ROWS = 6
# Letters in a line of a row's label.
_LABEL = 32


def documented_table(study: str, *ids: str) -> Table:
    """Return documented values of a study as printed, with their places.

    Parameters
    ----------
    study : str
    *ids : str
        Rows to show, without the study's name and dot; none shows all.

    Raises
    ------
    ValueError
        If the study has no such row.

    Examples
    --------
    >>> documented_table("placement", "vasp-tasks").rows
    [('tasks of the VASP run', '384', 'MPI tasks', 'antypas2011, sec. 2 User Environment; launch line')]
    """
    values = {value.id.partition(".")[2]: value for value in by_study(study)}
    shown = len(ids or values)
    for name in ids:
        if name not in values:
            raise ValueError(f"study {study!r} has no documented value {name!r}; it has: {', '.join(values)}")
    return table(
        "Documented values, as printed",
        [values[name] for name in ids or values],
        {
            "What": lambda value: value.quantity,
            "Value": lambda value: value.value,
            "Unit": lambda value: value.unit,
            "Source and place": lambda value: f"{value.source}, {value.locator}",
        },
        folded=f"{shown} documented values, as printed" if shown > _OPEN_ROWS else "",
    )


def scorecard_table(study: str) -> Table:
    """Return the scorecard of a study: documented and reproduced values, with role and verdict, as `hopperbook.score.kept`
    has them.

    Examples
    --------
    >>> table = scorecard_table("placement")
    >>> [column.title for column in table.columns]
    ['What', 'Documented', 'Model', 'Role', 'Verdict', 'Why']
    """
    scored = kept(study)
    missed = tuple(at for at, row in enumerate(scored) if row.verdict.startswith("missed"))
    return table(
        "Scorecard of this study",
        scored,
        {
            "What": lambda row: row.quantity,
            "Documented": lambda row: f"{row.documented} {row.unit}".rstrip(),
            "Model": lambda row: row.reproduced,
            "Role": lambda row: row.role,
            "Verdict": lambda row: row.verdict,
            "Why": lambda row: row.note,
        },
        marked=missed,
        marked_label="the model misses this value",
        folded=f"Scorecard of this study, {len(scored)} values: {len(missed) or 'none'} missed",
    )


def row_labels(quantities: Iterable[str]) -> list[str]:
    """Return quantities as labels of a chart's rows: in lines of some 30 letters, and each label once, as sources repeat values.

    Parameters
    ----------
    quantities : iterable of str

    Examples
    --------
    >>> row_labels(["cores of Hopper", "cores of Hopper"])
    ['cores of Hopper', 'cores of Hopper (2)']
    >>> row_labels(["greatest time of all runs in the table"])
    ['greatest time of all runs in the<br>table']
    """
    seen: Counter[str] = Counter()
    labels = []
    for quantity in quantities:
        seen[quantity] += 1
        again = f" ({seen[quantity]})" if seen[quantity] > 1 else ""
        labels.append("<br>".join(wrap(quantity + again, _LABEL)))
    return labels


def _range(each: Range) -> str:
    """Return a range with its unit."""
    return f"{digits(each.low, 6)} to {digits(each.high, 6)} {each.unit}".rstrip()


def assumptions(study: str) -> str:
    """Return a study's assumptions as a Markdown list, those that are numbers with their ranges, and why it predicts nothing if so.

    Examples
    --------
    >>> assumptions("placement").startswith("- ")
    True
    """
    numbers = (
        f"{capital(each.what)}: {_range(each)} ({each.why}).{f' Changed {each.changed}.' if each.changed else ''}"
        for each in ranges(study).values()
    )
    listed = "\n".join(f"- {text}" for text in (*load(study).assumptions, *numbers))
    why = load(study).texts.get("no_prediction", "")
    return (
        f"{listed}\n\nNo number of this page can be predicted and compared with a printed one. {why}" if why else listed
    )
