"""The explorers there are: name -> module (which holds it as ``EXPLORER``).

A table of names, so that the command line and the browser import only the one
that is asked for.
"""

EXPLORERS: dict[str, str] = {
    "machines": "hopperlib.explore.machines",
    "placement": "hopperlib.explore.placement",
    "memory": "hopperlib.explore.memory",
    "io-node": "hopperlib.explore.io_node",
    "documented": "hopperlib.explore.documented",
    "errata": "hopperlib.explore.errata",
    "scorecard": "hopperlib.explore.scorecard",
    "io-log": "hopperlib.explore.io_log",
    "iobuf": "hopperlib.explore.iobuf",
    "striping": "hopperlib.explore.striping",
    "rank-order": "hopperlib.explore.rank_order",
    "overlap": "hopperlib.explore.overlap",
    "torus": "hopperlib.explore.torus",
    "fragmentation": "hopperlib.explore.fragmentation",
    "variability": "hopperlib.explore.variability",
    "scheduling": "hopperlib.explore.scheduling",
    "trillion": "hopperlib.explore.trillion",
    "diagnosis": "hopperlib.explore.diagnosis",
    "slow-ost": "hopperlib.explore.slow_ost",
    "build-and-link": "hopperlib.explore.build_and_link",
    "default-modules": "hopperlib.explore.default_modules",
    "bad-nodes": "hopperlib.explore.bad_nodes",
}
