"""Sums over ended tasks, by minute and by UTC day, and how far they have come: `tasks/figures/folding.py` writes it."""

from django.db import models


class FigureSums(models.Model):
    """Ended tasks that have the same model, channel and outcome and took about as long, added up.

    `model_name` is the name as it was sent; `channel_id` is 0 where there was none, and no foreign key: figures outlive
    channels. `bucket` says how long they took (`tasks/figures/sums.py`, BOUNDS).
    """

    model_name = models.CharField(max_length=200)
    modality = models.CharField(max_length=10)
    channel_id = models.BigIntegerField()
    outcome = models.CharField(max_length=10)
    bucket = models.SmallIntegerField()
    tasks = models.BigIntegerField()
    earned_micros = models.BigIntegerField()
    cost_micros = models.BigIntegerField()
    waited_ms = models.BigIntegerField(help_text="From submission to the first start, or to the end without one.")

    class Meta:
        abstract = True


SAME = ["at", "model_name", "modality", "channel_id", "outcome", "bucket"]


class MinuteFigure(FigureSums):
    """The tasks that ended in one minute; kept for some days."""

    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(name="minute_figure_once", fields=SAME)]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.model_name} {self.outcome}"


class DayFigure(FigureSums):
    """The tasks that ended on one UTC day; kept for ever."""

    at = models.DateField()

    class Meta:
        constraints = [models.UniqueConstraint(name="day_figure_once", fields=SAME)]

    def __str__(self) -> str:
        return f"{self.at} {self.model_name} {self.outcome}"


class FigureCursor(models.Model):
    """One row once anything is folded: the events up to this id are in the figures, and no others. Of the days from
    `minutes_since` on, every minute is there."""

    last_event_id = models.BigIntegerField()
    minutes_since = models.DateField()

    def __str__(self) -> str:
        return f"event {self.last_event_id}"
