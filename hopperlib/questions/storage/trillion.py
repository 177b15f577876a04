"""Question: twenty thousand files against one shared file, under assumptions of one's own."""

import random
from statistics import mean

from hopperlib.errors import refusal
from hopperlib.questions.figures import Series
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.storage.lustre.dumps import barrier_rate_gb_s
from hopperlib.storage.lustre.osts import (
    deal_findings,
    deal_objects,
    deals_in_time,
    file_dump,
    finish_times_s,
    nine_of_ten,
    rate_steps,
    uneven_weights,
)

_DOCUMENTED_RATE, _DOCUMENTED_SPREAD = 27.007, 200.0
_OSTS_OF_A_CONTROLLER = 6
_SHOWN_DEALS = 20
# Steps of the rate that are drawn.
_DRAWN_STEPS = 60


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.stripe_count > self.osts:
            raise refusal("stripe_count", self.stripe_count, f"must be from 1 to {self.osts}, the OSTs")
        if self.osts % self.osts_per_unit:
            raise refusal("osts", self.osts, f"must be a multiple of {self.osts_per_unit}, the OSTs of a controller")

    @property
    def osts_per_unit(self) -> int:
        """OSTs of what limits the rate."""
        return _OSTS_OF_A_CONTROLLER if self.layer == "controller" else 1

    def deals(self) -> list[list[int]]:
        """Return objects on each OST, dealt again and again."""
        rng, weights = random.Random(self.seed), uneven_weights(self.osts, self.unevenness)
        made = deals_in_time(self.repetitions, self.files, self.stripe_count, self.allocator)
        return [
            deal_objects(self.files, self.stripe_count, self.osts, allocator=self.allocator, rng=rng, weights=weights)
            for _ in range(made)
        ]

    def lines(self, deal: list[int]) -> dict[str, list[tuple[float, float]]]:
        """Return the rate over time of both ways to write; of the files in one deal."""
        times_s = finish_times_s(1000 * self.size_tb, deal, peak_gb_s=self.peak_gb_s, osts_per_unit=self.osts_per_unit)
        steps = rate_steps(times_s, self.peak_gb_s)
        peak, writing_s = self.peak_gb_s, 1000 * self.shared_tb / self.variables / self.peak_gb_s
        corners: list[tuple[float, float]] = []
        for number in range(self.variables):
            start = number * (writing_s + self.spread_s)
            done = start + writing_s
            corners += [(start, peak), (done, peak), (done, 0.0), (done + self.spread_s, 0.0)]
        # The first and the last step stay, whatever is thinned out between them.
        drawn = steps[:1] + steps[1 :: max(1, len(steps) // _DRAWN_STEPS)] + steps[-1:]
        return {"a file for each process": drawn, "one shared file": corners}

    def result(self) -> Result:
        """Return the answer."""
        size_gb, peak, deals = 1000 * self.size_tb, self.peak_gb_s, self.deals()
        dumps = [file_dump(size_gb, loads, peak_gb_s=peak, osts_per_unit=self.osts_per_unit) for loads in deals]
        rate, spread = mean(dump.rate_gb_s for dump in dumps), mean(dump.spread_s for dump in dumps)
        barriers = {"variables": self.variables, "spread_s": self.spread_s}
        lines = self.lines(deals[0])
        loads_gb = sorted(size_gb / sum(deals[0]) * load for load in deals[0])
        return self.said(
            deals=len(deals),
            rate=rate,
            rates=nine_of_ten([dump.rate_gb_s for dump in dumps]),
            spread=spread,
            spreads=nine_of_ten([dump.spread_s for dump in dumps]),
            fullest=mean(dump.fullest_over_mean for dump in dumps),
            shared=barrier_rate_gb_s(1000 * self.shared_tb, peak_gb_s=peak, **barriers),
            both_met=abs(rate - _DOCUMENTED_RATE) < 0.5 and abs(spread - _DOCUMENTED_SPREAD) < 25,
            as_printed=self.spread_s == 40,
            lines=[
                Series(name=name, x=[time for time, _ in line], y=[at for _, at in line])
                for name, line in lines.items()
            ],
            files_end_s=dumps[0].time_s,
            shared_end_s=lines["one shared file"][-1][0],
            loads_gb=loads_gb,
            done_s=[load / (peak / self.osts) for load in loads_gb],
            shown=[(number, dump.rate_gb_s, dump.spread_s) for number, dump in enumerate(dumps[:_SHOWN_DEALS], 1)],
        ).result(findings=deal_findings(len(deals), self.repetitions, self.allocator))


QUESTION = declared(__name__, _Case.answer)
