"""Editable models: the few lines that compute a formula of a study, to be changed and run next to it."""

from dataclasses import dataclass
from typing import Any

MIME_TYPE = "application/vnd.hopper.model+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBox:
    """A formula as Python that a reader can change.

    Parameters
    ----------
    name : str
        Unique in the book.
    title : str
        The suggested change.
    start : str
        The initial code, which prints the result of the formula.

    Examples
    --------
    >>> ModelBox(name="half", title="Halves", start="print(1 / 2)").to_dict()["start"]
    'print(1 / 2)'
    """

    name: str
    title: str
    start: str

    def to_dict(self) -> dict[str, Any]:
        """Return the box as plain data."""
        return {"name": self.name, "title": self.title, "start": self.start}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the data for the book's box; a notebook shows the code, to be copied into a cell."""
        text = f"**Change the model:** {self.title} Copy it into a cell.\n\n```python\n{self.start}\n```"
        return {MIME_TYPE: self.to_dict(), "text/markdown": text, "text/plain": self.start}


_BOXES = {
    "bad-nodes": (
        "How does the chance grow if bad nodes are twice as many, or if a check finds nine in ten of them?",
        "from math import comb\n\nnodes, bad = 6384, 5\n\nfor job in (64, 256, 1024, 4096):\n    good = comb(nodes - bad, job) / comb(nodes, job)\n    print(f'{job:5} nodes: {1 - good:.1%}')",
    ),
    "hybrid": (
        "What if MPI takes half of the time that the model gives it, or a tenth of the work is serial?",
        "mpi, waiting, shared = 0.2, 0.5, 0.95\n\nfor threads in (1, 2, 3, 6):\n    serial = (1 - shared) * threads\n    work = (1 - waiting) * (serial + shared) + waiting * (serial + shared)\n    print(threads, 'threads:', round((1 - mpi) * work + mpi / threads, 3))",
    ),
    "memory": (
        "Which share of copies makes four merged tasks fit? And what if each thread needs a separate stack?",
        "need_gb, usable_gb = 3.0, 31.0\n\nfor share in (0.0, 1/3, 0.7, 0.9):\n    for threads in (1, 2, 6):\n        merged = need_gb * (share + (1 - share) * threads)\n        print(f'copies {share:.0%}, {threads} threads: {merged:.1f} GB, {int(usable_gb / merged)} fit')",
    ),
    "pages-and-libraries": (
        "What if the cost of a page grows with its size, for example with its square root?",
        "large_gb_s, page_cost_us = 5.0, 1.5\n\nfor kilobytes in (4, 64, 512, 2048):\n    page = kilobytes * 1024\n    time_s = page / (large_gb_s * 1e9) + page_cost_us * 1e-6\n    print(f'{kilobytes:5} KiB: {page / time_s / 1e9:.2f} GB/s')",
    ),
    "placement": (
        "Change the cap of a core, or let two cores of a NUMA node be idle.",
        "cap, channels = 6.3, 13.0\n\nfor busy in range(1, 7):\n    print(busy, 'busy cores:', round(min(cap, channels / busy), 2), 'GB/s each')",
    ),
    "io-node": (
        "Put the smaller of both in place of the formula, or another power, and compare.",
        "one, ceiling, p = 0.2125, 1.7, 2.5\n\nfor tasks in (1, 4, 8, 12, 24):\n    bent = ((tasks * one) ** -p + (1 - tasks ** -p) * ceiling ** -p) ** (-1 / p)\n    print(f'{tasks:2} tasks: {bent:.2f} GB/s, or {min(tasks * one, ceiling):.2f}')",
    ),
    "slow-ost": (
        "Let two OSTs be slow, or deal less to the slow one. What would that bring?",
        "rates = [0.4] * 155 + [0.12]\nsize_gb = 30_000\n\neach = size_gb / len(rates)\nprint(f'{each / min(rates) / 60:.0f} minutes, and without the slow one {each / 0.4 / 60:.0f}')",
    ),
    "trillion": (
        "How many barriers cost a tenth of the rate? What if the loss shrinks with each?",
        "size_gb, peak_gb_s, lost_s = 30_000, 35, 20\n\nfor barriers in (0, 1, 2, 4, 8, 16):\n    time_s = size_gb / peak_gb_s + barriers * lost_s\n    print(f'{barriers:2} barriers: {size_gb / time_s:.1f} GB/s')",
    ),
}


def model_box(study: str) -> ModelBox:
    """Return the box of a study in which its model can be changed.

    Raises
    ------
    ValueError
        If the study has none.

    Examples
    --------
    >>> model_box("trillion").name
    'trillion-model'
    """
    if study not in _BOXES:
        raise ValueError(f"study={study!r} has no model to change; there is one of: {', '.join(_BOXES)}")
    title, start = _BOXES[study]
    return ModelBox(name=f"{study}-model", title=title, start=start)


#: The studies that have a box.
BOXES = tuple(_BOXES)
