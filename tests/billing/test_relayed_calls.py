"""Relayed calls in the books: each is reserved before it is sent, and ends once."""

import threading
from dataclasses import replace

import pytest
from django.db import IntegrityError, connection, transaction

from billing import relayed_calls, web_processes
from billing.ledger import UnbalancedHold
from billing.models import Hold, RelayedCall, RelayUsage
from billing.relayed_calls import ProcessDeclaredDead, SeenUsage
from common import sql
from common.errors import InsufficientBalance
from common.token_usage import COUNTS, TokenUsage
from tests.billing import relayed_steps as steps
from tests.billing.test_ledger import figures, legs
from tests.rows import make_key
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db
AVAILABLE = 10_000_000


def row(call: relayed_calls.NewCall) -> RelayedCall:
    return RelayedCall.objects.get(id=call.call_id)


def counts(record: RelayedCall | RelayUsage) -> TokenUsage:
    return TokenUsage(**{name: getattr(record, name) for name in COUNTS})


def state(call: relayed_calls.NewCall) -> tuple[str, str]:
    """Of the call and of its hold."""
    return row(call).state, Hold.objects.get(reference=call.call_id).state


def test_a_reservation_opens_the_call_and_holds_the_money(key):
    call = steps.opened(key, 400)
    assert state(call) == ("open", "open")
    assert figures(key.account) == (AVAILABLE, 400)
    found = row(call)
    assert (found.model, found.price, found.is_stream, found.process) == ("gpt-5", call.price, True, steps.PROCESS)


def test_calls_are_judged_in_their_order_and_a_refused_one_touches_nothing(key, other_key):
    steps.process()
    calls = [
        steps.new_call(key, AVAILABLE - 100),
        steps.new_call(key, 101),
        steps.new_call(other_key, 101),
        steps.new_call(key, 100),
    ]
    first, refused, others, last = relayed_calls.reserve(calls)
    assert (first, others, last) == (None, None, None)
    assert isinstance(refused, InsufficientBalance)
    assert figures(key.account) == (AVAILABLE, AVAILABLE)
    assert set(Hold.objects.values_list("reference", flat=True)) == {calls[n].call_id for n in (0, 2, 3)}


@pytest.mark.parametrize(
    ("price", "cure"),
    [
        ({"input": "1"}, "A lower limit of output tokens lowers that."),
        ({"picture": "0.04"}, "Fewer pictures cost less."),
    ],
)
def test_a_refusal_says_what_would_lower_the_cost(key, price, cure):
    steps.process()
    (refused,) = relayed_calls.reserve([steps.new_call(key, AVAILABLE + 1, price=price)])
    assert refused.message.endswith(cure)


def test_what_is_held_already_is_not_available(key):
    steps.opened(key, AVAILABLE)
    assert isinstance(relayed_calls.reserve([steps.new_call(key, 1)])[0], InsufficientBalance)


@pytest.mark.parametrize("is_registered", [True, False])
def test_nothing_is_reserved_for_a_process_that_is_dead_or_unknown(key, is_registered):
    if is_registered:
        web_processes.stop(steps.process())
    with pytest.raises(ProcessDeclaredDead), transaction.atomic():
        relayed_calls.reserve([steps.new_call(key)])
    assert (RelayedCall.objects.count(), Hold.objects.count(), figures(key.account)) == (0, 0, (AVAILABLE, 0))


def test_a_settled_call_is_charged_once_and_its_usage_added_up(key):
    call = steps.opened(key, 400)
    assert relayed_calls.end([steps.ending(call, 150, channel_id=7, http_status=200, attempts=[{"channel": 7}])])
    assert state(call) == ("settled", "settled")
    assert figures(key.account) == (AVAILABLE - 150, 0)
    assert legs(call.call_id) == [("charge", "customer", -150), ("charge", "revenue", 150)]
    found = row(call)
    assert (found.actual_micros, found.outcome, found.channel_id) == (150, "completed", 7)
    assert (found.attempts, found.http_status, counts(found)) == ([{"channel": 7}], 200, steps.USAGE)
    assert found.ended_at >= found.created_at
    usage = RelayUsage.objects.get()
    assert (usage.key_id, usage.day, usage.model) == (key.id, found.created_at.date(), "gpt-5")
    assert (usage.calls, usage.cost_micros, counts(usage)) == (1, 150, steps.USAGE)


