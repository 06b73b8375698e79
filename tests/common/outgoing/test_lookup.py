"""Whose lookups wait for whose: names that hang take seats of those who chose them, and of nobody else."""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from common.outgoing import lookup
from common.outgoing.faults import Failed
from common.outgoing.lookup import (
    CUSTOMERS,
    OPERATOR,
    OPERATORS,
    PROVIDERS,
    Chooser,
    Pool,
    customer,
    look_up,
    provider,
)
from tests.silence import HOST, hanging
from tools.children import PATIENCE, wait_until

ADDRESS = ["192.0.2.1"]


def found(chooser: Chooser, host: str = "quick.example.com") -> Sequence[str]:
    return look_up(lambda host, port: ADDRESS, host, 443, chosen_by=chooser, seconds=PATIENCE)


def refused(chooser: Chooser, host: str = "quick.example.com") -> Failed:
    with pytest.raises(Failed) as caught:
        look_up(lambda host, port: ADDRESS, host, 443, chosen_by=chooser, seconds=0.01)
    assert not caught.value.was_sent
    return caught.value


def test_no_account_holds_more_than_a_quarter_of_the_customers_pool() -> None:
    quarter = CUSTOMERS.seats // 4
    with hanging(customer("1"), quarter + 10) as asked:
        fault = refused(customer("1"))
        assert (fault.words, fault.reason) == ("too many name lookups of this account hang", "busy")
        assert found(customer("2")) == ADDRESS
        assert len(asked) == quarter
    assert found(customer("1")) == ADDRESS


def test_customers_who_hold_their_whole_pool_hold_up_neither_operators_nor_providers() -> None:
    with ExitStack() as stack:
        for account in range(4):
            stack.enter_context(hanging(customer(str(account)), CUSTOMERS.each))
        assert refused(customer("5")).words == "too many name lookups hang"
        assert found(OPERATOR) == found(provider("https://studio.example.com")) == ADDRESS


def test_no_channel_and_no_host_holds_a_whole_pool() -> None:
    studio, cinema = provider("https://studio.example.com"), provider("https://cinema.example.com")
    with hanging(studio, PROVIDERS.each), hanging(OPERATOR, OPERATORS.each):
        assert refused(studio).words == "too many name lookups of this channel hang"
        assert refused(OPERATOR, HOST).words == "too many name lookups of this host hang"
        assert found(cinema) == found(OPERATOR) == found(customer("1")) == ADDRESS
    assert (PROVIDERS.each * 2 <= PROVIDERS.seats, OPERATORS.each * 2 <= OPERATORS.seats) == (True, True)


def test_who_waits_gets_the_seat_that_is_given_back() -> None:
    answers: list[Sequence[str]] = []
    waiting = threading.Thread(target=lambda: answers.append(found(customer("1"))), daemon=True)
    with hanging(customer("1"), CUSTOMERS.each):
        waiting.start()
        assert found(customer("2")) == ADDRESS
        assert not answers
    wait_until(lambda: answers == [ADDRESS], what="the one that waited")


def test_the_wait_for_a_seat_and_the_answer_share_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    has_failed, clock = threading.Event(), [0.0]

    class LastMoment(Pool):
        """Its seat comes free when the time is over."""

        def take(self, holder: str, *, seconds: float) -> None:
            super().take(holder, seconds=seconds)
            clock[0] += seconds

    def resolve(host: str, port: int) -> Sequence[str]:
        has_failed.wait(PATIENCE / 4)  # it would answer within a second wait
        return ADDRESS

    monkeypatch.setattr(lookup, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    slow = Chooser(LastMoment(1, each=1, of_whom="of this account"))
    with pytest.raises(Failed, match="took too long"):
        look_up(resolve, HOST, 443, chosen_by=slow, seconds=PATIENCE)
    has_failed.set()


def test_a_fault_of_the_resolver_gives_the_seat_back() -> None:
    def broken(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    one = Chooser(Pool(1, each=1, of_whom="of this account"))
    for _ in range(3):
        with pytest.raises(Failed, match="cannot be resolved"):
            look_up(broken, HOST, 443, chosen_by=one, seconds=PATIENCE)
