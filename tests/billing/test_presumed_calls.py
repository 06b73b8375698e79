"""Calls that are opened by the statement that asks who their callers are: what it opens, and what it leaves alone."""

import datetime
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from accounts import keys
from accounts.models import Account
from billing import budgets, presumed_calls, relayed_calls, web_processes
from billing.models import RelayedCall
from billing.presumed_calls import PresumedCall
from catalog import snapshot
from common.concurrency import threads
from relay import presumption
from tasks import gate
from tests.account_lines import held_account
from tests.billing import relayed_steps
from tests.relay.general import make_general_key, make_group
from tests.tasks import steps

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database asks each time"),
]
AVAILABLE = 10_000_000


@pytest.fixture
def general(account):
    relayed_steps.process()
    return make_general_key(account, make_group("text"))


def presumed(key, estimated: int = 500, **fields) -> PresumedCall:
    call = relayed_steps.new_call(key, estimated, **{"group_id": key.record.group_id, **fields})
    digest = gate.digest_of(f"Bearer {key.secret}")
    return PresumedCall(call=call, digest=digest, version=snapshot.stored_version())


def opened(*calls: PresumedCall) -> list[bool]:
    found = presumed_calls.open_free(calls, presumption.entitled())
    return [each.call.call_id in found for each in calls]


def held(account: Account) -> int:
    account.refresh_from_db()
    return account.held_micros


def test_it_opens_calls_and_holds_their_money_in_one_statement(general, django_assert_num_queries):
    calls = [presumed(general, 300), presumed(general, 200)]
    with django_assert_num_queries(1):
        assert opened(*calls) == [True, True]
    assert set(RelayedCall.objects.values_list("id", "state", "process")) == {
        (each.call.call_id, "open", relayed_steps.PROCESS) for each in calls
    }
    assert (held(general.account), steps.breaches()) == (500, [])


def retire(key) -> None:
    keys.rotate(key.record, grace_seconds=0)


def expire(key) -> None:
    key.record.expires_at = timezone.now() - datetime.timedelta(seconds=1)
    key.record.save()


def regroup(key) -> None:
    key.record.group = make_group("other")
    key.record.save()


def subscribe(key) -> None:
    Account.objects.update(billing="subscription")


def stop_the_process(key) -> None:
    web_processes.stop(relayed_steps.PROCESS)


def give_a_budget(key) -> None:
    budgets.set_limits(key.record, day_micros=AVAILABLE, month_micros=None)


@pytest.mark.parametrize(
    "change",
    [lambda key: keys.disable(key.record), retire, expire, regroup, subscribe, stop_the_process, give_a_budget],
)
def test_who_is_no_longer_who_he_was_opens_nothing(general, change):
    call = presumed(general)
    change(general)
    assert opened(call) == [False]
    assert (RelayedCall.objects.count(), held(general.account), steps.breaches()) == (0, 0, [])


def test_what_was_presumed_wrongly_opens_nothing_and_hinders_nobody(general, key, other_key):
    right = presumed(general)
    wrong = [
        replace(right, call=presumed(general, group_id=10**9).call),
        replace(right, call=presumed(general, account_id=other_key.account.pk).call),
        replace(right, call=presumed(general, key_id=key.id).call),
        replace(right, call=presumed(general).call, version=right.version + 1),
        replace(right, call=presumed(general).call, digest=gate.digest_of("Bearer dr-gen-unknown")),
        presumed(key),  # a Task key
    ]
    assert opened(right, *wrong) == [True] + [False] * len(wrong)


def test_an_account_that_cannot_pay_for_all_of_its_calls_opens_none(general, other_key):
    other = make_general_key(other_key.account, general.record.group)
    assert opened(presumed(general, AVAILABLE), presumed(general, 1), presumed(other)) == [False, False, True]
    assert opened(presumed(general, AVAILABLE)) == [True]
    assert steps.breaches() == []


def test_nobody_waits_for_an_account(general):
    with held_account(general.account.pk):
        assert opened(presumed(general)) == [False]


def test_many_at_once_never_hold_more_than_there_is(general):
    part = AVAILABLE // 10

    def try_often(_: int) -> int:
        return sum(threads.returning_connection(opened, presumed(general, part))[0] for _ in range(15))

    with ThreadPoolExecutor(4) as pool:
        found = sum(pool.map(try_often, range(4)))
    assert found == RelayedCall.objects.count() <= 10
    assert (held(general.account), steps.breaches()) == (found * part, [])


def test_a_statement_that_comes_late_opens_nothing(general):
    late = presumed(general)
    presumed_calls.forestall([late.call])
    with pytest.raises(IntegrityError):
        opened(late)
    row = RelayedCall.objects.get()
    assert (row.state, row.outcome, held(general.account), steps.breaches()) == ("released", "unsent", 0, [])


def test_a_statement_that_came_is_ended_like_any(general):
    call = presumed(general)
    opened(call)
    presumed_calls.forestall([call.call])
    unsent = relayed_steps.ending(call.call, None, outcome="unsent")
    assert relayed_calls.end([unsent], is_repeated=True) == [True]
    assert (held(general.account), steps.breaches()) == (0, [])
