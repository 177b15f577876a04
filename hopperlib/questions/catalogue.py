"""The questions there are: name -> module (which holds it as ``QUESTION``).

A table of names, so that the command line and the browser import only the one
that is asked for.
"""

from __future__ import annotations

import os.path

__all__ = ["QUESTIONS", "sentences"]

QUESTIONS: dict[str, str] = {
    "machines": "hopperlib.questions.node.machines",
    "place": "hopperlib.questions.node.place",
    "memory": "hopperlib.questions.node.memory",
    "hybrid": "hopperlib.questions.node.hybrid",
    "io-node": "hopperlib.questions.storage.io_node",
    "documented": "hopperlib.questions.book.documented",
    "errata": "hopperlib.questions.book.errata",
    "scorecard": "hopperlib.questions.book.scorecard",
    "io-log": "hopperlib.questions.storage.io_log",
    "iobuf": "hopperlib.questions.storage.iobuf",
    "stripe": "hopperlib.questions.storage.stripe",
    "rank-order": "hopperlib.questions.network.rank_order",
    "overlap": "hopperlib.questions.network.overlap",
    "torus": "hopperlib.questions.network.torus",
    "fragmentation": "hopperlib.questions.network.fragmentation",
    "variability": "hopperlib.questions.network.variability",
    "scheduling": "hopperlib.questions.network.scheduling",
    "runs-needed": "hopperlib.questions.network.runs_needed",
    "simulate": "hopperlib.questions.network.simulate",
    "load-time": "hopperlib.questions.storage.load_time",
    "trillion": "hopperlib.questions.storage.trillion",
    "diagnose": "hopperlib.questions.failure.diagnose",
    "slow-ost": "hopperlib.questions.storage.slow_ost",
    "build": "hopperlib.questions.failure.build",
    "default-modules": "hopperlib.questions.failure.default_modules",
    "preflight": "hopperlib.questions.failure.preflight",
    "huge-pages": "hopperlib.questions.failure.huge_pages",
    "bad-nodes": "hopperlib.questions.failure.bad_nodes",
    "ssp": "hopperlib.questions.monitoring.ssp",
    "detection-delay": "hopperlib.questions.monitoring.detection_delay",
    "watch": "hopperlib.questions.monitoring.watch",
}


def sentences() -> dict[str, str]:
    """Return the sentence of every question, by its name, without loading what answers it.

    Examples
    --------
    >>> sentences()["memory"]
    'Which layouts give each task the memory it needs, and which is the cheapest?'
    """
    import tomllib

    folder, words = os.path.dirname(__file__), {}
    for name, module in QUESTIONS.items():
        with open(os.path.join(folder, *module.split(".")[2:]) + ".toml", "rb") as file:
            words[name] = str(tomllib.load(file)["question"])
    return words
