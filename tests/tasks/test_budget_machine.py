"""Any sequence of steps keeps budgets strict and their sums right: tasks and relayed calls beside a small model."""

from dataclasses import dataclass

import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from billing import budgets, relayed_calls
from catalog import snapshot
from catalog.models import Plan
from common.errors import InsufficientBalance
from tasks import lifecycle, route_sets
from tasks.intake import submission
from tests import machines
from tests.billing import budget_steps, relayed_steps
from tests.rows import IMAGE_PARAMS, IssuedKey, make_account, make_channel, make_key, make_model, make_route
from tests.tasks import steps

UNIT = 100
PICK = st.integers(0, 99)
AMOUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=3)
LIMIT = st.none() | st.integers(0, 12)


@dataclass
class Spent:
    """What the model knows of a hold. `months` have gone by since it was opened."""

    key_id: int
    amount: int
    task_id: str = ""
    call: relayed_calls.NewCall | None = None
    months: int = 0
    is_open: bool = True


class BudgetMachine(RuleBasedStateMachine):
    """Two keys of one account that could pay everything; the first submits tasks as well."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block._from_testcase = True  # to be undone: none of our own transactions
        self.block.__enter__()
        snapshot.forget()
        route_sets.forget()
        self.account = make_account("payer", max_queued=1_000)
        self.keys = [make_key(self.account, name, max_queued=1_000) for name in ("first", "second")]
        plan = Plan.objects.create(name="standard")
        model = make_model("aurora-image", "image", plan=plan, prices={"1K": "0.0001"}, params=IMAGE_PARAMS)
        make_route(plan, model, make_channel("studio", "openai_images", "https://a.example/v1"), upstream_model="x")
        relayed_steps.process()
        self.limits: dict[tuple[str, int, str], int] = {}
        self.holds: list[Spent] = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    def used(self, holder: str, holder_id: int) -> int:
        """In the day and in the month, which are the same here."""
        mine = [h for h in self.holds if not h.months and (holder == "account" or h.key_id == holder_id)]
        return sum(h.amount for h in mine)

    def fits(self, key: IssuedKey, amount: int) -> bool:
        owners = (("account", self.account.pk), ("key", key.id))
        return all(
            self.used(*owner) + amount <= self.limits[(*owner, window)]
            for owner in owners
            for window in ("day", "month")
            if (*owner, window) in self.limits
        )

    @rule(whose=st.sampled_from([0, 1, 2]), day=LIMIT, month=LIMIT)
    def set_limits(self, whose: int, day: int | None, month: int | None) -> None:
        record = [self.account, *(key.record for key in self.keys)][whose]
        kind = "account" if whose == 0 else "key"
        given = {"day": day, "month": month}
        micros = {f"{window}_micros": units and units * UNIT for window, units in given.items()}
        budgets.set_limits(record, **micros)
        for window, units in given.items():
            self.limits.pop((kind, record.pk, window), None)
            if units is not None:
                self.limits[kind, record.pk, window] = units * UNIT

    @rule(counts=AMOUNTS)
    def submit(self, counts: list[int]) -> None:
        """Several together."""
        key = self.keys[0]
        drafts = [steps.drafted(key, params={"prompt": "x", "n": count or 1}) for count in counts]
        for draft, outcome in zip(drafts, submission.submit(drafts), strict=True):
            estimate = draft.prepared.price.estimate_micros
            self.judge(Spent(key_id=key.id, amount=estimate, task_id=draft.task_id), key, outcome)

    @rule(counts=AMOUNTS, which=st.sampled_from([0, 1]))
    def reserve(self, counts: list[int], which: int) -> None:
        key = self.keys[which]
        calls = [relayed_steps.new_call(key, count * UNIT) for count in counts]
        for call, outcome in zip(calls, relayed_calls.reserve(calls), strict=True):
            self.judge(Spent(key_id=key.id, amount=call.estimated_micros, call=call), key, outcome)

    def judge(self, hold: Spent, key: IssuedKey, outcome: object) -> None:
        assert isinstance(outcome, InsufficientBalance) is not self.fits(key, hold.amount)
        if not isinstance(outcome, InsufficientBalance):
            self.holds.append(hold)

    @precondition(lambda self: any(hold.is_open for hold in self.holds))
    @rule(pick=PICK, actual=st.none() | st.integers(0, 500))
    def end(self, pick: int, actual: int | None) -> None:
        """For nothing, for less than was held, or for more; a call never for more."""
        live = [hold for hold in self.holds if hold.is_open]
        hold = live[pick % len(live)]
        if hold.call:
            actual = None if actual is None else min(actual, hold.amount)
            assert relayed_calls.end([relayed_steps.ending(hold.call, actual)]) == [True]
        elif actual is None:
            assert lifecycle.end([steps.cancellation_of(hold.task_id)])
        else:
            self.succeed(hold.task_id, actual)
        hold.is_open, hold.amount = False, actual or 0

    def succeed(self, task_id: str, actual: int) -> None:
        claimed = {task.id: task.attempt for task in steps.claimed(steps.worker())}
        success = steps.success(actual, assets=0)
        assert lifecycle.end([lifecycle.Ending.succeeded(task_id, claimed[task_id], success)])
        lifecycle.end(
            [lifecycle.Ending.timed_out(other, attempt) for other, attempt in claimed.items() if other != task_id]
        )
        for hold in self.holds:
            if hold.task_id in claimed and hold.task_id != task_id:
                hold.is_open, hold.amount = False, 0

    @rule()
    def let_a_month_pass(self) -> None:
        budget_steps.let_a_month_pass()
        for hold in self.holds:
            hold.months += 1

    @invariant()
    def the_budgets_stand_as_the_model_says(self) -> None:
        for key in self.keys:
            found = budgets.standing(self.account.pk, key.id)
            owners = {"account": self.account.pk, "key": key.id}
            expected = {
                (holder, window): (limit, self.used(holder, holder_id))
                for (holder, holder_id, window), limit in self.limits.items()
                if owners[holder] == holder_id
            }
            assert {(b.holder, b.window): (b.limit_micros, b.used_micros) for b in found} == expected

    @invariant()
    def the_books_are_right(self) -> None:
        assert steps.breaches() == []


@pytest.mark.parametrize("examples", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_any_sequence_of_steps_keeps_budgets_strict(db, examples: int):
    machines.run(BudgetMachine, examples=examples, length=20)
