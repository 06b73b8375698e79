"""POST /v1/tasks/{id}/cancel: a queued task is canceled once; a running or ended one says what it is."""

import pytest

from accounts.models import Account
from tasks.models import TaskEvent
from tests.tasks_api.asking import REJECTED, end, error_of, refused, start


@pytest.fixture
def task_id(api, image_model) -> str:
    return api.submitted()


def cancel(api, task_id: str):
    return api.send("POST", f"/v1/tasks/{task_id}/cancel")


def test_a_queued_task_is_canceled_and_shown(api, task_id):
    response = cancel(api, task_id)
    assert response.status_code == 200
    assert response.json()["status"] == "canceled"
    assert response.json() == api.task(task_id)


def test_cancel_releases_the_reservation_and_charges_nothing(api, task_id, account):
    cancel(api, task_id)
    account = Account.objects.get(pk=account.pk)
    assert (account.balance_micros, account.held_micros) == (10_000_000, 0)
    assert api.task(task_id)["actual_cost"] == 0


def test_a_second_cancel_answers_alike_and_changes_nothing(api, task_id):
    first, second = cancel(api, task_id), cancel(api, task_id)
    assert (second.status_code, second.json()) == (200, first.json())
    assert TaskEvent.objects.filter(status="canceled").count() == 1


def test_a_running_task_cannot_be_canceled(api, task_id):
    start(task_id)
    response = cancel(api, task_id)
    assert refused(response) == (409, "TASK_NOT_CANCELABLE")
    assert "running" in error_of(response)["message"]
    assert api.task(task_id)["status"] == "running"


def test_an_ended_task_cannot_be_canceled(api, image_model):
    for status in ("succeeded", "failed", "timeout"):
        task_id = api.submitted()
        end(task_id, status, **({"failure": REJECTED} if status != "succeeded" else {}))
        response = cancel(api, task_id)
        assert refused(response) == (409, "TASK_NOT_CANCELABLE"), status
        assert status in error_of(response)["message"]


def test_an_unknown_task_is_not_found(api):
    assert refused(cancel(api, "task_00000000000000000000000000")) == (404, "TASK_NOT_FOUND")


def test_a_canceled_task_gives_its_place_in_the_queue_limit_back(api, key, image_model):
    type(key.record).objects.update(max_queued=1)
    task_id = api.submitted()
    assert refused(api.submit()) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
    cancel(api, task_id)
    assert api.submit().status_code == 202
