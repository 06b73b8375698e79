"""What models and channels earned, cost and lost, and the page that says it."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from common import sql
from desk.money import losses, margins
from desk.money.margins import GONE
from tasks import paid_calls
from tasks.models import Call
from tasks.paid_calls import CallEnd
from tests.billing import relayed_steps
from tests.rows import make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db

URL = "/admin/money/"


@pytest.fixture
def worker():
    return steps.worker()


def today():
    return steps.clock().date()


@pytest.fixture
def ended(key, worker, image_model):
    """A picture for 0.04 that cost 0.01, and one that failed and cost as much."""
    for status in ("succeeded", "failed"):
        task = steps.start(key, worker)
        call_id = steps.accepted(task, worker)
        steps.end(task, status, call=CallEnd(id=call_id, state="done", outcome={"kind": status}, cost_micros=10_000))
    return Call.objects.order_by("id")


def test_margins_are_by_model_and_by_channel(ended, image_channel, key):
    relayed_steps.ended(make_key(key.account, "general", binding="general"), 150, model="gpt-5")
    found = margins.read(today(), today())
    total = found.total
    assert (total.tasks, total.earned_micros, total.cost_micros, total.margin_micros) == (2, 40_000, 20_000, 20_000)
    assert total.margin_percent == 50
    assert [(row.name, row.tasks, row.margin_micros) for row in found.models] == [("aurora-image", 2, 20_000)]
    assert sum(row.earned_micros for row in found.channels) == 40_000
    assert {row.name for row in found.channels} <= {image_channel.name, GONE}
    assert [(row.model, row.calls, row.earned_micros) for row in found.relayed] == [("gpt-5", 1, 150)]
    yesterday = today() - timedelta(days=1)
    assert margins.read(yesterday, yesterday).is_empty


def test_losses_are_told_by_their_kind(ended, key, film_lost):
    late, given_up, _ = ended
    Call.objects.filter(pk=late.pk).update(state="lost", outcome={"kind": "late"}, cost_micros=7)
    Call.objects.filter(pk=given_up.pk).update(
        state="lost", outcome={"kind": "crash", "resolved": "lost"}, cost_micros=None
    )
    relayed_steps.ended(make_key(key.account, "general"), None, is_loss=True)
    found = losses.read(today(), today())
    assert (found.late.count, found.late.micros, found.late.unknown) == (1, 7, 0)
    assert (found.given_up.count, found.given_up.micros, found.given_up.unknown) == (1, 0, 1)
    assert (found.relayed.count, found.relayed.micros) == (1, 500)
    assert found.open.count == 1
    yesterday = today() - timedelta(days=1)
    before = losses.read(yesterday, yesterday)
    assert (before.late.count, before.given_up.count, before.relayed.count, before.open.count) == (0, 0, 0, 1)


@pytest.fixture
def film_lost(key, worker, video_model):
    task = steps.start(key, worker, steps.VIDEO)
    call_id = steps.intended(task, worker)
    steps.end(task, "failed", call=CallEnd(id=call_id, state="unknown", outcome={"kind": "crash"}))
    assert Call.objects.filter(paid_calls.UNRESOLVED, pk=call_id).exists()


def test_lost_calls_are_found_by_an_index(ended):
    with steps.captured() as statements:
        losses.read(today(), today())
    found = [steps.explained(each) for each in statements if "'lost'" in each and "tasks_call" in each]
    assert len(found) == 2
    if not sql.is_postgresql():  # there a small table is read whole
        assert all("call_lost" in plan for plan in found), found


def test_the_page_answers_for_the_last_days_and_for_those_that_are_asked_for(operator, ended):
    text = operator.get(URL).content.decode()
    assert "a margin of <strong>$0.02</strong>, 50 %" in text
    assert reverse("admin:tasks_call_unknown") in text
    empty = operator.get(URL, {"since": "2025-01-01", "until": "2025-01-31"}).content.decode()
    assert "Nothing ended from 2025-01-01 to 2025-01-31." in empty


@pytest.mark.parametrize(
    "asked",
    [
        {"since": "2026-02-01", "until": "2026-01-01"},
        {"since": "0001-01-01", "until": "9999-12-31"},
        {"since": "9999-12-31", "until": "9999-12-31"},
        {"since": "x", "until": ""},
    ],
)
def test_days_that_are_none_are_told_and_the_usual_ones_shown(operator, asked):
    answer = operator.get(URL, asked)
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()


def test_who_may_not_see_the_ledger_sees_no_margins(db):
    client = Client()
    client.force_login(User.objects.create_user("eve", is_staff=True))
    assert client.get(URL).status_code == 403


def test_the_page_asks_for_little(operator, ended, django_assert_max_num_queries):
    with django_assert_max_num_queries(16):
        operator.get(URL)
