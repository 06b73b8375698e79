"""Submissions at the same time: keys, money and limits are exact."""

import random
from collections import Counter
from functools import partial

import pytest
from django.db.models import Sum

from billing import relayed_calls
from billing.models import Hold
from common.errors import InsufficientBalance
from tasks import lifecycle
from tasks.intake import limits, submission
from tasks.models import Task, TaskEvent
from tests.billing import budget_steps, relayed_steps
from tests.rows import make_account, make_key
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

pytestmark = pytest.mark.django_db(transaction=True)


def submit_at_once(drafts) -> Counter[str]:
    outcomes = steps.at_once([partial(submission.submit_one, draft) for draft in drafts])
    return Counter(type(outcome).__name__ for outcome in outcomes)


def test_one_idempotency_key_makes_one_task_and_one_hold(key, image_model):
    drafts = [steps.drafted(key, idempotency_key="order-1") for _ in range(32)]
    outcomes = steps.at_once([partial(submission.submit_one, draft) for draft in drafts])
    assert Counter(type(outcome).__name__ for outcome in outcomes) == {"Created": 1, "Replay": 31}
    assert {outcome.task_id for outcome in outcomes} == {Task.objects.get().id}
    assert (Hold.objects.count(), TaskEvent.objects.count()) == (1, 1)
    key.account.refresh_from_db()
    assert key.account.held_micros == 40_000
    assert steps.breaches() == []


def test_the_last_dollar_is_spent_once(image_model):
    account = make_account("poor", usd="1")
    key = make_key(account)
    assert submit_at_once([steps.drafted(key) for _ in range(32)]) == {"Created": 25, "InsufficientBalance": 7}
    account.refresh_from_db()
    assert account.held_micros == account.balance_micros == 1_000_000
    assert steps.breaches() == []


@pytest.mark.parametrize("whose", ["account", "key"])
def test_a_budget_is_strict_over_all_who_spend_it(image_model, whose):
    image_model.prices = {"1K": "1"}
    image_model.save()
    account = make_account("rich", usd="1000")
    key = make_key(account)
    budget_steps.limit(account if whose == "account" else key.record, month="10")
    jobs = [partial(submission.submit_one, steps.drafted(key)) for _ in range(48)]
    calls = [relayed_steps.new_call(key, 1_000_000, process_id=relayed_steps.process()) for _ in range(16)]
    outcomes = steps.at_once(jobs + [partial(reserved, call) for call in calls])
    assert sum(isinstance(outcome, InsufficientBalance) for outcome in outcomes) == 54
    account.refresh_from_db()
    assert account.held_micros == 10_000_000
    assert budget_steps.used(key) == {f"{whose} month": 10_000_000}
    assert steps.breaches() == []


def reserved(call):
    (outcome,) = relayed_calls.reserve([call])
    return outcome


def test_a_budget_that_is_set_amidst_counts_everything_once(image_model):
    """Tasks are submitted and end, and calls likewise, while budgets come and go."""
    account = make_account("rich", usd="1000")
    key = make_key(account)
    relayed_steps.process()
    tasks = steps.submitted_many(key, 8)
    calls = [relayed_steps.opened(key, 40_000) for _ in range(16)]
    ends = [relayed_steps.ending(call, 10_000) for call in calls]
    jobs = [partial(lifecycle.end, [steps.cancellation_of(task_id)]) for task_id in tasks]
    jobs += [partial(relayed_calls.end, [end]) for end in ends[:8]]
    jobs += [partial(relayed_calls.end_free, [end]) for end in ends[8:]]
    jobs += [partial(submission.submit_one, steps.drafted(key)) for _ in range(8)]
    jobs += [partial(reserved, relayed_steps.new_call(key, 40_000)) for _ in range(8)]
    for holder in (account, key.record):
        jobs += [partial(budget_steps.limit, holder, day="100", month="100"), partial(budget_steps.limit, holder)]
        jobs += [partial(budget_steps.limit, holder, day="100")]
    random.shuffle(jobs)
    steps.at_once(jobs)
    assert steps.breaches() == []
    relayed_calls.end(ends)
    assert steps.breaches() == []


def test_the_keys_of_an_account_share_its_last_dollar(image_model):
    account = make_account("poor", usd="0.4")
    keys = [make_key(account, f"key {number}") for number in range(4)]
    drafts = [steps.drafted(keys[number % 4]) for number in range(16)]
    assert submit_at_once(drafts) == {"Created": 10, "InsufficientBalance": 6}
    assert steps.breaches() == []


def test_the_queue_limit_of_a_key_is_strict(account, image_model):
    key = make_key(account, max_queued=5)
    assert submit_at_once([steps.drafted(key) for _ in range(16)]) == {"Created": 5, "QueueLimitExceeded": 11}
    assert Task.objects.count() == 5


def test_the_queue_limit_of_an_account_is_strict_over_its_keys(image_model):
    account = make_account("small", max_queued=7)
    keys = [make_key(account, f"key {number}") for number in range(4)]
    drafts = [steps.drafted(keys[number % 4]) for number in range(16)]
    assert submit_at_once(drafts) == {"Created": 7, "QueueLimitExceeded": 9}
    assert Task.objects.count() == 7


def test_the_limit_of_callbacks_is_strict_also_while_tasks_end(account, image_model, monkeypatch):
    monkeypatch.setattr(limits, "MOST_NEVER_ATTEMPTED", 7)
    keys = [make_key(account, f"key {number}") for number in range(4)]
    hook = {"callback_url": "https://hooks.example.com/"}
    ending = [steps.submitted(key, **hook) for key in keys]
    drafts = [steps.drafted(keys[number % 4], **hook) for number in range(16)]
    jobs = [partial(submission.submit_one, draft) for draft in drafts]
    jobs += [partial(lifecycle.end, [steps.cancellation_of(task_id)]) for task_id in ending]
    outcomes = Counter(type(outcome).__name__ for outcome in steps.at_once(jobs))
    assert (outcomes["Created"], outcomes["QueueLimitExceeded"]) == (3, 13)


def test_the_limit_of_stored_inputs_is_strict(account, image_model, settings):
    settings.MAX_INPUT_BYTES = 5 * 16
    keys = [make_key(account, f"key {number}") for number in range(4)]
    params = {"prompt": "x", "images": [{"image_url": data_url()}]}
    drafts = [steps.drafted(keys[number % 4], params=params) for number in range(16)]
    assert submit_at_once(drafts) == {"Created": 5, "QueueLimitExceeded": 11}
    assert Task.objects.aggregate(Sum("input_bytes")) == {"input_bytes__sum": 5 * 16}


def test_lists_of_several_accounts_in_any_order_do_not_block_each_other(image_model):
    keys = [make_key(make_account(f"account {number}")) for number in range(4)]
    lists = [
        [steps.drafted(key) for key in (keys if turned else reversed(keys))]
        for turned in (True, False)
        for _ in range(4)
    ]
    steps.at_once([partial(submission.submit, drafts) for drafts in lists])
    assert Counter(Task.objects.values_list("key_id", flat=True)) == {key.id: 8 for key in keys}
    assert steps.breaches() == []
