"""`/healthz`, `/readyz` and `/metrics`."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Account
from adapters.base import ErrorKind
from billing.models import LedgerEntry, RelayUsage
from callbacks.models import Delivery
from catalog import pausing
from catalog.models import Channel
from common import swallowed
from common.http.asgi import Message, Scope
from config.settings import asset_storage
from tasks import swallowed_counts
from tasks.models import Call, TaskEvent
from tasks_api import health, metrics, running_totals
from tests.billing import relayed_steps
from tests.refusing import disable, refuse
from tests.rows import make_channel
from tests.scopes import scope
from tools.children import PATIENCE
from tools.stack import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
LOOPBACK = ("127.0.0.1", 50_000)
FORWARDING = ("forwarded", "x_forwarded_for", "x_forwarded_host", "x_forwarded_proto", "x_real_ip", "via")
LOCAL = {"host": "127.0.0.1:8000"}
HOLDER = {"authorization": "Bearer let-the-scraper-in"}
PEERS = [
    ("127.0.0.1", LOCAL, True),
    ("::1", {"host": "[::1]:8000"}, True),
    ("::ffff:127.0.0.1", {"host": "localhost"}, True),
    ("::ffff:10.0.0.5", LOCAL, False),
    ("10.0.0.5", LOCAL, False),
    ("127.0.0.1", {}, False),
    ("127.0.0.1", {"host": "api.ours.example"}, False),
    ("127.0.0.1", {"host": "127.0.0.1.rebound.example:8000"}, False),
    ("127.0.0.1", {"host": "127.0.0.1:8000@evil.example"}, False),
    ("10.0.0.5", {**LOCAL, **HOLDER}, False),
    *(("127.0.0.1", {**LOCAL, name: "10.0.0.5"}, False) for name in FORWARDING),
]


@pytest.fixture(autouse=True)
def patience(monkeypatch, settings) -> Iterator[None]:
    """However long a check takes here, it is not too long, and nobody is silent for too long."""
    monkeypatch.setattr(health, "CHECK_SECONDS", PATIENCE)
    monkeypatch.setattr(health, "SCRAPE_SECONDS", PATIENCE)
    settings.WORKER_LEASE = 3600
    yield
    health.executor.submit(lambda: None).result(PATIENCE)  # what was given up has ended


def answer(asked: Scope) -> tuple[int, Any]:
    """Status and body of the endpoint's answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("no body is read")

    asyncio.run(health.application(asked, receive, send))
    body = sent[1]["body"]
    return sent[0]["status"], json.loads(body) if body.startswith(b"{") else body.decode()


@pytest.fixture
def samples() -> Callable[[], dict[str, float]]:
    """The scraped samples as `name{label values}`."""

    def samples() -> dict[str, float]:
        _, text = answer({**scope("GET", "/metrics", **LOCAL), "client": LOOPBACK})
        families = text_string_to_metric_families(text)
        return {
            f"{sample.name}{list(sample.labels.values())}": sample.value
            for family in families
            for sample in family.samples
        }

    counted = (running_totals.transitions, running_totals.calls, running_totals.charges, running_totals.relayed)
    for total in counted:
        total.settled = running_totals.Settled()
    return samples


def test_a_live_process_is_healthy():
    assert answer(scope("GET", "/healthz")) == (200, {"status": "ok"})


def test_health_is_only_read():
    status, body = answer(scope("POST", "/healthz"))
    assert (status, body["error"]["type"]) == (405, "TASK_METHOD_NOT_ALLOWED")


def test_database_storage_and_a_live_worker_make_it_ready(make_worker):
    make_worker()
    checks = {"database": "ok", "storage": "ok", "worker": "ok"}
    assert answer(scope("GET", "/readyz")) == (200, {"status": "ready", "checks": checks})


def test_without_a_live_worker_it_is_not_ready(make_worker):
    for silent in ({}, {"stopped_at": Now()}, {"heartbeat_at": Now() - timedelta(seconds=3601)}):
        if silent:
            make_worker(**silent)
        status, body = answer(scope("GET", "/readyz"))
        assert (status, body["status"]) == (503, "unavailable"), silent
        assert "run_worker" in body["checks"]["worker"], silent


def test_without_writable_storage_it_is_not_ready(make_worker, settings, tmp_path):
    (tmp_path / "file").write_text("no folder")
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{tmp_path}/file/assets")}
    make_worker()
    status, body = answer(scope("GET", "/readyz"))
    assert (status, body["checks"]) == (503, {"database": "ok", "storage": "unavailable", "worker": "ok"})