def test_a_released_call_is_free_and_no_usage(key):
    call = steps.opened(key)
    assert relayed_calls.end([steps.ending(call, None, outcome="unknown", is_loss=True)]) == [True]
    assert state(call) == ("released", "released")
    assert (figures(key.account), legs(call.call_id), RelayUsage.objects.count()) == ((AVAILABLE, 0), [], 0)
    assert row(call).is_loss


def test_a_call_that_costs_nothing_is_settled_without_an_entry(key):
    call = steps.opened(key)
    relayed_calls.end([steps.ending(call, 0)])
    assert (state(call), legs(call.call_id)) == (("settled", "settled"), [])
    assert RelayUsage.objects.get().calls == 1


def test_a_charge_above_the_reservation_is_deducted(key):
    call = steps.opened(key, 100)
    relayed_calls.end([steps.ending(call, 700)])
    assert figures(key.account) == (AVAILABLE - 700, 0)


@pytest.mark.parametrize("again", [None, 0, 150, 999])
def test_a_call_ends_once(key, again):
    call = steps.opened(key)
    before = steps.ending(call, 150)
    assert relayed_calls.end([before, replace(before, actual_micros=again)]) == [True, False]
    assert relayed_calls.end([replace(before, actual_micros=again)]) == [False]
    assert figures(key.account) == (AVAILABLE - 150, 0)
    assert (RelayUsage.objects.get().calls, len(legs(call.call_id))) == (1, 2)


def test_a_call_that_nobody_knows_does_not_end(key):
    assert relayed_calls.end([steps.ending(steps.new_call(key))]) == [False]
    assert figures(key.account) == (AVAILABLE, 0)


def test_an_end_that_is_repeated_knows_its_own_work(key):
    mine, others = steps.opened(key), steps.opened(key)
    relayed_calls.end([steps.ending(mine, 150), steps.ending(others, None, outcome="process_died")])
    repeated = [steps.ending(mine, 150), steps.ending(others, 150)]
    assert relayed_calls.end(repeated, is_repeated=True) == [True, False]
    assert figures(key.account) == (AVAILABLE - 150, 0)


def test_a_hold_that_is_not_open_keeps_the_whole_list_open(key):
    good, bad = steps.opened(key), steps.opened(key)
    Hold.objects.filter(reference=bad.call_id).update(state="released")
    with pytest.raises(UnbalancedHold, match=bad.call_id), transaction.atomic():
        relayed_calls.end([steps.ending(good), steps.ending(bad)])
    assert state(good) == ("open", "open")
    assert figures(key.account) == (AVAILABLE, 1_000)


def test_aggregates_are_kept_by_key_day_and_model(key):
    second = make_key(key.account, "second")
    ends = [steps.opened(key), steps.opened(key, model="gpt-5-mini"), steps.opened(second), steps.opened(key)]
    yesterday = ends[3].call_id
    RelayedCall.objects.filter(id=yesterday).update(created_at="2026-01-01T23:59:59Z")
    relayed_calls.end([steps.ending(call, 10) for call in ends])
    relayed_calls.end([steps.ending(steps.opened(key), 5)])
    found = RelayUsage.objects.values_list("key_id", "model", "calls", "cost_micros", "input_tokens")
    assert sorted(found.exclude(day="2026-01-01")) == [
        (key.id, "gpt-5", 2, 15, 200),
        (key.id, "gpt-5-mini", 1, 10, 100),
        (second.id, "gpt-5", 1, 10, 100),
    ]
    assert list(found.filter(day="2026-01-01")) == [(key.id, "gpt-5", 1, 10, 100)]


def test_the_usage_seen_last_is_noted_while_the_call_is_open(key):
    call, over = steps.opened(key), steps.opened(key)
    relayed_calls.end([steps.ending(over, 150)])
    later = replace(steps.USAGE, output_tokens=21)
    relayed_calls.note(
        [
            SeenUsage(call_id=over.call_id, usage=TokenUsage(), actual_micros=1),
            SeenUsage(call_id=call.call_id, usage=steps.USAGE, actual_micros=90),
            SeenUsage(call_id=call.call_id, usage=later, actual_micros=91),
        ]
    )
    assert (row(call).noted_micros, counts(row(call)), state(call)) == (91, later, ("open", "open"))
    assert (row(over).noted_micros, counts(row(over))) == (None, steps.USAGE)
    assert figures(key.account)[1] == 500


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "settled"},
        {"state": "released", "ended_at": "2026-01-01T00:00:00Z", "actual_micros": 1},
        {"state": "strange"},
        {"actual_micros": 5},
        {"estimated_micros": -1},
    ],
)
def test_the_database_refuses_what_is_no_state(key, fields):
    call = steps.opened(key)
    with pytest.raises(IntegrityError), transaction.atomic():
        RelayedCall.objects.filter(id=call.call_id).update(**fields)


