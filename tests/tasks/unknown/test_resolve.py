"""What operators do about outcomes that nobody knows, and that the books stay right."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.utils import timezone

from accounts.models import Account, ApiKey
from billing.models import Hold
from catalog import snapshot
from catalog.models import Channel, ChannelModel, MediaModel, Route
from storage import blobs
from tasks import leases, lifecycle, paid_calls
from tasks.failures import Failure
from tasks.lifecycle import Success
from tasks.models import Asset, Call, Task, TaskEvent, TaskPayload
from tasks.paid_calls import CallEnd
from tasks.shown import trace
from tasks.unknown import open_calls, resolve
from tasks.unknown.open_calls import Refused
from tests.billing import budget_steps
from tests.rows import IssuedKey, make_channel, make_route
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

pytestmark = pytest.mark.django_db

UNKNOWN = Failure(type="TASK_OUTCOME_UNKNOWN", message="Its answer was lost.", retryable=True)
FILM = {**steps.VIDEO, "metadata": {"order": "A-17"}, "callback_url": "https://hooks.example.com/"}
PICTURES = {**steps.IMAGE, "params": {"prompt": "a fox", "n": 2, "images": [{"image_url": data_url()}]}}
SAME = ("key_id", "account_id", "model_name", "metadata", "callback_url", "price", "estimated_micros", "modality")
BY = "ada"

Lose = Callable[..., Call]


@pytest.fixture(autouse=True)
def books(db: None):
    yield
    assert steps.breaches() == []


@pytest.fixture
def lose(key: IssuedKey, worker: str) -> Lose:
    """Makes a task that ended without an outcome; returns the first of its calls."""

    def lose(body: dict[str, Any], *, count: int = 1, mask: object = None) -> Call:
        task = steps.start(key, worker, body, mask=mask)
        route = snapshot.latest().route(task.route_id)
        channel = Channel.objects.get(pk=route.channel.id)
        fields = {"channel_id": channel.pk, "credential_id": channel.credentials.get().pk, "target": route.target}
        calls = steps.intend(steps.intent(task, worker, **fields), count)
        ends = tuple(CallEnd(id=each.id, state="unknown", outcome={"kind": "ambiguous"}) for each in calls)
        assert steps.end(task, "failed", failure=UNKNOWN, calls=ends)
        return Call.objects.get(pk=calls[0].id)

    return lose


@pytest.fixture
def film(lose: Lose, video_model: MediaModel) -> Call:
    return lose(FILM)


@pytest.fixture
def pictures(lose: Lose, image_model: MediaModel) -> Call:
    return lose(PICTURES)


def task(task_id: str) -> Task:
    return Task.objects.get(id=task_id)


def refusal(action: Callable[..., Any], *arguments: Any) -> str:
    before = Task.objects.count()
    with pytest.raises(Refused) as caught:
        action(*arguments, by=BY)
    assert Task.objects.count() == before
    return str(caught.value)


def outcome(call: Call) -> dict[str, Any]:
    return Call.objects.get(pk=call.pk).outcome


def is_open(call: Call) -> bool:
    return open_calls.open_calls().filter(pk=call.pk).exists()


def events(task_id: str) -> list[tuple[str, int]]:
    return list(TaskEvent.objects.filter(task_id=task_id).order_by("id").values_list("status", "attempt"))


def test_a_retry_is_a_new_queued_task_on_the_same_terms(film):
    new = task(resolve.retry(film.task_id, by=BY))
    old = task(film.task_id)
    assert (new.status, new.retry_of_id, old.status) == ("queued", old.id, "failed")
    assert [getattr(new, name) for name in SAME] == [getattr(old, name) for name in SAME]
    assert new.idempotency_key is None
    assert Hold.objects.get(reference=new.id).state == "open"
    assert events(new.id) == [("queued", 0)]
    assert TaskPayload.objects.get(task=new).params == TaskPayload.objects.get(task=old).params


def test_a_retried_call_leaves_the_open_list(film):
    new_id = resolve.retry(film.task_id, by=BY)
    assert outcome(film) == {"kind": "ambiguous", "resolved": "retried", "by": BY, "task": new_id}
    assert not is_open(film)


def test_a_retry_may_be_repeated_and_the_newest_is_told(film):
    first = resolve.retry(film.task_id, by=BY)
    lifecycle.end([steps.cancellation_of(first)])
    second = resolve.retry(film.task_id, by=BY)
    assert first != second
    assert outcome(film)["task"] == second


def test_a_double_click_buys_once(film):
    new_id = resolve.retry(film.task_id, by=BY)
    assert new_id in refusal(resolve.retry, film.task_id)
    assert Task.objects.filter(retry_of=film.task_id).count() == 1


def test_a_retry_costs_what_was_agreed_whatever_it_costs_now(film, worker, video_model):
    video_model.prices = {"*": "99"}
    video_model.save()
    new_id = resolve.retry(film.task_id, by=BY)
    (claimed,) = steps.claimed(worker)
    assert claimed.id == new_id
    assert task(new_id).estimated_micros == 500_000


def test_a_retry_is_routed_by_the_catalog_of_now(film, plan, video_model, worker):
    channel = make_channel("atelier", "ark_content_tasks", "https://other.provider.example/api/v3")
    make_route(plan, video_model, channel, upstream_model="seedance-2")
    Route.objects.filter(channel__name="cinema").update(enabled=False)
    Channel.objects.filter(name="cinema").first().save()  # raises the catalog's version
    new_id = resolve.retry(film.task_id, by=BY)
    assert [row["channel"] for row in trace.of_task(new_id).routes] == ["atelier"]
    (claimed,) = steps.claimed(worker)
    assert task(claimed.id).channel_id == channel.pk


def test_a_route_that_would_buy_something_else_now_is_not_taken(lose, image_model):
    call = lose({**steps.IMAGE, "params": {"prompt": "a fox", "extra_body": {"size": "1024x1024"}}})
    for row in ChannelModel.objects.all():
        row.capabilities = {"size_table": {"2K": {"1:1": "1024x1024"}}}
        row.save()
    assert refusal(resolve.retry, call.task_id) == (
        "No available route supports this request. params: it would buy 1 of 2K, not 1 of 1K."
    )
    assert is_open(call)


def test_a_retry_has_data_urls_of_its_own(pictures):
    new_id = resolve.retry(pictures.task_id, by=BY)
    old_key, new_key = (
        TaskPayload.objects.get(task_id=i).params["images"][0]["stored"]["key"] for i in (pictures.task_id, new_id)
    )
    assert old_key != new_key
    blobs.delete(old_key)
    with blobs.open(new_key) as file:
        assert file.read().startswith(b"\x89PNG")


def test_a_retry_has_a_mask_of_its_own(lose, image_model):
    old = lose(PICTURES, mask={"image_url": data_url("image/webp")}).task_id
    new = resolve.retry(old, by=BY)
    stored = [TaskPayload.objects.get(task_id=i).params["mask"]["stored"] for i in (old, new)]
    assert stored[0]["sha256"] == stored[1]["sha256"]
    blobs.delete(stored[0]["key"])
    with blobs.open(stored[1]["key"]) as file:
        assert file.read().startswith(b"RIFF")


def test_deleted_params_cannot_be_retried(film):
    TaskPayload.objects.update(params=None)
    assert "deleted at the end of their retention" in refusal(resolve.retry, film.task_id)


def test_a_vanished_data_url_cannot_be_retried(pictures):
    stored = TaskPayload.objects.get(task_id=pictures.task_id).params["images"][0]["stored"]
    blobs.delete(stored["key"])
    assert "an input that it held is gone" in refusal(resolve.retry, pictures.task_id)


def test_a_result_that_was_referred_to_is_taken_again_without_a_copy(lose, key, worker, image_model, video_model):
    call = lose(chained(key, worker))
    asset = Asset.objects.get()
    retry = resolve.retry(call.task_id, by="ada")
    (element,) = TaskPayload.objects.get(task_id=retry).params["inputs"]
    assert element["stored"]["key"] == asset.storage_key
    assert Task.objects.get(id=retry).input_bytes == 0


def chained(key, worker):
    """A film that begins with the picture of another task."""
    source = steps.start(key, worker)
    steps.end(source)
    element = {"type": "image", "role": "first_frame", "url": f"asset:{source.id}/0"}
    return {**FILM, "params": {**FILM["params"], "inputs": [element]}}


def test_a_deleted_own_asset_cannot_be_retried(lose, key, worker, image_model, video_model):
    call = lose(chained(key, worker))
    Asset.objects.update(deleted_at=timezone.now())
    assert "was deleted" in refusal(resolve.retry, call.task_id)


def test_a_vanished_model_or_route_cannot_be_retried(film, video_model):
    video_model.enabled = False
    video_model.save()
    assert "comet-video is gone or disabled" in refusal(resolve.retry, film.task_id)
    video_model.enabled = True
    video_model.save()
    Route.objects.get().delete()
    assert "not available" in refusal(resolve.retry, film.task_id)


def test_an_account_that_cannot_pay_cannot_retry_or_attach(film, pictures, account):
    before = Account.objects.get(pk=account.pk)
    try:
        Account.objects.filter(pk=account.pk).update(balance_micros=10)
        assert "does not cover" in refusal(resolve.retry, pictures.task_id)
        assert "does not cover" in refusal(resolve.attach, film.pk, "cgt-1")
    finally:
        Account.objects.filter(pk=account.pk).update(balance_micros=before.balance_micros)
    assert is_open(film)
    assert is_open(pictures)


def test_budgets_hold_for_retry_and_attach(film, pictures, key):
    budget_steps.limit(key.account, day="0.1")
    assert "day budget of the account" in refusal(resolve.retry, film.task_id)
    assert "day budget of the account" in refusal(resolve.attach, film.pk, "cgt-1")
    budget_steps.limit(key.record, month="10")
    budget_steps.limit(key.account)
    resolve.retry(pictures.task_id, by=BY)
    resolve.attach(film.pk, "cgt-1", by=BY)
    assert budget_steps.used(key) == {"key month": 80_000 + 500_000}


def test_the_data_urls_of_a_refused_retry_are_deleted_again(pictures, key):
    before = kept_inputs()
    ApiKey.objects.update(max_queued=0)
    assert "queued tasks" in refusal(resolve.retry, pictures.task_id)
    assert kept_inputs() == before


def kept_inputs() -> set[Path]:
    return {path for path in (Path(storages["assets"].location) / "inputs").rglob("*") if path.is_file()}


def test_only_a_task_without_a_known_outcome_is_retried(key, worker, video_model):
    claimed = steps.start(key, worker, FILM)
    assert "Only a task" in refusal(resolve.retry, claimed.id)
    steps.end(claimed, "failed")
    assert "Only a task" in refusal(resolve.retry, claimed.id)


def test_an_attached_job_is_a_running_task_that_nobody_owns(film):
    new = task(resolve.attach(film.pk, "cgt-20260101-1", by=BY))
    old = task(film.task_id)
    assert (new.status, new.attempt, new.retry_of_id, new.worker_id) == ("running", 1, old.id, "desk")
    assert [getattr(new, name) for name in SAME] == [getattr(old, name) for name in SAME]
    assert (new.channel_id, new.route_id) == (film.channel_id, film.route_id)
    assert events(new.id) == [("queued", 0), ("running", 1)]
    assert (new.deadline_at - new.started_at).total_seconds() == pytest.approx(7_200, abs=0.01)
    assert Hold.objects.get(reference=new.id).amount_micros == new.estimated_micros
    call = Call.objects.get(task=new)
    assert (call.state, call.handle["id"], call.target) == ("accepted", "cgt-20260101-1", film.target)
    assert call.credential_id == film.credential_id


def test_an_attached_call_leaves_the_open_list_for_good(film):
    new_id = resolve.attach(film.pk, "cgt-1", by=BY)
    assert outcome(film) == {"kind": "ambiguous", "resolved": "attached", "by": BY, "task": new_id}
    assert "settled before" in refusal(resolve.attach, film.pk, "cgt-2")
    assert "settled before" in refusal(resolve.mark_lost, film.pk)


def test_a_task_whose_job_is_followed_is_not_bought_again(film):
    new_id = resolve.attach(film.pk, "job-7", by=BY)
    with pytest.raises(Refused, match=new_id):
        resolve.retry(film.task_id, by=BY)


def test_an_attached_job_is_adopted_polled_and_charged(film, worker):
    new_id = resolve.attach(film.pk, "cgt-1", by=BY)
    (orphan,) = leases.adopt(worker)
    assert (orphan.task_id, orphan.attempt, len(orphan.accepted)) == (new_id, 2, 1)
    (due,) = steps.due(worker)
    assert (due.task_id, due.handle["id"], due.is_late, due.is_overdue) == (new_id, "cgt-1", False, False)
    end = CallEnd(id=due.id, state="done", outcome={"kind": "succeeded", "delivered": 1})
    success = Success(actual_micros=500_000, seconds=5, assets=(steps.asset(kind="video"),))
    running = steps.ending(task(new_id), "succeeded", success=success, calls=(end,))
    assert lifecycle.end([running]) == {new_id}
    assert trace.public(trace.of_task(new_id))["attempts"][0]["cost"] == 0.5


def test_attach_goes_on_without_the_params_of_the_old_task(film):
    TaskPayload.objects.update(params=None)
    new_id = resolve.attach(film.pk, "cgt-1", by=BY)
    assert TaskPayload.objects.get(task_id=new_id).params == {"duration": 5}


def test_a_job_of_another_task_cannot_be_attached(film, lose):
    other = resolve.attach(lose(FILM).pk, "cgt-1", by=BY)
    assert f"belongs to {other} already" in refusal(resolve.attach, film.pk, "cgt-1")
    assert is_open(film)


def test_a_protocol_that_answers_at_once_has_nothing_to_attach(pictures):
    assert "answers at once" in refusal(resolve.attach, pictures.pk, "img-1")
    assert is_open(pictures)


def test_what_cannot_be_an_id_cannot_be_attached(film):
    for upstream_id in ("", "a\nb", "x" * 1025):
        assert "Cannot be attached" in refusal(resolve.attach, film.pk, upstream_id)


def test_without_its_channel_nothing_can_be_attached(film):
    Channel.objects.all().delete()
    assert "is gone" in refusal(resolve.attach, film.pk, "cgt-1")


def test_a_lost_call_is_the_operators_loss_at_its_own_cost(film):
    ChannelModel.objects.update(cost={"720p": "0.07"})
    Channel.objects.first().save()
    resolve.mark_lost(film.pk, by=BY)
    call = Call.objects.get(pk=film.pk)
    assert (call.state, call.cost_micros) == ("lost", 350_000)
    assert call.outcome == {"kind": "ambiguous", "resolved": "lost", "by": BY, "task": None}
    assert task(film.task_id).actual_micros == 0
    assert not is_open(film)


def test_a_lost_call_without_a_known_cost_is_lost_all_the_same(film):
    resolve.mark_lost(film.pk, by=BY)
    assert Call.objects.get(pk=film.pk).cost_micros is None


def test_a_task_may_be_retried_after_its_call_was_written_off(film):
    resolve.mark_lost(film.pk, by=BY)
    assert task(resolve.retry(film.task_id, by=BY)).status == "queued"
    assert outcome(film)["resolved"] == "lost"


def test_calls_that_were_bought_together_are_settled_one_by_one(lose, image_model):
    ChannelModel.objects.update(cost={"1K": "0.01"})
    first = lose({**steps.IMAGE, "params": {"prompt": "a fox", "n": 3}}, count=3)
    assert len(open_calls.open_calls()) == 3
    resolve.mark_lost(first.pk, by=BY)
    assert Call.objects.get(pk=first.pk).cost_micros == 10_000
    assert len(open_calls.open_calls()) == 2
    resolve.retry(first.task_id, by=BY)
    assert not open_calls.open_calls()


def test_an_answer_that_comes_late_takes_the_call_off_the_list(film):
    paid_calls.accept(film.pk, {"id": "cgt-1"}, poll_after=0.0)
    assert "settled before" in refusal(resolve.attach, film.pk, "cgt-1")


def test_a_call_that_was_not_run_leaves_the_list_costs_nothing_and_can_be_retried(film):
    resolve.mark_not_run(film.pk, by=BY)
    call = Call.objects.get(pk=film.pk)
    assert (call.state, call.cost_micros) == ("refused", None)
    assert call.outcome == {"kind": "ambiguous", "resolved": "not run", "by": BY, "task": None}
    assert not is_open(film)
    assert "known, or was settled" in refusal(resolve.mark_not_run, film.pk)
    assert task(resolve.retry(film.task_id, by=BY)).status == "queued"


def test_a_call_of_a_task_that_is_worked_on_is_not_said_to_be_not_run(key, worker, video_model):
    running = steps.start(key, worker, FILM)
    call_id = steps.intended(running, worker)
    paid_calls.close(CallEnd(id=call_id, state="unknown", outcome={"kind": "ambiguous"}))
    assert "The task is running" in refusal(resolve.mark_not_run, call_id)
