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
        own = by_loss[float(self.loss_percent)]
        days = None if own.median_runs is None else own.median_runs * _DAYS_A_WEEK / self.runs_per_week
        return self.said(
            found=own,
            days=days,
            unseen=days is None,
            longest=LONGEST,
            unchanged=by_loss[0.0],
            by_loss=by_loss,
            losses=losses,
            lost=[by_loss[loss] for loss in losses],
            pairs=[(loss, by_loss[loss].median_runs) for loss in losses],
        ).result()


QUESTION = declared(__name__, _Noise.answer)
