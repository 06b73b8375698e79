"""Any sequence of steps keeps the books of relayed calls right: they beside a small model of themselves."""

from dataclasses import dataclass

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from billing import lost_calls, relay_usage, relayed_calls, web_processes
from billing.models import RelayedCall
from billing.relayed_calls import NewCall, ProcessDeclaredDead, SeenUsage
from common.errors import InsufficientBalance
from common.money import usd
from common.token_usage import TokenUsage
from tests.billing import relayed_steps
from tests.rows import make_account, make_key
from tests.tasks import steps

BALANCE = 1_000
PICK = st.integers(0, 99)
MICROS = st.integers(0, 700)
PROCESSES = ("a" * 32, "b" * 32)
MODELS = ("gpt-5", "gpt-5-mini")


@dataclass
class Expected:
    """What the model knows of a call."""

    call: NewCall
    state: str = "open"
    actual: int | None = None
    noted: int | None = None


class CallMachine(RuleBasedStateMachine):
    """Two keys of one account, and two web processes, of which one may die."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block._from_testcase = True  # to be undone: none of our own transactions
        self.block.__enter__()
        account = make_account("payer", usd="0.001")
        self.keys = [make_key(account, name) for name in ("first", "second")]
        for process in PROCESSES:
            relayed_steps.process(process)
        self.calls: list[Expected] = []
        self.is_dead = False

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    @property
    def balance(self) -> int:
        return BALANCE - sum(expected.actual or 0 for expected in self.calls)

    @property
    def held(self) -> int:
        return sum(expected.call.estimated_micros for expected in self.calls if expected.state == "open")

    def open_calls(self) -> list[Expected]:
        return [expected for expected in self.calls if expected.state == "open"]

    @rule(amounts=st.lists(MICROS, min_size=1, max_size=4), pick=PICK)
    def reserve(self, amounts: list[int], pick: int) -> None:
        process, model, key = PROCESSES[pick % 2], MODELS[pick // 2 % 2], self.keys[pick // 4 % 2]
        new = [relayed_steps.new_call(key, amount, process_id=process, model=model) for amount in amounts]
        if self.is_dead and process == PROCESSES[0]:
            self.refused(new)
            return
        for call, outcome in zip(new, relayed_calls.reserve(new), strict=True):
            is_payable = self.balance - self.held >= call.estimated_micros
            assert outcome is None if is_payable else isinstance(outcome, InsufficientBalance)
            if is_payable:
                self.calls.append(Expected(call))

    def refused(self, new: list[NewCall]) -> None:
        """Of a dead process; those that nobody can pay are refused before anybody asks whose they are."""
        available = self.balance - self.held
        if any(call.estimated_micros <= available for call in new):
            with pytest.raises(ProcessDeclaredDead), transaction.atomic():
                relayed_calls.reserve(new)
        else:
            assert all(isinstance(outcome, InsufficientBalance) for outcome in relayed_calls.reserve(new))

    @rule(pick=PICK, micros=MICROS)
    def note(self, pick: int, micros: int) -> None:
        if self.calls:
            expected = self.calls[pick % len(self.calls)]
            noted = min(micros, expected.call.estimated_micros)
            seen = SeenUsage(call_id=expected.call.call_id, usage=TokenUsage(input_tokens=pick), actual_micros=noted)
            relayed_calls.note([seen])
            if expected.state == "open":
                expected.noted = noted

    @rule(picks=st.lists(st.tuples(PICK, st.none() | MICROS), min_size=1, max_size=4))
    def end(self, picks: list[tuple[int, int | None]]) -> None:
        """Several at once, the same call twice among them."""
        if self.calls:
            picked = [(self.calls[pick % len(self.calls)], actual) for pick, actual in picks]
            chosen = [
                (each, None if actual is None else min(actual, each.call.estimated_micros)) for each, actual in picked
            ]
            outcomes = relayed_calls.end([relayed_steps.ending(each.call, actual) for each, actual in chosen])
            for (each, actual), outcome in zip(chosen, outcomes, strict=True):
                assert outcome is (each.state == "open")
                if outcome:
                    each.state, each.actual = "released" if actual is None else "settled", actual

    @rule()
    def die(self) -> None:
        web_processes.stop(PROCESSES[0])
        self.is_dead = True
        endings = lost_calls.endings()
        lost = [each for each in self.open_calls() if each.call.process_id == PROCESSES[0]]
        assert {ending.call_id for ending in endings} == {each.call.call_id for each in lost}
        assert all(relayed_calls.end(endings))
        for each in lost:
            each.state, each.actual = "released" if each.noted is None else "settled", each.noted

    @invariant()
    def the_books_agree(self) -> None:
        account = self.keys[0].account
        account.refresh_from_db()
        assert (account.balance_micros, account.held_micros) == (self.balance, self.held)
        found = dict(RelayedCall.objects.values_list("id", "state"))
        assert found == {each.call.call_id: each.state for each in self.calls}
        for key in self.keys:
            mine = [each for each in self.calls if each.call.key_id == key.id and each.state == "settled"]
            total = relay_usage.of_key(key.id, account.pk)["total"]
            assert total == {"calls": len(mine), "cost": usd(sum(each.actual or 0 for each in mine))}
        assert steps.breaches() == []


@pytest.mark.django_db
def test_any_sequence_of_steps_keeps_the_books_right():
    run_state_machine_as_test(
        CallMachine,
        settings=settings(
            max_examples=10,
            stateful_step_count=15,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