def test_without_a_token_metrics_are_for_loopback_as_loopback_calls_it(settings):
    settings.METRICS_TOKEN = ""
    for peer, headers, may in PEERS:
        asked = {**scope("GET", "/metrics", **headers), "client": (peer, 50_000)}
        assert health.may_scrape(asked) == may, (peer, headers)


def test_a_forwarding_header_with_underscores_counts_too(settings):
    settings.METRICS_TOKEN = ""
    asked = {**scope("GET", "/metrics", **LOCAL), "client": LOOPBACK}
    asked["headers"] = [*asked["headers"], (b"x_forwarded_for", b"10.0.0.5")]
    assert not health.may_scrape(asked)


def test_with_a_token_metrics_are_for_its_holders_only(settings):
    settings.METRICS_TOKEN = "let-the-scraper-in"
    for peer in ("10.0.0.5", "127.0.0.1"):
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Bearer "}):
            asked = {**scope("GET", "/metrics", **LOCAL, **headers), "client": (peer, 50_000)}
            assert answer(asked)[0] == 404, (peer, headers)
        assert health.may_scrape({**scope("GET", "/metrics", **HOLDER), "client": (peer, 50_000)}), peer


def test_without_a_token_no_token_opens_metrics(settings):
    settings.METRICS_TOKEN = ""
    asked = {**scope("GET", "/metrics", **LOCAL, authorization="Bearer "), "client": ("10.0.0.5", 1)}
    assert answer(asked)[0] == 404


def test_an_empty_service_has_its_zeroes(samples):
    found = samples()
    assert found["darkroom_queued_tasks['video']"] == found["darkroom_claims_total[]"] == 0
    assert found["darkroom_tasks_ended_total['timeout']"] == found["darkroom_workers_alive[]"] == 0


def test_the_queue_is_counted_by_modality_with_the_age_of_its_oldest(samples, make_task):
    created = timezone.now() - timedelta(minutes=5)
    make_task(created_at=created)
    make_task()
    make_task(modality="video")
    found = samples()
    assert (found["darkroom_queued_tasks['image']"], found["darkroom_queued_tasks['video']"]) == (2, 1)
    assert 299 < found["darkroom_queued_oldest_seconds['image']"] < (timezone.now() - created).total_seconds() + 1


