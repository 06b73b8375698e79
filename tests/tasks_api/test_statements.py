"""How many statements a request costs with a warm catalog, and that a submission is one transaction."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tasks.request.param_requests import data_url
from tests.tasks.steps import TRANSACTION, captured
from tests.tasks_api.asking import end, image_task


@pytest.fixture
def warm(api, image_model) -> str:
    return api.submitted()


@pytest.mark.parametrize("idempotency_key", [None, "order-2"])
def test_a_submission_takes_at_most_eight_statements(api, warm, idempotency_key):
    headers = {"Idempotency_Key": idempotency_key} if idempotency_key else {}
    body = {**image_task(images=[{"image_url": data_url()}]), "callback_url": "https://example.com/"}
    with captured() as statements:
        api.submitted(body, **headers)
    assert len(statements) <= 8, statements


@pytest.mark.django_db(transaction=True)
def test_a_submission_is_one_transaction(api, warm):
    with CaptureQueriesContext(connection) as queries:
        api.submitted()
    begun = [q["sql"] for q in queries.captured_queries if q["sql"].startswith("BEGIN")]
    others = [q["sql"] for q in queries.captured_queries if TRANSACTION.match(q["sql"])]
    assert (len(begun), len(others)) == (1, 2)


@pytest.mark.parametrize("status", ["queued", "succeeded"])
def test_a_get_takes_at_most_two_statements(api, warm, status):
    if status == "succeeded":
        end(warm, status)
    with captured() as statements:
        assert api.task(warm)["status"] == status
    assert len(statements) <= 2, statements


def test_a_list_takes_two_statements_however_long_it_is(api, warm):
    for _ in range(20):
        end(api.submitted(), "succeeded")
    with captured() as statements:
        assert len(api.get("/v1/tasks?limit=100").json()["data"]) == 21
    assert len(statements) == 2, statements


def test_a_replay_takes_two_statements(api, image_model):
    api.submitted(Idempotency_Key="order-1")
    with captured() as statements:
        api.submitted(Idempotency_Key="order-1")
    assert len(statements) == 2, statements


def test_a_refused_key_takes_one_statement(client, warm):
    with captured() as statements:
        client.get("/v1/tasks", headers={"Authorization": "Bearer nobody"})
    assert len(statements) == 1, statements
