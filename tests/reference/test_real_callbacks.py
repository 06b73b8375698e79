"""Callbacks, their log and the resend are what the document says."""

from collections.abc import Iterator

import pytest
from requests.structures import CaseInsensitiveDict

from callbacks import deliveries
from tasks.request import url_policy
from tests.adapters.raw_server import raw_server
from tests.callbacks import behaviours, steps
from tests.callbacks.conftest import long_claims
from tests.callbacks.test_sender import parsed
from tests.reference import validating
from tests.reference.asking import documented
from tests.tasks_api.asking import REJECTED, end, image_task

__all__ = ["long_claims"]

pytestmark = pytest.mark.django_db(transaction=True)


def ended(key, url: str, status: str) -> str:
    """A task that has ended so, whose callback is due."""
    body = {**image_task(), "callback_url": url}
    task_id = str(documented("POST", "/v1/tasks", key=key, body=body).document["id"])
    assert documented("GET", f"/v1/tasks/{task_id}/deliveries", key=key).document["delivery"] is None
    end(task_id, status, **({"failure": REJECTED} if status in ("failed", "timeout") else {}))
    return task_id


@pytest.fixture(autouse=True)
def loopback(settings) -> Iterator[None]:
    """Receivers are on this machine."""
    settings.OUTBOUND_ALLOW_NETWORKS = steps.LOOPBACK.allow_networks
    url_policy.current.cache_clear()
    yield
    url_policy.current.cache_clear()


@pytest.mark.parametrize("status", ["succeeded", "failed", "timeout", "canceled"])
def test_a_callback_and_its_log(key, image_model, status):
    with raw_server(behaviours.FAULT, behaviours.OK) as server:
        task_id = ended(key, f"{server.url}/done", status)
        for _ in range(2):
            due = steps.claimed_one()
            deliveries.record(due, steps.sent(due))
            again = documented("POST", f"/v1/tasks/{task_id}/redeliver", key=key)
            assert (again.status_code, again.document["status"]) == (202, "pending")
    for request in server.requests:
        headers, content = parsed(request)
        validating.callback("taskEnded", CaseInsensitiveDict(headers), content)
    log = documented("GET", f"/v1/tasks/{task_id}/deliveries", key=key).document
    assert [attempt["status_code"] for attempt in log["data"]] == [500, 200]


def test_the_log_of_a_receiver_that_is_not_there(key, image_model):
    with raw_server(behaviours.OK) as server:
        url = server.url
    task_id = ended(key, url, "succeeded")
    due = steps.claimed_one()
    deliveries.record(due, steps.sent(due))
    (attempt,) = documented("GET", f"/v1/tasks/{task_id}/deliveries", key=key).document["data"]
    assert (attempt["status_code"], attempt["error"]) == (None, "the connection was refused")
