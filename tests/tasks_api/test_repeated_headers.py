"""Headers that may come once, on both sides of the front: WSGI joins repeated ones, and one value may hold a comma."""

import asyncio
import json

import pytest

from common.errors import AuthenticationError
from common.http import front_body
from common.http.asgi import Answer
from common.http.front_body import Body
from front import task_api
from tasks.models import Task
from tasks_api import assets, stream
from tests.scopes import scope
from tests.tasks_api.asking import image_task
from tests.tasks_api.downloads.asking import silent

pytestmark = pytest.mark.django_db(transaction=True)
NOWHERE = "task_00000000000000000000000000"


@pytest.fixture
def submit(key, image_model):
    """A submission with the key and with one header of the name for each value."""

    def submit(name: str, *values: str, authorization: str = f"Bearer {key.secret}", body: object = None) -> Answer:
        request = scope("POST", "/v1/tasks", content_type="application/json")
        pairs = [("authorization", authorization)] if name.lower() != "authorization" else []
        pairs += [(name.lower(), value) for value in values]
        request["headers"] += [(each.encode(), value.encode()) for each, value in pairs]
        return asyncio.run(task_api.answer(request, whole(image_task() if body is None else body)))

    return submit


def whole(document: object) -> Body:
    body = front_body.empty()
    size = body.file.write(json.dumps(document).encode())
    body.file.seek(0)
    return Body(file=body.file, size=size)


def error(answer: Answer) -> tuple[int, str, str]:
    said = json.loads(answer.body)["error"]
    return answer.status, said["type"], said["message"]


def test_two_idempotency_keys_are_refused_by_name(submit):
    for values in (("a", "b"), ("a", "a"), ("a", ""), ("", "")):
        status, kind, message = error(submit("Idempotency-Key", *values))
        assert (status, kind) == (400, "TASK_INVALID_REQUEST"), values
        assert message.startswith("Idempotency-Key: "), values
    assert not Task.objects.exists()


def test_one_idempotency_key_may_hold_a_comma(submit):
    assert submit("Idempotency-Key", "a,b").status == 202
    assert Task.objects.get().idempotency_key == "a,b"
    status, _, message = error(submit("Idempotency-Key", "a", "b"))  # no replay of that one
    assert (status, message.partition(":")[0]) == (400, "Idempotency-Key")


def test_two_idempotency_keys_are_heard_of_after_the_key_and_before_the_body(submit):
    twice = ("Idempotency-Key", "a", "b")
    assert error(submit(*twice, authorization="Bearer nobody"))[0] == 401
    assert error(submit(*twice, body=[]))[2].startswith("Idempotency-Key: ")


def test_two_authorizations_are_a_401_on_djangos_side(submit, key):
    mine = f"Bearer {key.secret}"
    for values in ((mine, mine), (mine, "Bearer nobody"), ("Bearer nobody", mine), (mine, ""), ("", mine)):
        assert error(submit("Authorization", *values))[:2] == (401, "authentication_error"), values


def test_two_authorizations_are_a_401_on_the_asynchronous_side(key):
    for path in ("/v1/tasks/events", f"/v1/tasks/{NOWHERE}/assets/0"):
        request = scope("GET", path)
        request["headers"] += [(b"authorization", f"Bearer {key.secret}".encode())] * 2
        assert raised(request) == 401, path


def raised(request) -> int:
    """The status of the refusal, whether the endpoint raises or answers it."""
    endpoint = stream.application if request["path"].endswith("events") else assets.application
    sent: list = []

    async def send(message) -> None:
        sent.append(message)

    try:
        asyncio.run(endpoint(request, silent, send))
    except AuthenticationError as refusal:
        return refusal.status
    return int(sent[0]["status"])
