"""The explorers there are: name -> module (which holds it as ``EXPLORER``).

A table of names, so that the command line and the browser import only the one
that is asked for.
"""

EXPLORERS: dict[str, str] = {
    "machines": "hopperlib.questions.node.machines",
    "placement": "hopperlib.questions.node.placement",
    "memory": "hopperlib.questions.node.memory",
    "io-node": "hopperlib.questions.storage.io_node",
    "documented": "hopperlib.questions.book.documented",
    "errata": "hopperlib.questions.book.errata",
    "scorecard": "hopperlib.questions.book.scorecard",
    "io-log": "hopperlib.questions.storage.io_log",
    "iobuf": "hopperlib.questions.storage.iobuf",
    "striping": "hopperlib.questions.storage.striping",
    "rank-order": "hopperlib.questions.network.rank_order",
    "overlap": "hopperlib.questions.network.overlap",
    "torus": "hopperlib.questions.network.torus",
    "fragmentation": "hopperlib.questions.network.fragmentation",
    "variability": "hopperlib.questions.network.variability",
    "scheduling": "hopperlib.questions.network.scheduling",
    "trillion": "hopperlib.questions.storage.trillion",
    "diagnosis": "hopperlib.questions.failure.diagnosis",
    "slow-ost": "hopperlib.questions.storage.slow_ost",
    "build-and-link": "hopperlib.questions.failure.build_and_link",
    "default-modules": "hopperlib.questions.failure.default_modules",
    "bad-nodes": "hopperlib.questions.failure.bad_nodes",
}
