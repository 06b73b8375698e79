"""The database holds up a web process for a time and no longer, whatever it is at."""

import asyncio
import json

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.test import Client

from accounts.models import Account, ApiKey
from common import sql
from common.concurrency import threads
from common.database import lost_commits, time_limits
from common.http import front_body
from config import gunicorn
from front import wsgi_side
from tests.scopes import scope
from tests.threads import joined
from tests.time_limits import limited
from tests.worker.driving import beside

COUNTING = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {what} FROM c"
ENDLESS = {"postgresql": "SELECT pg_sleep(3600)", "sqlite": COUNTING.format(what="max(x)")}

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is no server")


def test_a_web_process_has_limits_and_no_other_has(monkeypatch):
    assert time_limits.of_process is None
    monkeypatch.setattr(time_limits, "of_process", None)
    gunicorn.post_fork(None, None)
    assert time_limits.of_process == time_limits.WEB


def test_a_statement_is_canceled_and_the_connection_goes_on():
    with limited(statement=0.3):
        with pytest.raises(OperationalError):
            sql.fetch(ENDLESS[connection.vendor])
        assert sql.value("SELECT 1") == 1


def test_rows_without_end_are_not_fetched_for_ever():
    if sql.is_postgresql():
        pytest.skip("its rows have all come when the statement ends")
    with limited(statement=0.3), pytest.raises(OperationalError):
        sql.fetch(COUNTING.format(what="x"))


def test_a_wait_for_a_lock_is_bounded_and_leaves_nothing_half_written(account):
    def both() -> None:
        with transaction.atomic():
            Account.objects.create(name="half")
            Account.objects.filter(pk=account.pk).update(max_queued=1)

    # SQLite has one lock for all, and no time but that of a statement.
    with limited(**{"lock" if sql.is_postgresql() else "statement": 0.3}), transaction.atomic():
        Account.objects.filter(pk=account.pk).update(max_queued=2)
        with pytest.raises(OperationalError):
            asyncio.run(threads.call(both))
    assert Account.objects.get().max_queued == 2


@on_postgresql
def test_a_commit_that_waits_for_a_lock_is_bounded_too(account):
    def refer() -> None:
        with transaction.atomic():
            ApiKey.objects.create(account=account, name="late")  # the account's row is looked at on commit

    with limited(lock=0.3), transaction.atomic():
        Account.objects.select_for_update().get()
        with pytest.raises(OperationalError):
            asyncio.run(threads.call(refer))
    assert not ApiKey.objects.exists()


@on_postgresql
def test_a_transaction_that_falls_silent_lets_go_of_its_locks(account):
    def fall_silent() -> None:
        with transaction.atomic():
            Account.objects.select_for_update().get()
            joined(beside(lambda: Account.objects.update(max_queued=7)))
            Account.objects.update(max_queued=2)

    with limited(silence=0.3):
        with pytest.raises(OperationalError) as ended:
            fall_silent()
        assert not lost_commits.is_doubtful(ended.value)
        assert Account.objects.get().max_queued == 7


@on_postgresql
def test_a_server_that_does_not_answer_is_not_waited_for():
    with limited(answer=0.3):
        own = sql.value("SELECT pg_backend_pid()")
        with pytest.raises(OperationalError):
            sql.fetch(ENDLESS["postgresql"])
        connection.close()
        assert sql.value("SELECT pg_terminate_backend(%s)", [own])  # it would sleep on


def refused(path: str, **headers: str) -> tuple[int, int, bytes]:
    """The status of an answer, the seconds of its Retry-After, and its body."""
    answer = asyncio.run(wsgi_side.ask(scope("GET", path, **headers), front_body.empty()))
    return answer.status, int(dict(answer.headers)[b"retry-after"]), answer.body


@pytest.fixture
def held_up(monkeypatch):
    """Each statement of a request takes longer than it may."""

    def hold_up(execute, _statement, _parameters, many, context):
        return execute(ENDLESS[connection.vendor], None, many, context)

    call = threads.executor.submit

    def submit(function, *arguments):
        def run():
            with connection.execute_wrapper(hold_up):
                return function(*arguments)

        return call(run)

    with limited(statement=0.1):
        monkeypatch.setattr(threads.executor, "submit", submit)
        yield


def test_a_request_whose_time_is_over_is_503_and_says_when_to_come_back(key, held_up):
    status, seconds, body = refused("/v1/tasks", authorization=f"Bearer {key.secret}")
    assert (status, json.loads(body)["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
    assert seconds > 0


def test_a_page_whose_time_is_over_is_503_too(request):
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    request.getfixturevalue("held_up")
    status, seconds, _ = refused("/admin/", cookie=f"sessionid={client.cookies['sessionid'].value}")
    assert status == 503
    assert seconds > 0


def test_who_has_waited_before_waits_that_much_shorter_for_a_lock() -> None:
    assert time_limits.lock_left(5.0) is None  # no web process
    with limited(lock=10.0):
        assert [time_limits.lock_left(waited) for waited in (0.5, 4.0, 30.0)] == [None, 6.0, 1.0]
