"""Any sequence of steps keeps the books right: the domain beside a small model of itself."""

from dataclasses import dataclass

import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from accounts.authentication import Replay
from billing import ledger
from catalog import snapshot
from catalog.models import Plan
from common.errors import InsufficientBalance, NotCancelable, QueueLimitExceeded
from tasks import cancellation, leases, lifecycle, route_sets
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.intake import submission
from tasks.models import Task
from tests import machines
from tests.rows import IMAGE_PARAMS, make_account, make_channel, make_key, make_model, make_route
from tests.tasks import steps

MAX_QUEUED, MAX_RUNNING, UNIT_MICROS = 4, 3, 40_000
PICK = st.integers(0, 99)
COUNT = st.integers(1, 4)


@dataclass
class Expected:
    """What the model knows of a task."""

    estimate: int
    status: str = "queued"
    attempt: int = 0
    actual: int | None = None

    @property
    def is_live(self) -> bool:
        return self.status in ("queued", "running")


class TaskMachine(RuleBasedStateMachine):
    """The model: a balance, and tasks by id. Held is the sum of the live estimates."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block._from_testcase = True  # to be undone: none of our own transactions
        self.block.__enter__()
        snapshot.forget()
        route_sets.forget()
        account = make_account("payer", usd="0.5")
        self.key = make_key(account, max_queued=MAX_QUEUED, max_running=MAX_RUNNING)
        self.plan = Plan.objects.create(name="standard")
        model = make_model("aurora-image", "image", plan=self.plan, prices={"1K": "0.04"}, params=IMAGE_PARAMS)
        channel = make_channel("studio", "openai_images", "https://images.provider.example/v1")
        make_route(self.plan, model, channel, upstream_model="gpt-image-2")
        self.worker = steps.worker()
        self.balance, self.unit, self.credits = 500_000, UNIT_MICROS, 0
        self.tasks: dict[str, Expected] = {}
        self.by_key: dict[str, str] = {}

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    def those(self, *statuses: str) -> list[str]:
        return sorted(task_id for task_id, task in self.tasks.items() if task.status in statuses)

    def one_of(self, number: int, *statuses: str) -> tuple[str, Expected]:
        ids = self.those(*statuses)
        task_id = ids[number % len(ids)]
        return task_id, self.tasks[task_id]

    @property
    def held(self) -> int:
        return sum(task.estimate for task in self.tasks.values() if task.is_live)

    def end(self, number: int, status: str, actual: int | None = None) -> None:
        task_id, task = self.one_of(number, "running")
        success = None if actual is None else steps.success(actual, assets=0)
        ending = lifecycle.Ending(
            task_id=task_id, from_status="running", attempt=task.attempt, status=status, success=success
        )
        assert lifecycle.end([ending]) == {task_id}
        task.status, task.actual = status, actual or 0
        self.balance -= actual or 0

    @rule(cents=st.integers(-20, 50).filter(bool))
    def credit(self, cents: int) -> None:
        self.credits += 1
        ledger.credit(self.key.account.pk, cents * 10_000, reference=f"wire-{self.credits}", reason="")
        self.balance += cents * 10_000

    @rule(images=COUNT, name=st.none() | st.sampled_from("abc"), has_callback=st.booleans())
    def submit(self, images: int, name: str | None, has_callback: bool) -> None:
        callback_url = "https://hooks.example.com/" if has_callback else None
        params = {"prompt": "x", "n": images}
        draft = steps.drafted(self.key, params=params, idempotency_key=name, callback_url=callback_url)
        outcome = submission.submit_one(draft)
        estimate = self.unit * images
        if name in self.by_key:
            assert isinstance(outcome, Replay)
            assert outcome.task_id == self.by_key[name]
        elif len(self.those("queued")) >= MAX_QUEUED:
            assert isinstance(outcome, QueueLimitExceeded)
        elif self.balance - self.held < estimate:
            assert isinstance(outcome, InsufficientBalance)
        else:
            assert isinstance(outcome, submission.Created)
            self.tasks[draft.task_id] = Expected(estimate=estimate)
            if name:
                self.by_key[name] = draft.task_id

    @rule(seats=COUNT)
    def claim(self, seats: int) -> None:
        room = max(0, min(seats, MAX_RUNNING - len(self.those("running"))))
        claimed = steps.claimed(self.worker, seats=seats)
        assert [task.id for task in claimed] == self.those("queued")[:room]
        for task in claimed:
            expected = self.tasks[task.id]
            expected.status, expected.attempt = "running", expected.attempt + 1
            assert task.attempt == expected.attempt

    @precondition(lambda self: self.those("running"))
    @rule(number=PICK, tenths=st.sampled_from([0, 3, 10, 25]))
    def succeed(self, number: int, tenths: int) -> None:
        """For nothing, for less than the estimate, for just that, for more."""
        _, task = self.one_of(number, "running")
        self.end(number, "succeeded", task.estimate * tenths // 10)

    @precondition(lambda self: self.those("running"))
    @rule(number=PICK, status=st.sampled_from(["failed", "timeout"]))
    def fail(self, number: int, status: str) -> None:
        self.end(number, status)

    @precondition(lambda self: self.those("running"))
    @rule(number=PICK)
    def requeue(self, number: int) -> None:
        task_id, task = self.one_of(number, "running")
        routes = Task.objects.get(id=task_id).open_routes_id
        assert queue.requeue([Return(task_id=task_id, attempt=task.attempt, open_routes_id=routes)]) == {task_id}
        task.status = "queued"

    @precondition(lambda self: self.tasks)
    @rule(number=PICK)
    def cancel(self, number: int) -> None:
        task_id, task = self.one_of(number, *(status for status, _ in Task.Status.choices))
        if task.status in ("queued", "canceled"):
            cancellation.cancel(self.key.id, task_id)
            task.status, task.actual = "canceled", 0
        else:
            with pytest.raises(NotCancelable):
                cancellation.cancel(self.key.id, task_id)

    @rule()
    def adopt(self) -> None:
        steps.silence(self.worker)
        self.worker = steps.worker()
        orphans = leases.adopt(self.worker)
        assert sorted(orphan.task_id for orphan in orphans) == self.those("running")
        for orphan in orphans:
            self.tasks[orphan.task_id].attempt += 1
            assert orphan.attempt == self.tasks[orphan.task_id].attempt

    @precondition(lambda self: self.tasks)
    @rule(number=PICK, attempt_change=st.sampled_from([-1, 0, 1]))
    def end_out_of_turn(self, number: int, attempt_change: int) -> None:
        """A second settlement, or one of a worker that has lost the task."""
        task_id, task = self.one_of(number, *(status for status, _ in Task.Status.choices))
        if task.status != "running" or attempt_change:
            ending = lifecycle.Ending.succeeded(task_id, task.attempt + attempt_change, steps.success(task.estimate))
            assert lifecycle.end([ending]) == frozenset()

    @rule(multiplier=st.sampled_from(["0", "0.5", "1", "3"]))
    def edit_the_plan(self, multiplier: str) -> None:
        self.plan.price_multiplier = multiplier
        self.plan.save()
        self.unit = int(UNIT_MICROS * float(multiplier))

    @invariant()
    def the_account_is_as_the_model_says(self) -> None:
        self.key.account.refresh_from_db()
        assert (self.key.account.balance_micros, self.key.account.held_micros) == (self.balance, self.held)

    @invariant()
    def the_tasks_are_as_the_model_says(self) -> None:
        rows = Task.objects.values_list("id", "status", "attempt", "estimated_micros", "actual_micros")
        known = {
            (task_id, task.status, task.attempt, task.estimate, task.actual) for task_id, task in self.tasks.items()
        }
        assert set(rows) == known

    @invariant()
    def the_books_are_right(self) -> None:
        assert steps.breaches() == []


@pytest.mark.parametrize("examples", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_any_sequence_of_steps_keeps_the_books_right(db, examples: int):
    machines.run(TaskMachine, examples=examples, length=40)
