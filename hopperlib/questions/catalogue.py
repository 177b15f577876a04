"""The questions there are: name -> module (which holds it as ``QUESTION``).

A table of names, so that the command line and the browser import only the one
that is asked for.
"""

from hopperlib.package_data import read_beside

# By room, in the order in which they are listed.
_ROOMS = {
    "node": ("machines", "place", "memory", "hybrid"),
    "network": (
        "rank-order",
        "overlap",
        "torus",
        "fragmentation",
        "variability",
        "scheduling",
        "runs-needed",
        "simulate",
    ),
    "storage": ("io-node", "io-log", "iobuf", "stripe", "slow-ost", "load-time", "trillion"),
    "failure": ("diagnose", "build", "default-modules", "preflight", "huge-pages", "bad-nodes"),
    "monitoring": ("ssp", "detection-delay", "watch"),
    "book": ("documented", "errata", "scorecard"),
}

QUESTIONS: dict[str, str] = {
    name: f"hopperlib.questions.{room}.{name.replace('-', '_')}" for room, names in _ROOMS.items() for name in names
}


def sentences() -> dict[str, str]:
    """Return the sentence of every question, by its name, without loading what answers it.

    Examples
    --------
    >>> sentences()["memory"]
    'Which layouts give each task the memory it needs, and which is the cheapest?'
    """
    files = {name: "/".join(module.split(".")[2:]) for name, module in QUESTIONS.items()}
    return {name: str(read_beside(__file__, f"{file}.toml")["question"]) for name, file in files.items()}
