"""Sending a callback once more from the page of its task."""

import re

import pytest
from django.test import Client

from callbacks.models import Delivery
from common import ids
from console import sessions
from tests.desk.reading import words_of
from tests.tasks import steps

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}


def send(browser: Client, task_id: str, **given):
    return browser.post(f"/console/tasks/{task_id}/send-again/", **given)


@pytest.fixture
def delivered(bought) -> Delivery:
    Delivery.objects.update(status="delivered", attempts=1, next_attempt_at=None, scheduled_at=None)
    return Delivery.objects.get()


def test_one_more_attempt_is_due_and_the_page_says_so(visitor, delivered):
    answer = send(visitor, delivered.task_id)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/console/tasks/{delivered.task_id}/#callback")
    delivered.refresh_from_db()
    assert delivered.status == "pending"
    assert delivered.next_attempt_at is not None
    page = words_of(visitor.get(answer.headers["Location"]))
    assert re.search(r"Pending, 1 attempt so far\. The next attempt is (now|[0-9]+ \w+ ago)", page)


def test_a_script_gets_json(visitor, delivered):
    answer = send(visitor, delivered.task_id, headers=JSON)
    assert (answer.status_code, answer.json()) == (202, {"id": delivered.id, "status": "pending"})


def test_another_keys_callback_is_not_sent(other_key, sign_in, delivered):
    for task_id in (delivered.task_id, ids.new_task_id(), "task_1"):
        assert send(sign_in(other_key), task_id).status_code == 404
    delivered.refresh_from_db()
    assert delivered.status == "delivered"


def test_what_owes_no_callback_is_refused_in_words(key, visitor, image_model):
    without = steps.submitted(key)
    waiting = steps.submitted(key, {**steps.IMAGE, "callback_url": "https://hooks.example.com/hook"})
    for task_id in (without, waiting):
        answer = send(visitor, task_id)
        assert answer.status_code == 409
        assert "There is no callback to send again" in words_of(answer)
        assert "Wait until the task has ended" in words_of(answer)
        assert send(visitor, task_id, headers=JSON).json()["error"]["type"] == "TASK_NOT_REDELIVERABLE"


def test_a_link_or_a_form_of_elsewhere_sends_nothing(visitor, delivered):
    assert visitor.get(f"/console/tasks/{delivered.task_id}/send-again/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.cookies[sessions.COOKIE] = visitor.cookies[sessions.COOKIE].value
    assert send(strict, delivered.task_id).status_code == 403
    delivered.refresh_from_db()
    assert delivered.status == "delivered"