def test_a_scrape_that_takes_too_long_is_unavailable(transactional_db, monkeypatch):
    monkeypatch.setattr("tasks_api.health.SCRAPE_SECONDS", 0.0)
    status, body = answer({**scope("GET", "/metrics", **LOCAL), "client": LOOPBACK})
    assert (status, body["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")


def test_each_channel_is_in_one_state(samples, image_channel, video_channel):
    disable(image_channel.credentials.get())
    refuse(video_channel, ErrorKind.OVERLOADED, retry_after=600)
    make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    pausing.pause(make_channel("halted", "openai_images", "https://halted.provider.example/v1"))
    found = samples()
    states = {"studio": "disabled", "cinema": "resting", "spare": "ok", "halted": "paused"}
    for channel, now in states.items():
        for state in ("ok", "resting", "paused", "disabled"):
            assert found[f"darkroom_channel_state['{channel}', '{state}']"] == (state == now)


@pytest.fixture
def make_call(make_task, make_worker):
    """Make a paid call of a failed task on a channel."""

    def make(channel: Channel, state: str) -> Call:
        values = {"route_id": 1, "target": {}, "request_digest": "", "attempt": 1}
        return Call.objects.create(
            task=make_task("failed"), state=state, channel=channel, worker=make_worker(), **values
        )

    return make


def days_old(*calls: Call) -> None:
    ids = [call.pk for call in calls]
    Call.objects.filter(pk__in=ids).update(created_at=timezone.now() - timedelta(days=2))


@pytest.mark.parametrize("is_restarted", [False, True])
def test_calls_that_differ_from_their_bill_are_counted_by_channel(samples, make_call, image_channel, is_restarted):
    """Also where they were open when they were first counted, and in a process that has counted nothing yet."""
    assert samples()["darkroom_billing_mismatches_total['studio']"] == 0
    calls = [make_call(image_channel, state) for state in ("accepted", "intent", "accepted", "done")]
    days_old(*calls)
    assert samples()["darkroom_billing_mismatches_total['studio']"] == 0
    ids = [call.pk for call in calls[:2]]
    Call.objects.filter(pk__in=ids).update(state="done", mismatch="count: billed 1, reported 8")
    if is_restarted:
        running_totals.calls.settled = running_totals.Settled()
    for _ in range(3):
        found = samples()
        assert found["darkroom_billing_mismatches_total['studio']"] == 2
        assert found["darkroom_provider_calls['studio', 'done']"] == 3
    Channel.objects.all().delete()
    assert samples()["darkroom_billing_mismatches_total['']"] == 2


def test_calls_of_deleted_channels_are_one_sample(samples, make_call):
    for name in ("one", "two"):
        days_old(make_call(make_channel(name, "openai_images", "https://x.example/v1"), "done"))
    assert samples()["darkroom_provider_calls['one', 'done']"] == 1
    Channel.objects.all().delete()
    assert samples()["darkroom_provider_calls['', 'done']"] == 2


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_call_is_counted_once_whenever_it_ends(samples, make_call, image_channel, is_restarted):
    steps = {"intent": "late", "accepted": "late", "late": "done", "unknown": "lost"}
    calls = {state: make_call(image_channel, state) for state in steps}
    days_old(*calls.values())
    counted = {state: samples()[f"darkroom_provider_calls['studio', '{state}']"] for state in steps}
    assert counted == dict.fromkeys(steps, 1)
    for state, following in steps.items():
        Call.objects.filter(pk=calls[state].pk).update(state=following)
    if is_restarted:
        running_totals.calls.settled = running_totals.Settled()
    for _ in range(3):
        found = {name: count for name, count in samples().items() if "provider_calls" in name}
        states = {"late": 2, "done": 1, "lost": 1}
        assert found == {f"darkroom_provider_calls['studio', '{state}']": count for state, count in states.items()}


def test_a_call_that_has_ended_is_not_read_again(samples, make_call, image_channel):
    ended, followed = make_call(image_channel, "done"), make_call(image_channel, "late")
    days_old(ended, followed)
    samples()
    Call.objects.filter(pk=followed.pk).update(state="lost")
    samples()
    Call.objects.all().delete()  # nobody does that: it shows what is read
    found = samples()
    assert [found[f"darkroom_provider_calls['studio', '{state}']"] for state in ("done", "lost")] == [1, 1]


def test_a_call_that_is_committed_after_a_later_one_was_counted_is_counted(samples, make_call, image_channel):
    late, counted = make_call(image_channel, "done"), make_call(image_channel, "done")
    Call.objects.filter(pk=late.pk).delete()
    assert samples()["darkroom_provider_calls['studio', 'done']"] == 1
    late.save(force_insert=True)
    assert late.pk < counted.pk
    assert samples()["darkroom_provider_calls['studio', 'done']"] == 2


def test_an_old_unknown_outcome_leaves_the_gauge_when_it_is_settled(samples, make_call, image_channel):
    call = make_call(image_channel, "unknown")
    days_old(call)
    assert samples()["darkroom_provider_calls['studio', 'unknown']"] == 1
    Call.objects.filter(pk=call.pk).update(state="lost")
    assert "darkroom_provider_calls['studio', 'unknown']" not in samples()


def test_running_tasks_and_calls_are_counted_by_channel(samples, make_task, make_worker, image_channel):
    task = make_task("running", channel=image_channel)
    for position, state in enumerate(["accepted", "done", "done"]):
        values = {"route_id": 1, "target": {}, "request_digest": "", "attempt": 1}
        Call.objects.create(
            task=task, position=position, state=state, channel=image_channel, worker=make_worker(), **values
        )
    found = samples()
    assert found["darkroom_running_tasks['studio']"] == 1
    assert found["darkroom_provider_calls['studio', 'accepted']"] == 1
    assert found["darkroom_provider_calls['studio', 'done']"] == 2


def test_totals_stay_right_when_old_rows_are_remembered(samples, make_task):
    task = make_task("failed")
    old = timezone.now() - timedelta(hours=1)
    for attempt, (status, at) in enumerate([("running", old), ("running", old), ("running", None), ("failed", None)]):
        moment = {"at": at} if at else {}
        TaskEvent.objects.create(task=task, key=task.key, status=status, attempt=attempt, **moment)
    first, second = samples(), samples()
    assert running_totals.transitions.settled.mark > 0
    for found in (first, second):
        assert (found["darkroom_claims_total[]"], found["darkroom_tasks_ended_total['failed']"]) == (3, 1)


def test_durations_of_the_last_hour_are_shown_in_quantiles(samples, make_task, image_model):
    now = timezone.now()
    for seconds in range(1, 11):
        started = now - timedelta(seconds=seconds)
        make_task("succeeded", media_model=image_model, created_at=started, started_at=started, finished_at=now)
    found = samples()
    assert found["darkroom_task_seconds['image', 'running', '0.5']"] == pytest.approx(6, abs=0.01)
    assert found["darkroom_task_seconds['image', 'running', '0.9']"] == pytest.approx(10, abs=0.01)


def test_money_held_and_settled_is_in_usd(samples, account):
    Account.objects.filter(pk=account.pk).update(held_micros=2_500_000)
    entry = {"reference": "task_1", "kind": "charge"}
    LedgerEntry.objects.create(**entry, book="customer", account=account, amount_micros=-40_000)
    LedgerEntry.objects.create(**entry, book="revenue", amount_micros=40_000)
    found = samples()
    assert (found["darkroom_held_usd[]"], found["darkroom_settled_usd_total[]"]) == (2.5, 0.04)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_relayed_calls_are_counted_by_what_became_of_them(samples, key, is_restarted):
    relayed_steps.opened(key)
    relayed_steps.ended(key)
    relayed_steps.ended(key, None, is_loss=True)
    RelayUsage.objects.create(key=key.record, day="2026-01-01", model="gpt-5", calls=5, cost_micros=0)
    samples()
    relayed_steps.ended(key, is_estimated=True)
    if is_restarted:
        running_totals.relayed.settled = running_totals.Settled()
    for _ in range(2):
        found = samples()
        counts = {name: found[f"darkroom_relayed_calls_{name}_total[]"] for name in ("settled", "lost", "estimated")}
        assert counts == {"settled": 7, "lost": 1, "estimated": 1}
        assert found["darkroom_relayed_calls_open[]"] == 1


def test_pending_deliveries_and_live_workers_are_counted(samples, make_task, make_worker):
    make_worker()
    make_worker(stopped_at=timezone.now())
    for number, status in enumerate(["pending", "delivered"]):
        task = make_task("failed")
        Delivery.objects.create(id=f"{number}.1", task=task, account=task.account, url="", host="", status=status)
    found = samples()
    assert (found["darkroom_deliveries_pending[]"], found["darkroom_workers_alive[]"]) == (1, 1)


def test_relayed_calls_that_would_have_cost_more_than_their_hold_are_counted_by_channel(samples, key, image_channel):
    assert samples()["darkroom_relay_overruns_total['studio']"] == 0
    told = {"flags": {"usage_exceeds_hold": 7}, "overrun_micros": 7, "channel_id": image_channel.pk}
    call = relayed_steps.ended(key, **told)
    relayed_steps.ended(key, channel_id=image_channel.pk)
    assert samples()["darkroom_relay_overruns_total['studio']"] == 1
    assert (call.flags, call.overrun_micros) == ({"usage_exceeds_hold": 7}, 7)


TABLE = re.compile(r"^\| `(darkroom_\w+)(?:\{([\w,]+)\})?` \|", re.MULTILINE)
NAMED = re.compile(r"\b(darkroom_[a-z_]+[a-z])\b(?:\{([a-z_,]+)\})?")


def test_the_documents_name_every_metric_with_its_labels_and_no_other(key, image_channel, make_task):
    started = timezone.now() - timedelta(seconds=60)
    make_task("succeeded", created_at=started, started_at=started, finished_at=timezone.now())
    swallowed_counts.add({"tests.one": 1})
    relayed_steps.ended(key, channel_id=image_channel.pk)
    found = {}
    for family in metrics.Darkroom().collect():
        suffix = "_total" if family.type == "counter" else ""
        found[family.name + suffix] = ",".join(family.samples[0].labels) if family.samples else None
    table = dict(TABLE.findall((ROOT / "docs/operations.md").read_text()))
    assert table.keys() == found.keys()
    assert {name: labels for name, labels in found.items() if labels not in (None, table[name])} == {}
    documents = [*ROOT.glob("docs/*.md"), *ROOT.glob("reference/openapi/*.yaml")]
    named = {match for document in documents for match in NAMED.findall(document.read_text())}
    named -= {("darkroom_console", "")}  # a cookie
    assert {(name, labels) for name, labels in named if name not in table or labels not in ("", table[name])} == set()


def test_errors_that_reached_no_caller_are_counted_by_place(samples, monkeypatch):
    monkeypatch.setattr(swallowed, "PLACES", ("tests.never", "tests.one"))
    swallowed_counts.add({"tests.one": 2})
    swallowed_counts.add({"tests.one": 1})
    assert samples()["darkroom_swallowed_errors_total['tests.one']"] == 3
    assert samples()["darkroom_swallowed_errors_total['tests.never']"] == 0
