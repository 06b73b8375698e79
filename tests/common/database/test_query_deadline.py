"""The database work of a web request ends in time, whatever it is at."""

import asyncio
import json

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.test import Client

from accounts.models import Account, ApiKey
from common import sql
from common.concurrency import threads
from common.database import query_deadline
from common.http import front_body
from front import task_api
from tests.scopes import scope
from tools.children import PATIENCE

COUNTING = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c{end}) SELECT {what} FROM c"

pytestmark = pytest.mark.django_db(transaction=True)


def slow(seconds: str = "3600") -> str:
    """A statement that takes about as long; without a number it hardly ever ends."""
    if sql.is_postgresql():
        return f"SELECT pg_sleep({seconds})"
    return COUNTING.format(what="max(x)", end="" if seconds == "3600" else " LIMIT 100000")


@pytest.fixture
def short(monkeypatch) -> None:
    monkeypatch.setattr(query_deadline, "SECONDS", 0.3)


def test_a_statement_is_canceled_and_the_connection_goes_on(short):
    with query_deadline.limited(), pytest.raises(OperationalError):
        sql.fetch(slow())
    assert sql.value("SELECT 1") == 1


def for_ever() -> None:
    while True:
        sql.fetch(slow("0.05"))


def test_all_statements_together_are_bounded(short):
    with query_deadline.limited(), pytest.raises(OperationalError, match=r"used up|interrupt|cancel"):
        for_ever()


def test_what_is_granted_holds_inside_and_outside(short):
    with query_deadline.limited(0.0), query_deadline.limited(0.0):
        with pytest.raises(OperationalError):
            sql.value("SELECT 1")
        query_deadline.grant(PATIENCE)
        assert sql.value("SELECT 1") == 1


def test_rows_without_end_are_not_fetched_for_ever(short):
    if sql.is_postgresql():
        pytest.skip("its rows have all come when the statement ends")
    with query_deadline.limited(), pytest.raises(OperationalError):
        sql.fetch(COUNTING.format(what="x", end=""))


def test_a_statement_after_the_request_is_bound_no_more(short):
    with query_deadline.limited():
        sql.value("SELECT 1")
    for _ in range(8):
        sql.fetch(slow("0.05"))
    if not sql.is_postgresql():
        assert connection.connection.patience == connection.settings_dict["OPTIONS"]["timeout"]


def test_a_wait_for_a_lock_is_bounded_and_leaves_nothing_half_written(account, short):
    def both() -> None:
        with transaction.atomic():
            Account.objects.create(name="half")
            Account.objects.filter(pk=account.pk).update(max_queued=1)

    with transaction.atomic():
        Account.objects.filter(pk=account.pk).update(max_queued=2)
        with pytest.raises(OperationalError):
            asyncio.run(threads.call(both))
    assert Account.objects.get().max_queued == 2


def test_a_commit_that_waits_for_a_lock_is_bounded_too(account, short):
    if not sql.is_postgresql():
        pytest.skip("its writers wait at the beginning")

    def refer() -> None:
        with transaction.atomic():
            ApiKey.objects.create(account=account, name="late")  # the account's row is looked at on commit

    with transaction.atomic():
        Account.objects.select_for_update().get()
        with pytest.raises(OperationalError):
            asyncio.run(threads.call(refer))
    assert not ApiKey.objects.exists()


def answer_to(path: str, **headers: str):
    return asyncio.run(task_api.answer(scope("GET", path, **headers), front_body.empty()))


def test_a_request_whose_time_is_over_is_503_and_says_when_to_come_back(key, monkeypatch):
    monkeypatch.setattr(query_deadline, "SECONDS", 0.0)
    answer = answer_to("/v1/tasks", authorization=f"Bearer {key.secret}")
    assert (answer.status, json.loads(answer.body)["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
    assert int(dict(answer.headers)[b"retry-after"]) > 0


def test_a_page_whose_time_is_over_is_503_too(monkeypatch):
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    monkeypatch.setattr(query_deadline, "SECONDS", 0.0)
    answer = answer_to("/admin/", cookie=f"sessionid={client.cookies['sessionid'].value}")
    assert answer.status == 503
    assert int(dict(answer.headers)[b"retry-after"]) > 0


def test_a_server_that_does_not_hear_is_cut_off(short, monkeypatch):
    if not sql.is_postgresql():
        pytest.skip("SQLite is no server")
    monkeypatch.setattr(query_deadline, "CANCEL_SECONDS", 0.1)
    monkeypatch.setattr("psycopg.Connection.cancel_safe", lambda *_, **__: None)
    own = sql.value("SELECT pg_backend_pid()")
    with query_deadline.limited(), pytest.raises(OperationalError):
        sql.fetch(slow())
    connection.close()
    assert sql.value("SELECT pg_terminate_backend(%s)", [own])  # it would sleep on
