"""Question: the chance that all nodes of a job give the huge pages it needs."""

import math

from hopperlib.documented import printed
from hopperlib.errors import refusal
from hopperlib.failure.nodes.huge_pages import chance_of_huge_pages, explaining_strays, strays_allowed, whole_pages
from hopperlib.questions.figures import Series
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

# The rate of success that is printed, drawn for comparison.
_DOCUMENTED = printed("pages-and-libraries.huge-pages-success") / 100
_POINTS = 60
_SMALL_PAGES_A_GB = 2**18


class _Job(Asked):
    """A job, so many days after a reboot."""

    def result(self) -> Result:
        """Return the answer."""
        chosen, days, own = self.on, self.days, self.job_nodes
        if own > chosen.nodes:
            raise refusal("job_nodes", own, f"must be at most {chosen.nodes:,}, the nodes of {chosen.title}")
        free_gb = self.usable_gb or chosen.node().usable_memory_gb
        pages, need = math.floor(free_gb * 1024 / self.page_mb), math.ceil(self.need_gb * 1024 / self.page_mb)
        if need > pages:
            raise refusal("need_gb", self.need_gb, f"must be at most {free_gb:g}, what a node has free after a reboot")
        strays = self.strays_per_day

        def chance(on: int, after: float) -> float:
            return chance_of_huge_pages(pages, need, strays * after, self.spread, on)

        node, job, allowed = chance(1, days), chance(own, days), strays_allowed(pages, need)
        explained = explaining_strays(pages, need, self.spread, own, _DOCUMENTED)
        # Far enough that the day on which the printed rate is reached is seen.
        reach = max(2 * days, 2 * explained / strays if strays else 0, 10)
        places = [reach * step / _POINTS for step in range(_POINTS + 1)]
        sizes = sorted({own, chosen.nodes, *(4**power for power in range(12) if 4**power < chosen.nodes)})
        curves = [
            Series(name="1 node" if size == 1 else f"{size:,} nodes", x=places, y=[chance(size, at) for at in places])
            for size in sorted({1, own, chosen.nodes})
        ]
        return self.said(
            node=node,
            job=job,
            need=need,
            whole=whole_pages(pages, strays * days),
            allowed=allowed,
            allowed_mb=1024 * allowed / _SMALL_PAGES_A_GB,
            explained=explained,
            explained_days=explained / strays if strays else math.inf,
            short=(1 - node) * chosen.nodes,
            one_is_enough=job < 0.9 <= node,
            many_short=node < 0.9,
            documented=_DOCUMENTED,
            curves=[*curves, Series(name="this job", x=[days], y=[job], kind="points")],
            rows=[(size, chance(size, days)) for size in sizes],
            own=[sizes.index(own)],
        ).result()


QUESTION = declared(__name__, _Job.answer)
