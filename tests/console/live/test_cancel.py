"""Cancel: of one's own while it waits, and of nobody else's."""

import pytest
from django.test import Client

from tasks.models import Task
from tests.tasks import steps


@pytest.fixture
def queued(key, image_model) -> str:
    return steps.submitted(key)


def cancel(browser: Client, task_id: str, **options: object):
    return browser.post(f"/console/tasks/{task_id}/cancel/", **options)


def status(task_id: str) -> str:
    return Task.objects.get(id=task_id).status


def test_a_queued_task_is_canceled_and_nothing_is_charged(visitor, key, queued):
    answer = cancel(visitor, queued)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/console/live/#{queued}")
    assert (status(queued), Task.objects.get().actual_micros) == ("canceled", 0)
    assert "It was canceled." in visitor.get("/console/live/").content.decode()


def test_a_second_cancel_changes_nothing(visitor, queued):
    assert [cancel(visitor, queued).status_code for _ in range(2)] == [302, 302]


def test_a_script_is_answered_in_json(visitor, queued):
    answer = cancel(visitor, queued, headers={"Accept": "application/json"})
    assert answer.json() == {"id": queued, "status": "canceled"}


def test_a_foreign_task_is_as_unknown_as_none(sign_in, other_key, queued):
    foreign = cancel(sign_in(other_key), queued)
    unknown = cancel(sign_in(other_key), "task_01m83y8vzq3pjgrw82c5571hra")
    assert (foreign.status_code, unknown.status_code) == (404, 404)
    assert "There is nothing here" in foreign.content.decode()
    assert status(queued) == "queued"


def test_what_runs_already_is_refused_in_words(visitor, key, queued):
    steps.claimed(steps.worker())
    answer = cancel(visitor, queued)
    assert answer.status_code == 409
    assert "The task is running; only a queued task can be canceled." in answer.content.decode()
    assert status(queued) == "running"


def test_only_a_form_of_ours_cancels(key, visitor, queued):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = visitor.cookies
    assert cancel(strict, queued).status_code == 403
    assert visitor.get(f"/console/tasks/{queued}/cancel/").status_code == 405
    assert cancel(Client(), queued).status_code == 302
    assert status(queued) == "queued"
