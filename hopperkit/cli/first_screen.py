"""Output of ``hopper`` alone: twenty lines that lead to a question by the kind of input."""

import os

_SCREEN = """\
hopper: what is wrong with a job, and what to do, from its script, output or log

Your files     hopper FILE...              what it is, what is wrong, what to do;
                                           a script and its output together too
Your machine   {machine}
               hopper machine new          a machine file of this cluster
Launch lines   hopper place "srun -n 8 ./a.out"    also: memory, hybrid, rank-order
Failed jobs    hopper diagnose OUTPUT      also: build, preflight
Files and I/O  hopper io-log LOG           also: io, stripe, io-node, chunks,
                                           small-files, iobuf, load-time
Run times      hopper runs FILE            also: watch, runs-needed, fit
Job logs       hopper trace LOG            also: simulate, locality, interconnect
Output         report, ensemble, mcp; --json for programs, --all for everything

Questions of the studies only:
  {studies}

hopper --help lists all commands, hopper COMMAND --help its options.
Exit status: 0 fine, 1 a problem was found, 2 the input could not be used."""

STUDIES = (
    *("torus", "variability", "fragmentation", "scheduling", "overlap", "trillion", "slow-ost"),
    *("huge-pages", "bad-nodes", "ssp", "detection-delay"),
)
"""Commands that only the studies of the book need."""
_WIDTH = 78


def first_screen() -> str:
    """Return the screen, with the machine that the environment names.

    Examples
    --------
    >>> first_screen().splitlines()[0][:6]
    'hopper'
    """
    import textwrap

    name = os.environ.get("HOPPER_MACHINE", "")
    machine = f"HOPPER_MACHINE={name}" if name else "hopper machine list         HOPPER_MACHINE=NAME names yours"
    studies = "\n  ".join(textwrap.wrap(", ".join(STUDIES), _WIDTH))
    return _SCREEN.format(machine=machine[:_WIDTH], studies=studies)