def test_many_cost_as_few_statements_as_one(key, django_assert_num_queries):
    steps.process()
    calls = [steps.new_call(key, 5) for _ in range(50)]
    with django_assert_num_queries(2 + 2 if sql.is_postgresql() else 4 + 2):  # with a savepoint
        relayed_calls.reserve(calls)
    with django_assert_num_queries(3 + 2 if sql.is_postgresql() else 7 + 2):
        assert all(relayed_calls.end([steps.ending(call, 4) for call in calls]))
    assert figures(key.account) == (AVAILABLE - 200, 0)


def written(call: relayed_calls.NewCall) -> dict[str, object]:
    """All that an end writes of the call itself."""
    found = {field.name: getattr(row(call), field.attname) for field in RelayedCall._meta.concrete_fields}
    return {
        name: value for name, value in found.items() if name not in ("id", "created_at", "ended_at", "account", "key")
    }


def test_ends_that_wait_for_nobody_write_what_ends_do(key, other_key, django_assert_num_queries):
    ways = [{"actual": 150, "channel_id": 7, "http_status": 200, "attempts": [{"channel": 7}]}, {"actual": 0}]
    ways += [{"actual": None, "is_loss": True}, {"actual": 9, "is_estimated": True}]
    waiting, free = ([steps.opened(each) for _ in ways] for each in (key, other_key))
    relayed_calls.end([steps.ending(call, **way) for call, way in zip(waiting, ways, strict=True)])
    endings = [steps.ending(call, **way) for call, way in zip(free, ways, strict=True)]
    with django_assert_num_queries(1 if sql.is_postgresql() else 7 + 2):
        assert relayed_calls.end_free([*endings, replace(endings[0], actual_micros=1)]) == {c.call_id for c in free}
    assert [written(call) for call in free] == [written(call) for call in waiting]
    assert [state(call) for call in free] == [state(call) for call in waiting]
    assert figures(other_key.account) == figures(key.account) == (AVAILABLE - 159, 0)
    assert [legs(call.call_id) for call in free] == [legs(call.call_id) for call in waiting]
    ours, theirs = (RelayUsage.objects.get(key_id=each.id) for each in (key, other_key))
    assert (ours.day, ours.calls, ours.cost_micros, counts(ours)) == (theirs.day, 3, 159, counts(theirs))
    assert relayed_calls.end_free(endings) == set()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database ends all of a list or none")
def test_an_end_that_waits_for_nobody_leaves_a_call_alone_whose_hold_is_not_open(key):
    good, bad = steps.opened(key, 400), steps.opened(key, 500)
    Hold.objects.filter(reference=bad.call_id).update(state="released")
    assert relayed_calls.end_free([steps.ending(good, 150), steps.ending(bad)]) == {good.call_id}
    assert (state(bad), legs(bad.call_id)) == (("open", "released"), [])
    assert figures(key.account) == (AVAILABLE - 150, 500)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database has no row locks")
@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_an_account_that_is_held(key, other_key):
    open_one, free_one = steps.opened(key), steps.opened(other_key)
    waiting, another = steps.new_call(key), steps.new_call(other_key)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            sql.fetch("SELECT 1 FROM accounts_account WHERE id = %s FOR UPDATE", [key.account.pk])
            held.set()
            done.wait(PATIENCE)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(PATIENCE)
        reserved = relayed_calls.reserve_free([waiting, another])
        ended = relayed_calls.end_free([steps.ending(open_one), steps.ending(free_one)])
    finally:
        done.set()
        holder.join(PATIENCE)
    assert (reserved, ended) == ({another.call_id: None}, {free_one.call_id})
    assert relayed_calls.end([steps.ending(open_one), steps.ending(free_one)]) == [True, False]


def test_ids_are_of_their_own_kind_and_ordered():
    first, second = relayed_calls.new_call_id(), relayed_calls.new_call_id()
    assert first < second
    assert first.startswith("call_")
    assert len(first) == 31
