"""The decision over a list of drafts: pure, in order, with running totals."""

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from accounts.authentication import Replay
from accounts.models import Account, ApiKey
from billing import ledger
from billing.budget_standing import BudgetStanding
from billing.budgets import Budgets
from billing.ledger import AccountState
from callbacks import deliveries
from callbacks.claims import Claims
from callbacks.deliveries import Outcome
from tasks import ledger_check, lifecycle
from tasks.claims import queue
from tasks.intake import limits
from tasks.intake.drafts import Draft
from tasks.intake.limits import Standing, decide
from tasks.lifecycle import Ending
from tests.rows import make_key
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url


def standing(key, *, queued: int = 0, of_others: int = 0, known=()) -> Standing:
    found = Standing(replays={(key.id, k): Replay(task_id=f"task_{k}", body_digest="") for k in known})
    found.queued.update({key.account.pk: Counter({key.id: queued, -1: of_others}), -1: Counter({-2: 10_000})})
    return found


def limited(draft: Draft, key_limit: int) -> Draft:
    """The draft of a caller whose key has this limit."""
    return replace(draft, caller=replace(draft.caller, max_queued=key_limit))


def state(key, *, available: int = 10_000_000, max_queued: int = 200) -> dict[int, AccountState]:
    return {key.account.pk: AccountState(balance_micros=available + 7, held_micros=7, max_queued=max_queued)}


@pytest.fixture
def draft(key, image_model):
    return steps.drafted(key)


def kinds(outcomes) -> list[str | None]:
    return [outcome and type(outcome).__name__ for outcome in outcomes]


CREATED, FULL, POOR = None, "QueueLimitExceeded", "InsufficientBalance"
DECISIONS: dict[str, tuple[int, dict[str, int], dict[str, int], list[str | None]]] = {
    "what is allowed is created": (1, {}, {}, [CREATED]),
    "the last seat of the key is given once": (3, {"queued": 3, "key_limit": 4}, {}, [CREATED, FULL, FULL]),
    "the account's limit counts all its keys": (2, {"queued": 1, "of_others": 8}, {"max_queued": 10}, [CREATED, FULL]),
    "a limit of zero refuses everything": (1, {"key_limit": 0}, {}, [FULL]),
    "the last money is spent once": (3, {}, {"available": 80_000}, [CREATED, CREATED, POOR]),
    "the estimate is enough": (1, {}, {"available": 40_000}, [CREATED]),
    "one micro less than the estimate is not": (1, {}, {"available": 39_999}, [POOR]),
    "the queue limit is told before the balance": (1, {"queued": 1, "key_limit": 1}, {"available": 0}, [FULL]),
}


def test_drafts_are_decided_in_order_with_running_totals(key, draft):
    for promise, (count, given, account, expected) in DECISIONS.items():
        waiting = {"key_limit": 100} | given
        drafts = [limited(draft, waiting.pop("key_limit"))] * count
        assert kinds(decide(drafts, state(key, **account), standing(key, **waiting))) == expected, promise


def test_callbacks_that_were_never_attempted_have_a_limit(key, image_model):
    plain, owing = steps.drafted(key), steps.drafted(key, callback_url="https://hooks.example.com/")
    for owed, expected in ((9_999, [CREATED, CREATED, FULL, CREATED]), (10_000, [CREATED, FULL, FULL, CREATED])):
        found = standing(key)
        found.callbacks[key.account.pk] = owed
        assert kinds(decide([plain, owing, owing, plain], state(key), found)) == expected
    (refusal,) = decide([owing], state(key, available=0), found)
    assert "callback_url: 10000 callbacks" in refusal.message
    assert refusal.headers == {"Retry-After": "60"}


