"""Question: how likely a job meets a bad node, what that wastes, and what a check before the run buys."""

from functools import partial

from hopperlib.errors import refusal
from hopperlib.failure.nodes.risk import chance_of_bad_node, check_value, worthwhile_chance
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

# Steps between one node and all in the figure.
_POINTS = 40


class _Job(Asked):
    """A job on some nodes of a machine of which some are bad."""

    def result(self) -> Result:
        """Return the answer."""
        chosen, own = self.on, self.job_nodes
        nodes, cores = chosen.nodes, chosen.node().cores
        for name, count in (("bad", self.bad), ("job_nodes", own)):
            if count > nodes:
                raise refusal(name, count, f"must be at most {nodes:,}, the nodes of {chosen.title}")
        names = ("run_hours", "lost_fraction", "check_minutes", "found_fraction")
        check = {name: getattr(self, name) for name in names}
        chance_of = partial(chance_of_bad_node, nodes, self.bad)
        value, chance, worth_from = (
            check_value(nodes, self.bad, own, **check),
            chance_of(own),
            worthwhile_chance(**check),
        )
        # Evenly on a logarithmic scale in the figure, powers of four in the table, and the job's own.
        sizes = sorted({own, *(max(1, round(nodes ** (step / _POINTS))) for step in range(_POINTS + 1))})
        chances = [chance_of(size) for size in sizes]
        listed = sorted({own, nodes, *(4**power for power in range(20) if 4**power < nodes)})
        rows = [(size, chance_of(size), *check_value(nodes, self.bad, size, **check)) for size in listed]
        saved = [place for place, row in enumerate(rows) if row[-1] > 0]
        return self.said(
            nodes=nodes,
            chance=chance,
            value=value,
            lost=value.waste_node_hours * cores,
            gained=value.gain_node_hours * cores,
            share_h=value.waste_node_hours / nodes,
            runs=1 / chance if chance else None,
            waste=_hours(value.waste_node_hours),
            gain=_hours(value.gain_node_hours),
            no_gain=value.gain_node_hours <= 0,
            worth_from=worth_from,
            later=worth_from is not None,
            sizes=sizes,
            chances=chances,
            half=next((size for size, odds in zip(sizes, chances, strict=True) if odds >= 0.5), None),
            here=([own], [chance]),
            rows=rows,
            saved=saved,
        ).result()


def _hours(value: float) -> str:
    """Return node-hours with as many decimals as they need."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


QUESTION = declared(__name__, _Job.answer)
