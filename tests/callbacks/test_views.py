"""The delivery log and the resend over HTTP."""

import pytest

from callbacks.models import DeliveryAttempt
from common import ids
from tests.callbacks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client_for, key):
    return client_for(key)


def test_the_log_names_number_time_answer_and_duration(client, owed):
    task_id = owed()
    steps.attempted(503, duration_ms=84, excerpt="canary of the receiver")
    steps.let_pass(task_id, 10)
    steps.attempted(None, duration_ms=15_002, error="the answer took too long")
    response = client.get(f"/v1/tasks/{task_id}/deliveries")
    first, second = response.json()["data"]
    assert first == {"attempt": 1, "at": first["at"], "status_code": 503, "error": None, "duration_ms": 84}
    assert (second["attempt"], second["status_code"]) == (2, None)
    assert (second["error"], second["duration_ms"]) == ("the answer took too long", 15_002)
    assert first["at"] <= second["at"]
    assert first["at"].endswith("Z")
    assert b"canary" not in response.content


def test_the_log_shows_where_the_delivery_stands(client, owed):
    task_id = owed()
    steps.attempted(200)
    answer = client.get(f"/v1/tasks/{task_id}/deliveries").json()
    assert answer["object"] == "list"
    assert answer["delivery"] == {
        "id": f"{task_id}.1",
        "status": "delivered",
        "attempts": 1,
        "next_attempt_at": None,
    }


@pytest.mark.parametrize("fields", [{}, {"status": "running", "callback_url": "https://hooks.example.com/"}])
def test_a_task_that_owes_no_callback_has_an_empty_log(client, make_task, fields):
    answer = client.get(f"/v1/tasks/{make_task(**fields).id}/deliveries")
    assert (answer.status_code, answer.json()) == (200, {"object": "list", "data": [], "delivery": None})


def test_a_resend_is_accepted_and_due_at_once(client, owed):
    task_id = owed()
    steps.attempted(200)
    answer = client.post(f"/v1/tasks/{task_id}/redeliver")
    assert answer.status_code == 202
    shown = answer.json()
    assert (shown["id"], shown["status"], shown["attempts"]) == (f"{task_id}.1", "pending", 1)
    assert steps.attempted(500).number == 2


@pytest.mark.parametrize("fields", [{}, {"status": "running", "callback_url": "https://h.example.com/"}])
def test_a_task_without_a_callback_to_send_is_a_conflict(client, make_task, fields):
    answer = client.post(f"/v1/tasks/{make_task(**fields).id}/redeliver")
    assert (answer.status_code, answer.json()["error"]["type"]) == (409, "TASK_NOT_REDELIVERABLE")


@pytest.mark.parametrize("path", ["deliveries", "redeliver"])
def test_what_is_not_this_keys_does_not_exist(client_for, other_key, owed, path):
    stranger = client_for(other_key)
    for whose, task_id in {"another key's": owed(), "nobody's": ids.new_task_id(), "malformed": "task_x"}.items():
        url = f"/v1/tasks/{task_id}/{path}"
        answer = stranger.post(url) if path == "redeliver" else stranger.get(url)
        assert answer.status_code == 404, whose
        assert answer.json() == {"error": {"type": "TASK_NOT_FOUND", "message": "Task or asset not found."}}, whose


def test_a_look_at_the_log_reads_no_excerpt(client, owed, django_assert_max_num_queries):
    task_id = owed()
    steps.attempted(500, excerpt="x" * 4096)
    assert DeliveryAttempt.objects.get().excerpt
    with django_assert_max_num_queries(4) as queries:
        client.get(f"/v1/tasks/{task_id}/deliveries")
    assert not any("excerpt" in query["sql"] for query in queries.captured_queries)