def test_stored_inputs_have_a_limit(key, image_model, settings):
    settings.MAX_INPUT_BYTES = 100
    plain, storing = (
        steps.drafted(key),
        steps.drafted(key, params={"prompt": "x", "images": [{"image_url": data_url()}]}),
    )
    assert (plain.input_bytes, storing.input_bytes) == (0, 16)
    for stored, expected in (
        (69, [CREATED, FULL, CREATED]),
        (84, [CREATED, FULL, CREATED]),
        (85, [FULL, FULL, CREATED]),
    ):
        found = standing(key)
        found.input_bytes[key.account.pk] = stored
        assert kinds(decide([storing, storing, plain], state(key), found)) == expected
    (refusal,) = decide([storing], state(key, available=0), found)
    assert "params.images: these Data URLs have 16 bytes" in refusal.message
    assert refusal.headers == {"Retry-After": "60"}
    storing.discard_inputs()


def test_a_balance_below_zero_buys_not_even_what_is_free(key, draft):
    free = steps.priced(draft, replace(draft.prepared.price, unit_micros=0))
    assert kinds(decide([free], state(key, available=-1), standing(key))) == [POOR]
    assert kinds(decide([free], state(key, available=0), standing(key))) == [CREATED]


def budgeted(key, micros: dict[str, int]) -> Standing:
    """With these budgets of the key and of its account, of which nothing is used."""
    found = standing(key)
    owners = {"account": key.account.pk, "key": key.id}
    day = date(2026, 11, 23)
    found.budgets = Budgets(
        BudgetStanding(
            holder=holder, holder_id=owners[holder], window="day", day=day, limit_micros=limit, used_micros=0
        )
        for holder, limit in micros.items()
    )
    return found


def test_budgets_are_spent_in_order_with_running_totals(key, other_key, draft):
    drafts = [draft, steps.drafted(other_key), draft, draft]
    accounts = state(key) | state(other_key)
    for micros, expected in (
        ({"key": 80_000}, [CREATED, CREATED, CREATED, POOR]),
        ({"account": 79_999}, [CREATED, CREATED, POOR, POOR]),
        ({"account": 120_000, "key": 40_000}, [CREATED, CREATED, POOR, POOR]),
    ):
        assert kinds(decide(drafts, accounts, budgeted(key, micros))) == expected, micros
    (poor,) = decide([draft], state(key, available=0), budgeted(key, {"key": 0}))
    assert "balance" in poor.message


def test_a_refusal_by_limit_names_whose_limit_it_is(key, draft):
    (of_key,) = decide([limited(draft, 5)], state(key), standing(key, queued=5))
    (of_account,) = decide([draft], state(key, max_queued=5), standing(key, of_others=5))
    assert "API key" in of_key.message
    assert "5" in of_key.message
    assert "account" in of_account.message
    assert of_key.headers["Retry-After"]


def test_a_known_key_is_answered_whatever_limits_and_money_say(key, image_model):
    draft = limited(steps.drafted(key, idempotency_key="k"), 0)
    (outcome,) = decide([draft], state(key, available=0), standing(key, queued=9, known=["k"]))
    assert outcome == Replay(task_id="task_k", body_digest="")


def test_the_second_of_a_batch_is_a_replay_of_the_first(key, image_model):
    first, second = (steps.drafted(key, idempotency_key="k", digest=digit * 64) for digit in "ab")
    assert decide([first, second], state(key, available=40_000), standing(key)) == [
        None,
        Replay(task_id=first.task_id, body_digest="a" * 64),
    ]


def test_a_cheaper_draft_after_a_refused_one_still_fits_under_the_same_key(key, image_model):
    dear = steps.drafted(key, idempotency_key="k", params={"prompt": "x", "n": 4})
    cheap = steps.drafted(key, idempotency_key="k")
    outcomes = decide([dear, cheap], state(key, available=40_000), standing(key))
    assert kinds(outcomes) == ["InsufficientBalance", None]


def test_accounts_and_keys_do_not_share_their_figures(key, other_key, image_model):
    drafts = [steps.drafted(key), steps.drafted(other_key), steps.drafted(key)]
    accounts = state(key, available=40_000) | state(other_key, available=40_000)
    drafts[1] = limited(drafts[1], 1)
    assert kinds(decide(drafts, accounts, standing(key))) == [None, None, "InsufficientBalance"]


