"""Figures of ended tasks: exact before and after folding, whoever folds, and whatever crashes meanwhile."""

from datetime import UTC, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from catalog.models import ModelName
from common import sql
from tasks import ledger_check, lifecycle
from tasks.figures import folding, reading, rules
from tasks.figures.folding import Folding
from tasks.figures.sums import BOUNDS
from tasks.models import DayFigure, FigureCursor, MinuteFigure, Task, TaskEvent
from tasks.paid_calls import CallEnd
from tests.tasks import steps
from tests.tasks.events.writing import open_transaction

pytestmark = pytest.mark.django_db


@pytest.fixture
def aged(key, image_model, image_channel, worker) -> None:
    """A success of 7 s that cost us 10,000, a failure that cost us 3,000, and a canceled one."""
    won = steps.start(key, worker)
    end = CallEnd(id=steps.intended(won, worker), state="done", cost_micros=10_000)
    assert steps.end(won, call=end)
    steps.lasted(won.id, 7)
    lost = steps.start(key, worker)
    end = CallEnd(id=steps.intended(lost, worker), state="done", cost_micros=3_000)
    assert steps.end(lost, "failed", call=end)
    lifecycle.end([steps.cancellation_of(steps.submitted(key))])


def folded() -> int:
    """Fold until there is nothing left; the number of batches."""
    one, batches = Folding(), 0
    while one.step():
        batches += 1
    return batches


def cursor() -> int:
    return FigureCursor.objects.values_list("last_event_id", flat=True).first() or 0


def today():
    return timezone.now().astimezone(UTC).date()


def of_today() -> list[reading.Figure]:
    return reading.days(today() - timedelta(days=1), today())


def hour_ago():
    return timezone.now() - timedelta(hours=1)


def shown(figures):
    return [(f.outcome, f.tasks, f.earned_micros, f.cost_micros) for f in sorted(figures, key=lambda f: f.outcome)]


def test_figures_say_what_ended_whether_it_is_folded_or_not(aged, image_channel):
    wanted = [("canceled", 1, 0, 0), ("failed", 1, 0, 3_000), ("succeeded", 1, 40_000, 10_000)]
    before = of_today(), reading.minutes(hour_ago())
    assert [shown(found) for found in before] == [wanted] * 2
    assert folded() == 1
    assert (of_today(), reading.minutes(hour_ago())) == before
    won = next(figure for figure in of_today() if figure.outcome == "succeeded")
    assert (won.model, won.modality, won.channel_id) == ("aurora-image", "image", image_channel.pk)
    assert [n for n, count in enumerate(won.durations) if count] == [BOUNDS.index(8)]
    assert (FigureCursor.objects.get().last_event_id, reading.is_behind()) == (TaskEvent.objects.latest("id").id, False)
    assert steps.breaches() == []


def test_what_ends_after_a_folding_is_added(aged, key, worker):
    folded()
    steps.end(steps.start(key, worker))
    assert shown(of_today())[-1] == ("succeeded", 2, 80_000, 10_000)
    folded()
    assert shown(of_today())[-1] == ("succeeded", 2, 80_000, 10_000)
    assert steps.breaches() == []


def test_an_alias_counts_for_its_model(key, image_model, worker):
    ModelName.objects.create(model=image_model, modality="image", name="fox-painter")
    for name in ("aurora-image", "fox-painter"):
        steps.end(steps.start(key, worker, {**steps.IMAGE, "model": name}))
    assert [(f.model, f.tasks) for f in of_today()] == [("aurora-image", 2)]
    folded()
    assert [(f.model, f.tasks) for f in of_today()] == [("aurora-image", 2)]


def test_spans_are_whole_but_for_the_one_that_is_parted(aged):
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    split = hour + timedelta(minutes=20)
    for minute, status in ((19, "failed"), (20, "succeeded"), (75, "canceled")):
        TaskEvent.objects.filter(status=status).update(at=hour + timedelta(minutes=minute, seconds=30))
    wanted = [(hour, "failed"), (split, "succeeded"), (hour + timedelta(hours=1), "canceled")]
    for _ in range(2):
        found = reading.spans(hour - timedelta(hours=1), seconds=3_600, split=split)
        assert [(figure.at, figure.outcome) for figure in found] == wanted
        folded()


