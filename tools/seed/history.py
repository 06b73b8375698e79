"""Tells ended tasks one by one: their rows as the service would have left them, at times in the past.

Statuses, calls and events change only as the tables of `tasks/lifecycle.py` and `tasks/paid_calls.py` allow.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.conf import settings

from billing import pricing
from common import ids
from tasks import route_sets
from tasks.models import Task, TaskEvent, TaskPayload
from tools.seed import bought
from tools.seed.bought import Bought
from tools.seed.fates import AMBIGUOUS, BY_NAME, Fate, Leg
from tools.seed.rows import HistoryRows, Money
from tools.seed.wishes import Order, metadata

WORK_SECONDS = {"image": (5.0, 0.5), "video": (70.0, 0.45)}
"""Duration of a purchase by modality: the median, and its spread on a logarithmic scale."""
SETTLED_LATER = timedelta(hours=6)
"""Least age of a lost answer that was settled."""
BY = "operator"


def after(start: datetime, seconds: float) -> datetime:
    """Adds seconds, in whole milliseconds."""
    return start + timedelta(milliseconds=round(seconds * 1000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A task that was told: its row, its end, and its order."""

    task: Task
    order: Order
    ended_at: datetime


@dataclass(slots=True, kw_only=True)
class Historian:
    """Tells tasks into `rows`. `workers` are the ids of stopped workers; `credentials` ids by channel."""

    rng: random.Random
    rows: HistoryRows
    until: datetime
    workers: Sequence[str]
    credentials: dict[int, list[int]]

    def tell(
        self, order: Order, fate: Fate, created_at: datetime, prompt: str, *, retry_of: Told | None = None
    ) -> Told:
        """Creates the task with all of its rows; it begins a little earlier if it would end after the history."""
        legs = self._times(order, fate)
        waited, length = legs[0], sum(legs[1:], legs[0])
        left = SETTLED_LATER if fate.resolved else timedelta(seconds=self.rng.uniform(1, 90))
        created_at = min(created_at, self.until - length - left)
        created_at = created_at.replace(microsecond=created_at.microsecond // 1000 * 1000)
        task = self._task(order, fate, created_at)
        task.retry_of = retry_of.task if retry_of else None
        self.rows.tasks.append(task)
        self.rows.payloads.append(self._payload(order, fate, task, prompt))
        self._event(task, "queued", 0, created_at)
        at = created_at + waited
        for number, (leg, taken) in enumerate(zip(fate.legs, legs[1:], strict=True), 1):
            at = self._attempt(task, order, fate, leg, number, at, taken)
        self._end(task, fate, at)
        return Told(task=task, order=order, ended_at=task.finished_at or at)

    def _times(self, order: Order, fate: Fate) -> list[timedelta]:
        """Chooses how long it waits, and how long each attempt takes."""
        deadlines = settings.TASK_DEADLINES
        if fate.is_out_of_time and not fate.legs:
            return [timedelta(seconds=deadlines["queue"])]
        waits = timedelta(milliseconds=self.rng.randrange(120, 2_500))
        return [waits, *(self._taken(order, leg, fate) for leg in fate.legs)]

    def _taken(self, order: Order, leg: Leg, fate: Fate) -> timedelta:
        if fate.is_out_of_time:
            return timedelta(seconds=settings.TASK_DEADLINES[order.wish.modality])
        if leg.state == "refused":
            return timedelta(milliseconds=self.rng.randrange(180, 2_400))
        median, spread = WORK_SECONDS[order.wish.modality]
        seconds = median * self.rng.lognormvariate(0, spread) * (1 + order.seconds / 20)
        return timedelta(milliseconds=round(seconds * 1000))

    def _task(self, order: Order, fate: Fate, created_at: datetime) -> Task:
        prepared, caller, rng = order.prepared, order.caller, self.rng
        routes = route_sets.identify(frozenset(route.id for route in order.routes))
        price = prepared.price
        return Task(
            id=ids.PREFIX + ids.encode(int(created_at.timestamp() * 1000) << 80 | rng.getrandbits(80)),
            key_id=caller.key.pk,
            secret_id=caller.secret_id,
            account_id=caller.account_id,
            model_name=order.wish.model,
            media_model_id=prepared.model.id,
            modality=order.wish.modality,
            status=fate.status,
            attempt=len(fate.legs),
            requeues=max(0, len(fate.legs) - 1),
            route_set_id=routes,
            open_routes_id=routes,
            idempotency_key=f"{rng.getrandbits(64):016x}" if rng.random() < 0.5 else None,
            body_digest=bought.digest(rng),
            estimated_micros=price.estimate_micros,
            actual_micros=self._actual(order, fate),
            price=price.snapshot(),
            deadline_at=created_at + timedelta(seconds=settings.TASK_DEADLINES["queue"]),
            created_at=created_at,
            error=asdict(fate.failure) if fate.failure else None,
            progress=100 if fate.status == "succeeded" else None,
            callback_url=caller.habit.callback_url,
            metadata=metadata(rng),
        )

    def _actual(self, order: Order, fate: Fate) -> int:
        """Computes the charge as the service does."""
        if fate.status != "succeeded":
            return 0
        seconds = order.seconds or None
        settled = pricing.settle(
            order.prepared.price, delivered=order.files, asked_seconds=seconds, reported_seconds=seconds
        )
        return settled.actual_micros

    def _payload(self, order: Order, fate: Fate, task: Task, prompt: str) -> TaskPayload:
        result = {"duration": order.seconds} if fate.status == "succeeded" else None
        return TaskPayload(task=task, params=order.params(prompt), trace=order.trace, result=result)

    def _event(self, task: Task, status: str, attempt: int, at: datetime) -> None:
        event = TaskEvent(task=task, key_id=task.key_id, status=status, attempt=attempt, at=at)
        self.rows.events.append(event)

    def _attempt(
        self, task: Task, order: Order, fate: Fate, leg: Leg, number: int, at: datetime, taken: timedelta
    ) -> datetime:
        """Creates one paid call, and the return to the queue if another follows; returns when the attempt ended."""
        route = order.routes[min(leg.way, len(order.routes) - 1)]
        worker_id, ended_at = self.rng.choice(self.workers), at + taken
        task.channel_id, task.route_id, task.worker_id = route.channel.id, route.id, worker_id
        task.started_at = task.started_at or at
        task.deadline_at = task.started_at + timedelta(seconds=settings.TASK_DEADLINES[task.modality])
        self._event(task, "running", number, at)
        one = Bought(
            task=task,
            order=order,
            leg=leg,
            number=number,
            worker_id=worker_id,
            route=route,
            at=at,
            ended_at=ended_at,
            differs=fate.differs,
        )
        self.rows.calls.append(bought.call(self.rng, one, self.credentials, self.until))
        if number == len(fate.legs):
            return ended_at
        self._event(task, "queued", number, ended_at)
        return after(ended_at, self.rng.uniform(0.3, 2.0))

    def _end(self, task: Task, fate: Fate, at: datetime) -> None:
        task.finished_at = at
        self._event(task, fate.status, task.attempt, at)
        charged = task.actual_micros if fate.status == "succeeded" else None
        self.rows.money.append(
            Money(
                reference=task.pk,
                account_id=task.account_id,
                key_id=task.key_id,
                held_micros=task.estimated_micros,
                charged_micros=charged,
                created_at=task.created_at,
                ended_at=at,
            )
        )

    def settle(self, told: Told, how: str, prompt: str) -> list[Told]:
        """Adds what an operator did hours later about a task's lost answer; returns the new task, if any."""
        call = next(call for call in reversed(self.rows.calls) if call.task_id == told.task.pk)
        followers = []
        if how != "lost":
            at = after(told.ended_at, self.rng.uniform(1_800, 18_000))
            followers = [self.tell(told.order, BY_NAME["succeeded"], at, prompt, retry_of=told)]
        task_id = followers[0].task.pk if followers else None
        call.outcome = {**AMBIGUOUS, "request_id": None, "resolved": how, "by": BY, "task": task_id}
        return followers
