"""SIGKILL to a web process while it writes the submissions of several accounts: all of them are there, or none."""

from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import pytest
import requests
from django.db import connection

from accounts.models import Account
from tasks.models import Task
from tests.faults.scenes import at_work, held, kill_serving, waits_for
from tests.rows import IssuedKey, make_account, make_key
from tests.tasks import steps
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.faults.patient_settings", "PGAPPNAME": "web"}
CLIENTS = 12
needs_a_server = pytest.mark.skipif(connection.vendor != "postgresql", reason="nobody else can tell who waits")


@pytest.fixture
def keys(image_model) -> list[IssuedKey]:
    return [make_key(make_account(f"account {n}")) for n in range(3)]


def submit(crew, key: IssuedKey, name: str) -> requests.Response:
    with crew.client(key.secret) as client:
        return client.post("/v1/tasks", json=steps.IMAGE, headers={"Idempotency-Key": name})


def told(answer: "Future[requests.Response]") -> str | None:
    """The task that the client was told of; None where its connection broke."""
    if answer.exception():
        assert isinstance(answer.exception(), requests.ConnectionError)
        return None
    assert answer.result().status_code == 202
    return str(answer.result().json()["id"])


@needs_a_server
@pytest.mark.parametrize("live", [None, 0], ids=["accounts to be counted", "accounts that are known"])
def test_killed_in_a_shared_transaction_all_of_it_is_there_or_none_and_each_client_is_told_the_truth(
    crew, start_web, keys, live
):
    """Known accounts are written by one statement, which the server may finish when its client is gone."""
    Account.objects.update(live_at_most=live)
    web = start_web(**SETTINGS)
    orders = [(keys[n % 3], f"order-{n}") for n in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        with held("billing_hold"):
            asked = [clients.submit(submit, crew, key, name) for key, name in orders]
            wait_until(lambda: waits_for("billing_hold"), what="the transaction")
            kill_serving(web)
        heard = [told(answer) for answer in asked]
    assert None in heard
    wait_until(lambda: not at_work("web"), what="what the killed process has left")
    made, told_of = dict(Task.objects.values_list("id", "created_at")), set(filter(None, heard))
    assert told_of <= set(made)
    untold = {moment for task, moment in made.items() if task not in told_of}
    assert len(untold) <= (0 if live is None else 1), "of one transaction"
    assert steps.breaches() == []
    web.wait_for_http(f"{web.url}/healthz")
    before = Task.objects.count()
    again = [submit(crew, key, name) for key, name in orders]
    assert [answer.status_code for answer in again] == [202] * CLIENTS
    replayed = [answer.headers.get("Idempotency-Replayed") == "true" for answer in again]
    assert sum(replayed) == before
    assert all(was for was, task in zip(replayed, heard, strict=True) if task)
    assert Task.objects.count() == CLIENTS
    assert steps.breaches() == []


@pytest.mark.parametrize(
    ("limits", "usd", "answers"), [({"max_queued": 7}, "10", {202: 7, 429: 57}), ({}, "0.4", {202: 10, 403: 54})]
)
def test_two_web_processes_keep_one_accounts_limits(crew, start_web, image_model, limits, usd, answers):
    start_web(WEB_CONCURRENCY="2")
    key = make_key(make_account("eager", usd=usd, **limits))
    asked = [partial(submit, crew, key, f"order-{n}") for n in range(64)]
    assert Counter(answer.status_code for answer in steps.at_once(asked)) == answers
    assert Task.objects.count() == answers[202]
    assert steps.breaches() == []
