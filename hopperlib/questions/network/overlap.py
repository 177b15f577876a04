"""Question: what overlap can hide, and what tuning steps give together."""

from hopperlib.network.runtime.overlap import cache_speedup, combined_factor, overlapped_s
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

_SHARES = [step / 20 for step in range(21)]
_CORES = (1, 2, 4, 8, 16, 32)


class _Step(Asked):
    """One step of a code."""

    def result(self) -> Result:
        """Return the answer."""
        left_s = self.communication_s * (1 - self.saved_fraction)
        times = [overlapped_s(self.compute_s, left_s, share) for share in _SHARES]
        plain_s = overlapped_s(self.compute_s, self.communication_s, 0.0)
        time_s = overlapped_s(self.compute_s, left_s, self.overlap)
        caches = {"data_mb": self.data_mb, "cache_mb": self.cache_mb, "memory_penalty": self.penalty}
        faster = [cache_speedup(cores, 1, **caches) for cores in _CORES]
        return self.said(
            plain_s=plain_s,
            time_s=time_s,
            speedup=plain_s / time_s if time_s else 1.0,
            both=combined_factor(self.first_factor, self.second_factor),
            shares=_SHARES,
            times=times,
            cores=_CORES,
            faster=faster,
            superlinear=faster[-1] > _CORES[-1],
        ).result()


QUESTION = declared(__name__, _Step.answer)
