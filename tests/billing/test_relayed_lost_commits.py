"""Relayed calls whose commit lost its answer: nothing is lost, and nothing is done twice."""

from functools import partial

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections

from billing import relayed_calls
from billing.models import RelayedCall
from billing.relayed_calls import ReservationUnknown
from tests import lost_answers
from tests.billing import relayed_steps
from tests.lost_answers import lose_the_answer, lose_the_commit
from tests.tasks import steps

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database gives every answer"),
]
AVAILABLE = 10_000_000


@pytest.fixture
def at_the_next_commit(monkeypatch):
    return partial(lost_answers.at_the_next_commit, monkeypatch)


@pytest.fixture
def call(key):
    relayed_steps.process()
    return relayed_steps.new_call(key, 400)


def money(key) -> tuple[int, int]:
    key.account.refresh_from_db()
    return key.account.balance_micros, key.account.held_micros


def test_a_reservation_that_was_committed_is_one(key, call, at_the_next_commit):
    at_the_next_commit(lose_the_answer)
    assert relayed_calls.reserve([call]) == [None]
    assert (money(key), steps.breaches()) == ((AVAILABLE, 400), [])


def test_a_reservation_that_was_committed_in_the_last_moment_is_one(key, call, at_the_next_commit):
    at_the_next_commit(lost_answers.answer_too_late)
    with lost_answers.little_time():
        assert relayed_calls.reserve([call]) == [None]
    assert (money(key), steps.breaches()) == ((AVAILABLE, 400), [])


def test_a_reservation_that_was_not_committed_is_none(key, call, at_the_next_commit):
    at_the_next_commit(lose_the_commit)
    with pytest.raises(OperationalError) as caught:
        relayed_calls.reserve([call])
    assert not isinstance(caught.value, ReservationUnknown)
    assert (RelayedCall.objects.count(), money(key)) == (0, (AVAILABLE, 0))


@pytest.mark.parametrize("fate", [lose_the_answer, lose_the_commit])
def test_a_reservation_that_nobody_can_ask_for_is_released_later(key, call, at_the_next_commit, monkeypatch, fate):
    def refused() -> None:
        raise OperationalError("nobody answers")

    with monkeypatch.context() as away:

        def lose_all(commit) -> None:
            away.setattr(connections[DEFAULT_DB_ALIAS], "connect", refused)
            fate(commit)

        at_the_next_commit(lose_all)
        with pytest.raises(ReservationUnknown):
            relayed_calls.reserve([call])
    unsent = relayed_steps.ending(call, None, outcome="unsent")
    assert relayed_calls.end([unsent], is_repeated=True) == [fate is lose_the_answer]
    assert (money(key), steps.breaches()) == ((AVAILABLE, 0), [])


@pytest.mark.parametrize("fate", [lose_the_answer, lose_the_commit])
def test_an_end_that_is_repeated_after_a_lost_answer_charges_once(key, call, at_the_next_commit, fate):
    relayed_calls.reserve([call])
    ending = relayed_steps.ending(call, 150)
    at_the_next_commit(fate)
    with pytest.raises(OperationalError):
        relayed_calls.end([ending])
    connection.close()
    assert relayed_calls.end([ending], is_repeated=True) == [True]
    assert (money(key), steps.breaches()) == ((AVAILABLE - 150, 0), [])