def test_batches_and_a_crash_between_them_count_nothing_twice(aged, monkeypatch):
    monkeypatch.setattr(folding, "BATCH", 2)
    wanted, one = of_today(), Folding()
    assert one.step()
    last = TaskEvent.objects.latest("id").id
    with transaction.atomic():
        assert folding.fold(cursor(), last)
        transaction.set_rollback(True)
    assert of_today() == wanted
    assert folded() == 3
    assert (of_today(), steps.breaches()) == (wanted, [])


@pytest.mark.django_db(transaction=True)
def test_any_number_of_janitors_fold_each_event_once(key, image_model, worker, monkeypatch):
    monkeypatch.setattr(folding, "BATCH", 5)
    steps.submitted_many(key, 10)
    while running := steps.claimed(worker):
        assert all(steps.end(task) for task in running)
    wanted = shown(of_today())
    assert wanted == [("succeeded", 10, 400_000, 0)]
    steps.at_once([folded] * 4)
    assert cursor() == TaskEvent.objects.latest("id").id
    assert (shown(of_today()), steps.breaches()) == (wanted, [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's writers take turns")
def test_an_event_that_is_committed_late_is_waited_for(key, image_model, worker):
    late = steps.start(key, worker)
    with open_transaction(Task.objects.get(id=late.id)) as commit:
        early = steps.submitted(key)
        one = Folding()
        assert (one.step(), cursor()) == (False, 0)
        commit()
    assert one.step()
    assert cursor() >= TaskEvent.objects.get(task=early).id


def test_minutes_go_after_some_days_and_days_stay(aged):
    sql.run(f"UPDATE tasks_taskevent SET at = {sql.later('-864000')} WHERE status = 'failed'")
    folded()
    assert (MinuteFigure.objects.count(), DayFigure.objects.count()) == (2, 3)
    MinuteFigure.objects.update(at=timezone.now() - timedelta(days=9))
    FigureCursor.objects.update(minutes_since=today() + timedelta(days=1))
    assert folding.fold(cursor(), cursor())
    assert (MinuteFigure.objects.count(), DayFigure.objects.count()) == (0, 3)
    assert steps.breaches() == []


def test_figures_outlive_their_channel(aged, image_channel):
    folded()
    image_channel.delete()
    assert {figure.channel_id for figure in of_today()} == {None}
    assert steps.breaches() == []


@pytest.mark.parametrize("field", ["tasks", "earned_micros", "cost_micros", "waited_ms"])
def test_a_wrong_figure_is_found(aged, field):
    folded()
    for table, broken in ((DayFigure, {rules.DAYS, rules.MINUTES}), (MinuteFigure, {rules.MINUTES})):
        with transaction.atomic():
            sql.run(f"UPDATE {table._meta.db_table} SET {field} = {field} + 1 WHERE outcome = 'failed'")
            assert {breach.rule for breach in ledger_check.check().breaches} == broken
            transaction.set_rollback(True)


def test_a_figure_of_nothing_is_found(aged):
    folded()
    DayFigure.objects.filter(outcome="failed").update(model_name="gone")
    assert {breach.rule for breach in ledger_check.check().breaches} == {rules.DAYS, rules.MINUTES}


def test_a_cursor_that_runs_ahead_is_found(aged):
    FigureCursor.objects.create(id=1, last_event_id=TaskEvent.objects.latest("id").id, minutes_since=today())
    assert {breach.rule for breach in ledger_check.check().breaches} == {rules.DAYS}


def test_a_clock_that_is_ahead_takes_no_minute_for_long(aged, key, worker, monkeypatch):
    wanted, now = reading.minutes(hour_ago()), timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(days=40))  # of this machine
    folded()
    monkeypatch.undo()
    assert reading.minutes(hour_ago()) == wanted
    FigureCursor.objects.update(minutes_since=today() + timedelta(days=400))  # as if it had been the database's
    steps.end(steps.start(key, worker))
    folded()
    assert FigureCursor.objects.get().minutes_since == today() + timedelta(days=1)
    assert (of_today()[-1].tasks, steps.breaches()) == (2, [])
