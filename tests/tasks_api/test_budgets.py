"""Budgets as the clients of each front meet them."""

import json
from decimal import Decimal

import pytest

from billing import budgets, relay_usage
from tasks.models import Task
from tests.billing import budget_steps
from tests.rows import make_key
from tests.tasks import steps
from tests.tasks_api.asking import image_task, video_task

FRONTS = {
    "/v1/tasks": image_task(n=2),
    "/v1/videos": {"model": "comet-video", "prompt": "a fox runs", "size": "1280x720"},
    "/v1/images/generations": {"model": "aurora-image", "prompt": "a fox", "n": 2},
}


@pytest.mark.parametrize("path", FRONTS)
def test_a_spent_budget_refuses_by_every_front(api, key, image_model, video_model, path):
    budget_steps.limit(key.record, day="0.05")
    answer = api.send("POST", path, FRONTS[path])
    error = json.loads(answer.content)["error"]
    assert (answer.status_code, error["type"]) == (403, "TASK_INSUFFICIENT_BALANCE")
    assert error["message"].startswith("The day budget of the API key is $0.05.")
    assert "T00:00:00Z" in error["message"]
    assert not Task.objects.exists()
    budget_steps.limit(key.record, day="1")
    assert api.send("POST", path, FRONTS[path]).status_code in (200, 202)
    assert budget_steps.used(key) == {"key day": Task.objects.get().estimated_micros}


def test_a_refused_key_is_not_used_up_and_a_replay_costs_nothing(api, key, image_model):
    budget_steps.limit(key.record, day="0.04")
    task_id = api.submitted(Idempotency_Key="a")
    assert api.submit(Idempotency_Key="b").status_code == 403
    assert api.submitted(Idempotency_Key="a") == task_id
    assert budget_steps.used(key) == {"key day": 40_000}
    budget_steps.limit(key.record, day="0.08")
    assert api.submitted(Idempotency_Key="b") != task_id


def test_an_estimate_that_is_not_spent_comes_back(api, key, image_model):
    budget_steps.limit(key.account, day="0.04")
    task_id = api.submitted()
    assert api.submit().status_code == 403
    assert api.send("POST", f"/v1/tasks/{task_id}/cancel").status_code == 200
    assert api.submit().status_code == 202


def test_the_usage_shows_the_budgets_of_the_key_and_its_account(api, api_of, key, image_model):
    budget_steps.limit(key.account, day="1", month="20.5")
    budget_steps.limit(key.record, month="0.00001")
    sibling = make_key(key.account, "sibling")
    api_of(sibling).submitted(image_task(n=2))
    midnight, month = (b.renews_at for b in budgets.standing(key.account.pk, None))
    of_account = [
        {"holder": "account", "window": "day", "limit": 1, "used": 0.08, "remaining": 0.92}
        | {"renews_at": f"{midnight:%Y-%m-%d}T00:00:00.000Z"},
        {"holder": "account", "window": "month", "limit": 20.5, "used": 0.08, "remaining": 20.42}
        | {"renews_at": f"{month:%Y-%m}-01T00:00:00.000Z"},
    ]
    own = {"holder": "key", "window": "month", "limit": 0.00001, "used": 0, "remaining": 0.00001}
    own["renews_at"] = of_account[1]["renews_at"]
    assert api.get("/v1/tasks/usage").json()["budgets"] == [*of_account, own]
    assert api_of(sibling).get("/v1/tasks/usage").json()["budgets"] == of_account
    assert relay_usage.of_key(key.id, key.account.pk)["budgets"][2]["limit"] == Decimal("0.00001")


def test_a_quote_tells_whether_the_budgets_allow_it(api, api_of, key, image_model, video_model):
    sibling = api_of(make_key(key.account, "sibling"))
    budget_steps.limit(key.record, month="0.12")
    api.submitted(image_task(n=2))
    assert [api.quote(image_task(n=n)).json()["affordable"] for n in (1, 2)] == [True, False]
    assert sibling.quote(image_task(n=2)).json()["affordable"]
    assert not api.quote(video_task()).json()["affordable"]
    assert steps.breaches() == []
