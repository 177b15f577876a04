"""Question: how soon a lasting loss is seen, and how often there is a false alarm."""

from hopperlib.monitoring.delays import LONGEST, measured, settings
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

_DAYS_A_WEEK = 7


class _Noise(Asked):
    """One loss in one kind of noise, from histories made up and watched."""

    def result(self) -> Result:
        """Return the answer."""
        names = ("spread_percent", "contended_percent", "persistence")
        losses = [loss for loss in settings("loss_percent") if loss]
        noise = {name: float(getattr(self, name)) for name in names}
        by_loss = {loss: measured(**noise, loss_percent=loss) for loss in (0.0, *losses)}
        found = by_loss[float(self.loss_percent)]
        days = None if found.median_runs is None else found.median_runs * _DAYS_A_WEEK / self.runs_per_week
        said = self.said()
        return said.also(
            found=found,
            days=days,
            unseen=days is None,
            longest=LONGEST,
            unchanged=by_loss[0.0],
            losses=losses,
            median_runs=[by_loss[loss].median_runs for loss in losses],
            ninety_runs=[by_loss[loss].ninety_runs for loss in losses],
            delays="; ".join(said.text("delay", loss=loss, runs=by_loss[loss].median_runs) for loss in losses),
            rows=[(loss, 100 * row.alarmed, row.median_runs, row.ninety_runs) for loss, row in by_loss.items()],
        ).result()


QUESTION = declared(__name__, _Noise.answer)
