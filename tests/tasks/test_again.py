"""An operator submits ended tasks again: as new ones, linked, at the price of today."""

import pytest
from django.utils import timezone

from accounts import keys
from accounts.models import Account, ApiKey
from billing.models import Hold
from tasks import again, lifecycle
from tasks.failures import OUTCOME_UNKNOWN
from tasks.models import ENDED, Call, Task, TaskEvent, TaskPayload
from tasks.paid_calls import CallEnd
from tasks.unknown.open_calls import Refused
from tests.tasks import steps

pytestmark = pytest.mark.django_db
BODY = {**steps.IMAGE, "metadata": {"order": "A-17"}, "callback_url": "https://hooks.example.com/"}
SAME = ("key_id", "account_id", "model_name", "metadata", "callback_url", "modality", "price", "estimated_micros")
BY = "ada"


@pytest.fixture(autouse=True)
def books(db: None):
    yield
    assert steps.breaches() == []


@pytest.fixture
def failed(key, image_model, worker) -> str:
    task = steps.start(key, worker, BODY)
    steps.end(task, "failed")
    return task.id


def one(task_id: str) -> Task:
    return Task.objects.get(id=task_id)


def refusal(task_id: str) -> str:
    before = Task.objects.count()
    with pytest.raises(Refused) as caught:
        again.retry(task_id, by=BY)
    assert Task.objects.count() == before
    return str(caught.value)


def test_a_retry_is_a_new_queued_task_of_the_same_request(failed):
    new, old = one(again.retry(failed, by=BY)), one(failed)
    assert (new.status, new.retry_of_id, new.idempotency_key, old.status) == ("queued", failed, None, "failed")
    assert [getattr(new, name) for name in SAME] == [getattr(old, name) for name in SAME]
    assert TaskPayload.objects.get(task=new).params == TaskPayload.objects.get(task=old).params
    assert Hold.objects.get(reference=new.id).amount_micros == 40_000
    assert list(TaskEvent.objects.filter(task=new).values_list("status", flat=True)) == ["queued"]


def test_every_ended_task_can_be_submitted_again(key, image_model, worker):
    for status in ENDED:
        old = steps.submitted(key)
        ending = steps.cancellation_of(old) if status == "canceled" else None
        lifecycle.end([ending or steps.ending(steps.claimed(worker)[0], status)])
        new = again.retry(old, by=BY)
        assert (one(old).status, one(new).status, one(new).retry_of_id) == (status, "queued", old)
        lifecycle.end([steps.cancellation_of(new)])


def test_a_live_task_is_not_submitted_again(key, image_model, worker):
    running = steps.start(key, worker)
    queued = steps.submitted(key)
    assert "is running" in refusal(running.id)
    with pytest.raises(Refused, match="is queued"):
        again.quote(queued)
    assert "is queued" in refusal(queued)


def test_a_retry_costs_what_it_costs_today(failed, image_model):
    image_model.prices = {"1K": "0.05"}
    image_model.save()
    assert again.quote(failed) == 50_000
    assert one(again.retry(failed, by=BY)).estimated_micros == 50_000


def test_a_retry_of_today_may_make_no_more_than_today(key, image_model, worker):
    task = steps.start(key, worker, {**steps.IMAGE, "params": {"prompt": "a fox", "n": 4}})
    steps.end(task, "failed")
    image_model.params = {**image_model.params, "n": {"max": 2}}
    image_model.save()
    assert "must be at most 2" in refusal(task.id)


def test_one_without_an_outcome_keeps_its_price_and_its_call_is_settled(key, image_model, worker):
    task = steps.start(key, worker)
    end = CallEnd(id=steps.intended(task, worker), state="unknown", outcome={"kind": "ambiguous"})
    steps.end(task, "failed", failure=OUTCOME_UNKNOWN, calls=(end,))
    image_model.prices = {"1K": "0.05"}
    image_model.save()
    new = one(again.retry(task.id, by=BY))
    assert new.estimated_micros == 40_000
    assert Call.objects.get(pk=end.id).outcome["task"] == new.id


def test_two_clicks_at_once_buy_once(transactional_db, failed):
    def click() -> bool:
        try:
            again.retry(failed, by=BY)
        except Refused:
            return False
        return True

    assert sorted(steps.at_once([click] * 4)) == [False] * 3 + [True]
    assert Task.objects.filter(retry_of=failed).count() == 1


def test_the_next_retry_may_come_when_the_last_has_ended(failed):
    first = again.retry(failed, by=BY)
    assert first in refusal(failed)
    lifecycle.end([steps.cancellation_of(first)])
    assert again.retry(failed, by=BY) != first


def test_limits_and_balance_hold_as_for_any_submission(failed, account):
    ApiKey.objects.update(max_queued=0)
    assert "queued tasks" in refusal(failed)
    ApiKey.objects.update(max_queued=9)
    Account.objects.update(held_micros=10_000_000)
    assert "does not cover" in refusal(failed)
    Account.objects.update(held_micros=0)


def test_deleted_params_cannot_be_submitted_again(failed):
    TaskPayload.objects.update(params=None)
    assert "deleted at the end of their retention" in refusal(failed)


@pytest.mark.parametrize(
    "change", [{"task_api": False}, {"disabled_at": timezone.now()}, {"expires_at": timezone.now()}]
)
def test_a_key_that_could_not_submit_gets_no_new_task(failed, change):
    ApiKey.objects.update(**change)
    assert "could not submit it itself" in refusal(failed)


def test_the_callback_of_a_retry_is_signed_with_the_newest_secret(failed, key):
    keys.rotate(key.record, grace_seconds=0)
    new = one(again.retry(failed, by=BY))
    assert new.secret_id == key.record.secrets.latest("pk").pk != one(failed).secret_id


def test_a_task_that_does_not_exist_is_refused(db):
    assert refusal("task_0") == "There is no such task."
