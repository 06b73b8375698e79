"""A delivery from the end of its task to the last attempt, step by step."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from callbacks import claims, deliveries
from callbacks.models import DeliveryAttempt
from common.errors import NotRedeliverable
from tests.callbacks import steps

pytestmark = pytest.mark.django_db

HOUR = 3_600


@pytest.fixture(autouse=True)
def schedule(settings):
    settings.CALLBACK_SCHEDULE = (0, HOUR, 10 * HOUR)


def test_a_delivery_is_named_after_its_task_and_due_at_once(owed):
    task_id = owed("https://Hooks.example.com/done")
    found = steps.delivery(task_id)
    assert (found.id, found.host, found.status) == (f"{task_id}.1", "hooks.example.com:443", "pending")
    assert steps.claimed_one().number == 1


def test_the_first_wait_of_the_schedule_counts_from_the_end_of_the_task(owed, settings):
    settings.CALLBACK_SCHEDULE = (HOUR, 10 * HOUR)
    task_id = owed()
    assert steps.claimed() == ()
    assert 0.8 * HOUR < steps.wait_of(task_id) <= HOUR
    steps.let_pass(task_id, HOUR)
    assert not steps.claimed_one().is_resend


def test_a_claimed_delivery_is_nobody_elses(owed):
    owed()
    steps.claimed_one()
    assert steps.claimed() == ()
    assert claims.has_due()


def test_a_claim_ends_after_its_lease(owed):
    task_id = owed()
    first = steps.claimed_one()
    steps.let_pass(task_id, claims.LEASE_SECONDS / 2)
    assert steps.claimed() == ()
    steps.let_pass(task_id, claims.LEASE_SECONDS / 2)
    second = steps.claimed_one()
    assert (second.id, second.number) == (first.id, first.number)


def test_what_was_given_back_is_due_again(owed):
    owed()
    claims.give_back(steps.claimed_one())
    assert steps.claimed_one().number == 1


def test_an_old_claim_cannot_be_given_back_for_its_successor(owed):
    task_id = owed()
    first = steps.claimed_one()
    steps.let_pass(task_id, claims.LEASE_SECONDS + 1)
    steps.claimed_one()
    claims.give_back(replace(first, claimed_at=first.claimed_at - timedelta(seconds=claims.LEASE_SECONDS + 1)))
    assert steps.claimed() == ()


@pytest.mark.parametrize("status_code", [200, 299])
def test_any_2xx_delivers(owed, status_code):
    task_id = owed()
    steps.attempted(status_code)
    assert steps.state(task_id) == ("delivered", 1)
    assert steps.delivery(task_id).next_attempt_at is None
    assert not claims.has_due()


@pytest.mark.parametrize("status_code", [None, 199, 300, 410, 500])
def test_everything_else_is_tried_again_on_the_schedule(owed, status_code):
    task_id = owed()
    steps.attempted(status_code)
    assert steps.state(task_id) == ("pending", 1)
    assert 0.5 * HOUR <= steps.wait_of(task_id) <= 1.2 * HOUR
    assert steps.claimed() == ()


def test_retry_after_lengthens_a_wait_to_two_steps_at_most(owed):
    task_id = owed()
    steps.attempted(503, retry_after=100.0 * HOUR)
    assert 1.8 * HOUR <= steps.wait_of(task_id) <= 2 * HOUR


def test_a_delivery_is_exhausted_after_its_last_attempt(owed):
    task_id = owed()
    for _ in range(3):
        steps.attempted(500)
        steps.let_pass(task_id, 15 * HOUR)
    assert steps.state(task_id) == ("exhausted", 3)
    assert steps.delivery(task_id).next_attempt_at is None
    assert steps.claimed() == ()


def test_an_attempt_is_recorded_once(owed):
    task_id = owed()
    due = steps.claimed_one()
    assert deliveries.record(due, steps.outcome(500))
    assert not deliveries.record(due, steps.outcome(200))
    assert steps.state(task_id) == ("pending", 1)
    assert DeliveryAttempt.objects.get().status_code == 500


def test_a_worker_that_lost_its_claim_records_nothing_over_its_successor(owed):
    task_id = owed()
    stale = steps.claimed_one()
    steps.let_pass(task_id, claims.LEASE_SECONDS + 1)
    steps.attempted(200)
    assert not deliveries.record(stale, steps.outcome(None, error="the answer took too long"))
    assert steps.state(task_id) == ("delivered", 1)


@pytest.mark.parametrize(("status_code", "attempts"), [(200, 1), (500, 3)])
@pytest.mark.parametrize("again", [200, 500])
def test_a_resend_makes_one_attempt_and_returns_to_what_was(owed, status_code, attempts, again):
    task_id = owed()
    for _ in range(attempts):
        steps.attempted(status_code)
        steps.let_pass(task_id, 15 * HOUR)
    before = steps.state(task_id)[0]
    assert deliveries.redeliver(task_id).status == "pending"
    assert steps.attempted(again).is_resend
    assert steps.state(task_id) == ("delivered" if again == 200 else before, attempts + 1)
    assert steps.claimed() == ()


def test_a_resend_leaves_the_schedule_of_a_pending_delivery_alone(owed):
    task_id = owed()
    steps.attempted(500)
    scheduled = steps.delivery(task_id).next_attempt_at
    for _ in range(5):
        deliveries.redeliver(task_id)
        steps.attempted(500)
    assert steps.delivery(task_id).next_attempt_at == scheduled
    for _ in range(2):
        steps.let_pass(task_id, 15 * HOUR)
        assert not steps.attempted(500).is_resend
    assert steps.state(task_id) == ("exhausted", 8)


def test_a_resend_of_a_pending_delivery_can_deliver_it(owed):
    task_id = owed()
    steps.attempted(500)
    deliveries.redeliver(task_id)
    steps.attempted(200)
    assert steps.state(task_id) == ("delivered", 2)
    assert steps.delivery(task_id).next_attempt_at is None


@pytest.mark.parametrize("status_code", [200, 500])
def test_a_resend_that_is_asked_for_during_an_attempt_follows_it(owed, status_code):
    task_id = owed()
    due = steps.claimed_one()
    steps.let_pass(task_id, 1)
    deliveries.redeliver(task_id)
    assert steps.claimed() == ()
    deliveries.record(due, steps.outcome(status_code))
    assert steps.attempted(500).is_resend
    assert steps.state(task_id) == ("delivered" if status_code == 200 else "pending", 2)


def test_asking_twice_is_one_attempt_that_keeps_its_place(owed):
    task_id = owed()
    steps.attempted(200)
    deliveries.redeliver(task_id)
    steps.let_pass(task_id, 5)
    assert deliveries.redeliver(task_id).next_attempt_at == steps.delivery(task_id).next_attempt_at
    assert steps.wait_of(task_id) <= -5
    steps.attempted(200)
    assert steps.claimed() == ()


def test_a_task_without_a_delivery_cannot_be_sent_again(make_task):
    for task in (make_task("running", callback_url="https://hooks.example.com/"), make_task("failed")):
        with pytest.raises(NotRedeliverable):
            deliveries.redeliver(task.id)


def test_the_log_shows_the_last_hundred_attempts_in_order(owed):
    task_id = owed()
    for _ in range(103):
        steps.attempted(500)
        deliveries.redeliver(task_id)
    _, attempts = deliveries.log(task_id)
    assert [attempt.number for attempt in attempts] == list(range(4, 104))
    assert all(earlier.at <= later.at for earlier, later in pairwise(attempts))


def test_nothing_owed_writes_nothing():
    assert deliveries.owing([]) == []
