"""Relayed calls of dead web processes: each ends once, by what was noted of it."""

import pytest

from billing import relayed_calls, web_processes
from billing.models import Hold, RelayedCall, WebProcess
from billing.relayed_calls import SeenUsage
from common import sql
from tests.billing import relayed_steps
from tests.tasks import steps
from worker.heal import relayed

pytestmark = pytest.mark.django_db(transaction=True)
AVAILABLE = 10_000_000
DEAD = "d" * 32


def silence(process_id: str, seconds: float = 601) -> None:
    sql.run(f"UPDATE billing_webprocess SET heartbeat_at = {sql.later(str(-seconds))} WHERE id = %s", [process_id])


def noted(key, actual: int = 90) -> str:
    call = relayed_steps.opened(key, process_id=DEAD)
    relayed_calls.note([SeenUsage(call_id=call.call_id, usage=relayed_steps.USAGE, actual_micros=actual)])
    return call.call_id


def row(call_id: str) -> RelayedCall:
    return RelayedCall.objects.get(id=call_id)


def test_a_call_whose_usage_was_noted_is_settled_by_it(key):
    call_id = noted(key)
    silence(DEAD)
    assert (relayed.end_lost(), relayed.end_lost()) == (1, 0)
    found = row(call_id)
    assert (found.state, found.actual_micros, found.outcome) == ("settled", 90, "process_died")
    assert (found.is_estimated, found.is_loss, found.input_tokens) == (True, False, 100)
    key.account.refresh_from_db()
    assert (key.account.balance_micros, key.account.held_micros) == (AVAILABLE - 90, 0)
    assert steps.breaches() == []


def test_a_call_of_which_nothing_is_known_is_released_as_the_operators_loss(key):
    call = relayed_steps.opened(key, process_id=DEAD)
    web_processes.stop(DEAD)
    assert relayed.end_lost() == 1
    found = row(call.call_id)
    assert (found.state, found.outcome, found.is_loss, found.is_estimated) == (
        "released",
        "process_died",
        True,
        False,
    )
    assert relayed_calls.end([relayed_steps.ending(call)]) == [False]  # its process was only slow
    assert steps.breaches() == []


def test_calls_of_the_living_are_left_alone(key):
    call = relayed_steps.opened(key)
    relayed_steps.process(DEAD)
    silence(relayed_steps.PROCESS, 599)
    silence(DEAD)
    assert relayed.end_lost() == 0
    assert row(call.call_id).state == "open"
    assert web_processes.heartbeat(relayed_steps.PROCESS)
    assert not web_processes.heartbeat(DEAD)


def test_rows_of_processes_go_a_day_after_their_end(key):
    call = relayed_steps.opened(key, process_id=DEAD)
    relayed_steps.process()
    sql.run(f"UPDATE billing_webprocess SET stopped_at = {sql.later('-86401')} WHERE id = %s", [DEAD])
    web_processes.prune()
    assert relayed.end_lost() == 1
    assert row(call.call_id).state == "released"
    assert WebProcess.objects.get().pk == relayed_steps.PROCESS


def test_many_workers_end_each_call_once(key, other_key):
    for owner in (key, other_key) * 10:
        noted(owner)
    silence(DEAD)
    ended = steps.at_once([relayed.end_lost] * 4)
    while more := relayed.end_lost():  # nobody waits for what another one holds
        ended.append(more)
    assert sum(ended) == 20
    assert steps.breaches() == []


def test_a_call_that_cannot_end_keeps_no_other_open(key):
    good, bad = noted(key), noted(key)
    Hold.objects.filter(reference=bad).update(state="released")
    silence(DEAD)
    assert relayed.end_lost() == 1
    assert (row(good).state, row(bad).state) == ("settled", "open")