def test_the_standing_is_read_in_two_statements(account, key, other_key, image_model, django_assert_num_queries):
    sibling = make_key(account, "sibling", max_queued=7)
    steps.submitted_many(key, 3)
    steps.submitted(sibling, idempotency_key="k", digest="d" * 64)
    steps.submitted(other_key)
    drafts = [steps.drafted(key), steps.drafted(sibling, idempotency_key="k"), steps.drafted(key, idempotency_key="k")]
    with django_assert_num_queries(2):
        found = steps.read_standing(drafts)
    assert found.queued == {account.pk: {key.id: 3, sibling.id: 1}}
    assert found.live == {account.pk: 4}
    assert [draft.caller.max_queued for draft in drafts] == [100, 7, 100]
    assert [(slot, replay.body_digest) for slot, replay in found.replays.items()] == [((sibling.id, "k"), "d" * 64)]


def test_callbacks_count_from_the_submission_to_the_first_attempt(key, other_key, image_model, worker):
    hook = {"callback_url": "https://hooks.example.com/"}
    owing = steps.drafted(key, **hook)

    def counted() -> int:
        return steps.read_standing([owing]).callbacks[key.account.pk]

    assert counted() == 0
    steps.submitted(other_key, **hook)
    steps.submitted(key)
    task_id = steps.submitted(key, **hook)
    assert counted() == 1
    steps.claimed(worker)
    assert counted() == 1
    lifecycle.end([Ending.timed_out(task_id, 1)])
    assert counted() == 1
    (due,) = (due for due in Claims().claim(seats=9, retry_seats=9, busy={}) if due.task_id == task_id)
    assert counted() == 1
    deliveries.record(due, Outcome(at=steps.clock(), status_code=500))
    assert counted() == 0
    deliveries.redeliver(task_id)
    assert counted() == 0
    assert steps.read_standing([steps.drafted(key)]).callbacks == {}


def test_running_and_ended_tasks_are_not_queued(key, image_model, worker):
    steps.submitted_many(key, 3)
    first, _, _ = steps.claimed(worker)
    steps.end(first)
    draft = steps.drafted(key)
    found = steps.read_standing([draft])
    assert (found.queued[key.account.pk][key.id], found.live[key.account.pk]) == (0, 2)


def at_most(account: Account) -> int | None:
    return Account.objects.values_list("live_at_most", flat=True).get(pk=account.pk)


def test_tasks_are_counted_only_near_a_limit(key, image_model, django_assert_num_queries):
    Account.objects.filter(pk=key.account.pk).update(max_queued=10)
    ApiKey.objects.filter(pk=key.id).update(max_queued=8)
    assert at_most(key.account) == 0
    Account.objects.filter(pk=key.account.pk).update(live_at_most=None)  # as before it was kept
    steps.submitted_many(key, 5)
    assert at_most(key.account) == 5
    drafts = [steps.drafted(key) for _ in range(4)]
    for count, statements, queued in ((3, 0, {}), (4, 1, {key.id: 5})):
        locked = ledger.lock_accounts([key.account.pk])
        with django_assert_num_queries(statements):
            found = limits.read_standing(drafts[:count], locked)
        assert found.queued.get(key.account.pk, {}) == queued
        assert found.live == {key.account.pk: 5}


def test_the_limit_is_strict_whatever_ends_and_returns(key, image_model, worker):
    Account.objects.filter(pk=key.account.pk).update(max_queued=6)
    steps.submitted_many(key, 6)
    running = steps.claimed(worker, seats=4)
    steps.end(running[0])
    submitted = steps.outcomes(key, 6)
    assert kinds(submitted) == ["Created"] * 4 + [FULL] * 2
    assert at_most(key.account) == 9
    queue.requeue([queue.Return(task_id=t.id, attempt=1, open_routes_id=t.open_routes_id) for t in running[1:]])
    assert kinds(steps.outcomes(key, 1)) == [FULL]
    assert "9 queued" in steps.outcomes(key, 1)[0].message
    assert at_most(key.account) == 9
    assert not ledger_check.check().breaches
