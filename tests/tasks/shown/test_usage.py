"""A key's own spend by day and model."""

import json
from datetime import UTC, datetime, timedelta

from accounts.authentication import admit
from tasks.models import Task
from tasks.shown import usage
from tests.rows import make_key
from tests.tasks import steps


def of(key) -> dict:
    found = usage.of(admit(f"Bearer {key.secret}").caller)
    json.dumps(found)
    return found


def test_a_key_without_tasks_has_spent_nothing(key):
    assert of(key) == {
        "object": "usage",
        "currency": "USD",
        "balance": 10,
        "held": 0,
        "budgets": [],
        "total": {"tasks": 0, "cost": 0},
        "by_day": [],
        "by_model": [],
    }


def test_ended_tasks_count_with_their_actual_cost(key, image_model, worker):
    for actual in (40_000, 25_000):
        steps.end(steps.start(key, worker), success=steps.success(actual))
    steps.end(steps.start(key, worker), "failed")
    steps.submitted(key)
    Task.objects.update(created_at=datetime(2026, 1, 31, 12, tzinfo=UTC))  # so that no midnight comes between
    found = of(key)
    assert (found["balance"], found["held"]) == (9.935, 0.04)
    assert found["total"] == {"tasks": 4, "cost": 0.065}
    assert found["by_day"] == [{"date": "2026-01-31", "tasks": 4, "cost": 0.065}]
    assert found["by_model"] == [{"model": "aurora-image", "modality": "image", "tasks": 4, "cost": 0.065}]


def test_days_come_newest_first_and_in_utc(key, image_model):
    midnight = datetime(2026, 2, 1, tzinfo=UTC)
    for moment in (midnight, midnight - timedelta(seconds=1)):
        Task.objects.filter(id=steps.submitted(key)).update(created_at=moment)
    assert [row["date"] for row in of(key)["by_day"]] == ["2026-02-01", "2026-01-31"]


def test_another_key_of_the_account_is_not_counted(account, key, image_model, worker):
    sibling = make_key(account, "sibling")
    steps.end(steps.start(sibling, worker))
    assert of(key)["total"] == {"tasks": 0, "cost": 0}
    assert of(key)["balance"] == 9.96


def test_the_statements_do_not_grow_with_the_tasks(key, image_model, django_assert_max_num_queries):
    steps.submitted_many(key, 50)
    with django_assert_max_num_queries(4):
        of(key)
