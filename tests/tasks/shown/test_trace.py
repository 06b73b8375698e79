"""Why a task ran where it ran: what is kept for ever, and who sees how much of it."""

import json

import pytest

from adapters import registry
from catalog.models import Channel, ChannelModel, Credential, Route
from tasks import paid_calls
from tasks.models import Call, Task, TaskPayload
from tasks.paid_calls import CallEnd
from tasks.shown import trace
from tests.rows import make_channel, make_route, make_task
from tests.tasks import steps

pytestmark = pytest.mark.django_db

DELIVERED = {"kind": "succeeded", "delivered": 1, "flags": []}
REFUSAL = {
    "kind": "rate_limited",
    "code": "TooManyRequests",
    "http_status": 429,
    "message": "Provider Inc. says: slow down",
    "request_id": "req_1",
}


@pytest.fixture
def second_channel(plan, image_model) -> Channel:
    channel = make_channel("atelier", "openai_images", "https://other.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-mini", priority=20, weight=3)
    return channel


@pytest.fixture
def running(key, worker, second_channel):
    return steps.start(key, worker)


def paid(task: Task, outcome: dict | None = None, **fields) -> Call:
    """A call of a row, as it stands in the table."""
    return Call.objects.create(
        task=task,
        worker_id=fields.pop("worker_id"),
        **{
            "attempt": 1,
            "route_id": 1,
            "target": {"adapter": "openai_images", "base_url": "https://x.example", "upstream_model": "gpt-image-2"},
            "request_digest": "d" * 64,
            "state": "done",
            "outcome": outcome,
            **fields,
        },
    )


def everything(seen: object) -> str:
    return json.dumps(seen).lower()


def test_the_decision_names_every_route_whole(key, image_model, second_channel):
    ChannelModel.objects.filter(channel=second_channel).update(capabilities={"max_n": 1})
    task_id = steps.submitted(key, {**steps.IMAGE, "params": {"prompt": "a fox", "n": 2}})
    first, second = TaskPayload.objects.get(task_id=task_id).trace["routes"]
    assert first == {
        "route": Route.objects.get(channel__name="studio").pk,
        "channel": "studio",
        "adapter": "openai_images",
        "upstream_model": "gpt-image-2",
        "priority": first["priority"],
        "weight": first["weight"],
        "kept": True,
        "reasons": [],
        "billed": {"tier": "1K", "count": 2},
    }
    assert (second["priority"], second["weight"], second["kept"], second["billed"]) == (20, 3, False, None)
    assert second["reasons"][0]["field"] == "params.n"


def test_the_decision_stays_when_the_catalog_moves_on(key, second_channel):
    task_id = steps.submitted(key)
    before = trace.of_task(task_id).routes
    Route.objects.all().delete()
    Channel.objects.filter(name="studio").update(name="renamed")
    assert trace.of_task(task_id).routes == before


def test_each_attempt_tells_its_route_outcome_and_times(running, worker):
    call_id = steps.accepted(running, worker)
    steps.end(running, calls=(CallEnd(id=call_id, state="done", outcome=DELIVERED, cost_micros=7_000),))
    seen = trace.public(trace.of_task(running.id))
    (attempt,) = seen["attempts"]
    assert (seen["status"], seen["plan"]) == ("succeeded", "standard")
    assert (attempt["attempt"], attempt["call"], attempt["state"], attempt["outcome"]) == (1, 0, "done", "succeeded")
    assert attempt["cost"] == 0.04
    assert seen["routes"][attempt["route"] - 1]["kept"]
    assert None not in (attempt["created_at"], attempt["answered_at"], attempt["ended_at"])
    assert attempt["duration"] >= 0


def test_the_public_view_names_no_provider_and_no_cost_of_ours(running, worker):
    call_id = steps.intended(running, worker)
    Call.objects.filter(pk=call_id).update(credential=Credential.objects.first(), channel=Channel.objects.first())
    paid_calls.close(CallEnd(id=call_id, state="refused", outcome=REFUSAL, cost_micros=7_123_457))
    text = everything(trace.public(trace.of_task(running.id)))
    for secret in ("studio", "atelier", "gpt-image", "provider inc", "toomanyrequests", "req_1", "7.123457", "1234"):
        assert secret not in text
    assert not any(name in text for name in registry.ADAPTERS)
    assert '"outcome": "rate_limited", "http_status": 429' in text


