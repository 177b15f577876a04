"""Question: a dump with slow OSTs, how slow they must be, and how to find them."""

from hopperlib.errors import refusal
from hopperlib.questions.figures import Series
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.storage.lustre.dumps import (
    barriered_dump,
    exclude_slow,
    explaining_rate_gb_s,
    ost_activity,
    osts_with_slow,
    probe,
    slow_ost_findings,
    times_by_slow_rate,
)


class _Case(Asked):
    """The values of the controls, and what the models make of them."""

    def check(self) -> None:
        """Refuse values that do not fit together."""
        if self.slow_mb_s > self.healthy_mb_s:
            rule = f"must not be above healthy_mb_s={self.healthy_mb_s:g}"
            raise refusal("slow_mb_s", self.slow_mb_s, rule)
        if self.size_low_tb > self.size_high_tb:
            rule = f"must not be above size_high_tb={self.size_high_tb:g}"
            raise refusal("size_low_tb", self.size_low_tb, rule)
        if self.lost_s >= 60 * self.measured_min:
            rule = f"at {self.variables - 1} barriers is more than the measured {self.measured_min:g} minutes"
            raise refusal("gap_s", self.gap_s, rule)

    @property
    def lost_s(self) -> float:
        """Time lost at all barriers. [s]"""
        return float((self.variables - 1) * self.gap_s)

    def result(self) -> Result:
        """Return the answer."""
        size_gb, healthy, slow_rate = 1000 * self.size_tb, self.healthy_mb_s / 1000, self.slow_mb_s / 1000
        barriers = {"variables": self.variables, "gap_s": self.gap_s}
        dump = barriered_dump(
            size_gb, osts_with_slow(self.osts, healthy, slow=self.slow, slow_rate_gb_s=slow_rate), **barriers
        )
        out = exclude_slow(size_gb, self.osts, healthy, slow=self.slow, slow_rate_gb_s=slow_rate, **barriers)
        sizes_gb = (1000 * self.size_low_tb, 1000 * self.size_high_tb)
        explaining = explaining_rate_gb_s(60 * self.measured_min, sizes_gb, osts=self.osts, lost_s=self.lost_s)
        watch = {"noise_fraction": self.noise, "seconds": self.probe_s, "sample_s": self.sample_s, "osts": self.osts}
        probed = probe(healthy, slow_rate, **watch)
        findings = slow_ost_findings(
            explaining, healthy, slow=self.slow, slow_gb_s=slow_rate, exclusion=out, power=probed.power
        )
        drawn = {"a good OST": ost_activity(dump, healthy)}
        if self.slow:
            drawn["a slow OST"] = ost_activity(dump, slow_rate, slowest=True)
        curve = times_by_slow_rate(size_gb, self.osts, healthy, slow=self.slow, **barriers)
        return self.said(
            dump=dump,
            out=out,
            probe=probed,
            codes=[finding.code for finding in findings],
            minutes=dump.time_s / 60,
            without_min=out.without_s / 60,
            low=1000 * explaining[0],
            high=1000 * explaining[1],
            break_even_mb_s=1000 * out.break_even_gb_s,
            average_mb_s=1000 * size_gb / self.osts / dump.time_s,
            activity=[
                Series(name=name, x=[time for time, _ in corners], y=[1000 * rate for _, rate in corners])
                for name, corners in drawn.items()
            ],
            slow_rates=[round(1000 * rate, 6) for rate, _ in curve],
            slow_minutes=[time_s / 60 for _, time_s in curve],
        ).result(findings=findings)


QUESTION = declared(__name__, _Case.answer)