def test_the_providers_id_of_a_job_is_for_the_operator_alone(running, worker):
    steps.accepted(running, worker)
    told = trace.of_task(running.id)
    (attempt,) = trace.public(told)["attempts"]
    assert "upstream_id" not in attempt
    assert "job-1" not in everything(trace.public(told))
    assert [each["upstream_id"] for each in trace.operator(told)["attempts"]] == ["job-1"]


def test_the_operators_view_has_the_providers_words_and_the_own_cost(running, worker):
    call_id = steps.intended(running, worker)
    Call.objects.filter(pk=call_id).update(credential=Credential.objects.first(), channel=Channel.objects.first())
    paid_calls.close(CallEnd(id=call_id, state="refused", outcome=REFUSAL, cost_micros=7_000))
    (attempt,) = trace.operator(trace.of_task(running.id))["attempts"]
    assert (attempt["channel"], attempt["credential"], attempt["own_cost"]) == ("studio", "…1234", 0.007)
    assert (attempt["message"], attempt["code"]) == (REFUSAL["message"], REFUSAL["code"])


def test_what_differs_from_the_bill_is_for_the_operator_alone(key, worker, image_model):
    task = make_task(key)
    paid(task, DELIVERED, worker_id=worker, mismatch="count: billed 1, reported 8")
    found = trace.of_task(task.pk)
    assert trace.operator(found)["attempts"][0]["mismatch"] == "count: billed 1, reported 8"
    assert "mismatch" not in everything(trace.public(found))


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            {"field": "modality", "reason": "adapter openai_images does not run video tasks"},
            "does not run this modality",
        ),
        ({"field": "params.n", "reason": "studio takes 1"}, "is not supported here"),
        ({"field": "params.n", "reason": "GPT-image-2 takes 1"}, "is not supported here"),
        ({"field": "params.n", "reason": "is at most 1 here"}, "is at most 1 here"),
        ({"field": "params.n", "reason": "studios are fine"}, "studios are fine"),
    ],
)
def test_a_reason_that_names_a_provider_is_told_in_our_words(key, image_model, reason, shown):
    task_id = steps.submitted(key)
    row = {"route": 1, "channel": "studio", "adapter": "openai_images", "upstream_model": "gpt-image-2"}
    stored = {"plan": "standard", "routes": [{**row, "kept": False, "reasons": [reason]}]}
    TaskPayload.objects.filter(task_id=task_id).update(trace=stored)
    (route,) = trace.public(trace.of_task(task_id))["routes"]
    assert route["reasons"] == [{"field": reason["field"], "reason": shown}]


def test_routes_that_were_passed_over_are_told_by_number(running, worker):
    first, second = (row["route"] for row in trace.of_task(running.id).routes)
    call_id = steps.intended(running, worker)
    Call.objects.filter(pk=call_id).update(route_id=second, passed=[[first, "busy"], [987_654, "disabled"]])
    (attempt,) = trace.public(trace.of_task(running.id))["attempts"]
    assert attempt["route"] == 2
    assert attempt["passed_over"] == [{"route": 1, "reason": "busy"}, {"route": None, "reason": "disabled"}]


def test_what_was_charged_is_shared_among_the_calls_that_delivered(key, worker, image_model):
    task = make_task(key, actual_micros=100_000)
    for position, outcome in enumerate([DELIVERED, REFUSAL, {**DELIVERED, "delivered": 2}]):
        paid(task, outcome, position=position, worker_id=worker)
    costs = [attempt["cost"] for attempt in trace.public(trace.of_task(task.pk))["attempts"]]
    assert costs == [0.033333, 0, 0.066667]


@pytest.mark.parametrize("stored", [None, {}, [{"kept": True}], {"plan": "old", "routes": [{"kept": True}]}])
def test_old_and_deleted_decisions_are_still_shown(key, worker, image_model, stored):
    task = make_task(key)
    TaskPayload.objects.create(task=task, trace=stored)
    paid(task, worker_id=worker)
    seen = trace.public(trace.of_task(task.pk))
    assert len(seen["routes"]) == (1 if isinstance(stored, dict) and stored else 0)
    assert seen["attempts"][0]["route"] is None


def test_a_task_without_a_payload_has_a_trace(key, image_model):
    assert trace.public(trace.of_task(make_task(key).pk))["routes"] == []


def test_it_costs_two_statements_however_many_calls(key, worker, image_model):
    task = make_task(key)
    for position in range(5):
        paid(task, position=position, worker_id=worker)
    with steps.captured() as statements:
        trace.operator(trace.of(task))
    assert len(statements) == 2
