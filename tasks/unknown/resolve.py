"""What an operator does about a paid call whose outcome nobody knows: buy again, follow the job, or write it off.

Each is one transaction. A new task is linked to the old one by `retry_of`; the old one stays as it ended and is never
charged.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from accounts.models import Account
from adapters import registry
from adapters.base import Target
from billing import budgets, ledger
from billing.budgets import Budgets
from billing.pricing import Price
from common import documents, ids
from common.documents import Unreadable
from tasks import paid_calls
from tasks.assets import stored_inputs
from tasks.events import events
from tasks.intake import columns
from tasks.locks import lock_tasks, serialise_claims
from tasks.models import LIVE, Call, Task, TaskPayload, Worker
from tasks.paid_calls import CallEnd
from tasks.unknown import open_calls, resubmission
from tasks.unknown.open_calls import Refused, resolved

DESK = "desk"
OVER = ("failed", "timeout")
# No index finds calls by the provider's id; one of the same job was written at about the same time.
NEARBY_CALLS = 100_000


def retry(task_id: str, *, by: str) -> str:
    """Submit a task again at its frozen price, on the routes that the catalog has now; returns the new task's id.

    May be done again once the first retry has ended, however it did. Raises Refused.
    """
    task = _without_outcome(task_id)
    price = resubmission.frozen_price(task)
    new = resubmission.draft(task, secret_id=task.secret_id, agreed_price=price)

    def settle(new_id: str) -> None:
        for call in Call.objects.filter(task_id=task_id, state="unknown"):
            paid_calls.note(call.pk, resolved(call, "retried", by=by, task_id=new_id))

    return resubmission.submit(task, new, also=settle)


def _without_outcome(task_id: str) -> Task:
    task: Task | None = Task.objects.select_related("payload").filter(id=task_id).first()
    if task is None or not is_without_outcome(task):
        raise Refused("Only a task that ended without a result after a call of unknown outcome can be retried.")
    calls = _unknown_calls(task_id)
    if follower := calls.filter(outcome__resolved="attached").values_list("outcome__task", flat=True).first():
        raise Refused(f"Its job was attached: {follower} follows it.")
    return task


def is_without_outcome(task: Task) -> bool:
    """Whether it ended without a result after a call of unknown outcome, settled since or not."""
    return task.status in OVER and _unknown_calls(task.pk).exists()


def _unknown_calls(task_id: str) -> QuerySet[Call]:
    return Call.objects.filter(Q(state="unknown") | Q(outcome__resolved__isnull=False), task_id=task_id)


def attach(call_id: int, upstream_id: str, *, by: str) -> str:
    """Follow the job that the call did buy, as a new task that is already running; returns its id.

    It belongs to a worker that has stopped, so that a live one adopts and polls it; its result is charged at the frozen
    price like any other. Raises Refused.
    """
    call = open_calls.open_call(call_id)
    handle = _handle(call, upstream_id)
    new_id = ids.new_task_id()
    with transaction.atomic():
        serialise_claims()  # else one job could be given to two tasks at once
        lock_tasks([call.task_id])
        _refuse_taken(call, handle)
        outcome = resolved(call, "attached", by=by, task_id=new_id)
        if not paid_calls.resolve(CallEnd(id=call_id, state="done", outcome=outcome)):
            raise Refused("The outcome of this call became known meanwhile.")
        _follow(call, handle, new_id, _spending(call.task))
    stored_inputs.let_go([call.task_id])
    return new_id


def _handle(call: Call, upstream_id: str) -> Mapping[str, Any]:
    """Raises Refused where no job can be attached to this call, or not this one."""
    try:
        target = documents.read(Target, call.target)
        Price.frozen(call.task.price)  # the result is charged by it
    except Unreadable as error:
        raise Refused(f"This version cannot read the call: {error}.") from error
    adapter = registry.get(target.adapter)
    if adapter is None or call.channel_id is None:
        raise Refused("The channel of this call, or its adapter, is gone.")
    if call.task.status not in OVER:
        raise Refused(f"The task is {call.task.status}: it went on without this call.")
    try:
        handle = adapter.attach(upstream_id, target)
    except ValueError as error:
        raise Refused(f"Cannot be attached: {error}.") from error
    return handle


def _refuse_taken(call: Call, handle: Mapping[str, Any]) -> None:
    nearby = Call.objects.filter(pk__gte=call.pk - NEARBY_CALLS, channel=call.channel)
    if other := nearby.filter(handle__id=handle["id"]).first():
        raise Refused(f"This job belongs to {other.task_id} already.")


def _spending(task: Task) -> Budgets:
    """The budgets of the locked account that another such task is taken of. Raises Refused where it cannot be paid."""
    accounts = ledger.lock_accounts([task.account_id])
    if accounts[task.account_id].available_micros < task.estimated_micros:
        raise Refused("The available balance does not cover the estimated cost of this task.")
    found = budgets.read(accounts, [(task.account_id, task.key_id)])
    if refusal := found.refusal(task.account_id, task.key_id, task.estimated_micros, of_what="task"):
        raise Refused(refusal.message)
    found.take(task.account_id, task.key_id, task.estimated_micros)
    return found


def _follow(call: Call, handle: Mapping[str, Any], new_id: str, spending: Budgets) -> None:
    """The new task with its payload, hold, events and call; its first status is running."""
    task, worker = call.task, _nobody()
    deadline = Now() + timedelta(seconds=settings.TASK_DEADLINES[task.modality])
    Task.objects.create(
        id=new_id,
        retry_of=task,
        status="running",
        attempt=1,
        worker=worker,
        channel_id=call.channel_id,
        route_id=call.route_id,
        started_at=Now(),
        deadline_at=deadline,
        open_routes_id=task.route_set_id,
        **columns.of_attached(task),
    )
    payload = TaskPayload.objects.get(task=task)
    TaskPayload.objects.create(task_id=new_id, params=_params(task, payload), trace=payload.trace)
    events.record([(new_id, task.key_id, "queued", 0), (new_id, task.key_id, "running", 1)])
    ledger.reserve(
        [
            ledger.Reservation(
                reference=new_id,
                account_id=task.account_id,
                key_id=task.key_id,
                amount_micros=task.estimated_micros,
                budget_day=spending.day(task.account_id, task.key_id),
            )
        ]
    )
    spending.write()
    Account.objects.filter(pk=task.account_id).update(live_at_most=F("live_at_most") + 1)
    paid_calls.attach(call, handle, task_id=new_id, worker_id=worker.id)


def _params(task: Task, payload: TaskPayload) -> dict[str, Any]:
    """As long as they are kept; else what the charge of a video needs of them."""
    seconds = Price.frozen(task.price).seconds
    rest = {} if seconds is None else {"duration": seconds}
    return rest if payload.params is None else payload.params


def _nobody() -> Worker:
    """The owner of what waits for adoption: a worker that stopped before it began."""
    fields = {"host": DESK, "pid": 0, "lanes": "", "stopped_at": Now()}
    return Worker.objects.get_or_create(id=DESK, defaults=fields)[0]


def mark_lost(call_id: int, *, by: str) -> None:
    """Write the call off: bought, perhaps, and nobody will see it; its cost is the operator's loss. Raises Refused."""
    call = open_calls.open_call(call_id)
    cost = open_calls.costs_at_stake([call])[call_id]
    outcome = resolved(call, "lost", by=by)
    if not paid_calls.resolve(CallEnd(id=call_id, state="lost", outcome=outcome, cost_micros=cost)):
        raise Refused("The outcome of this call became known meanwhile.")
    stored_inputs.let_go([call.task_id])


def mark_not_run(call_id: int, *, by: str) -> None:
    """The provider has not run it: its bill does not name the job. Nothing was paid. Raises Refused."""
    call = open_calls.open_call(call_id)
    if call.task.status in LIVE:
        raise Refused(f"The task is {call.task.status}: it is still worked on.")
    outcome = resolved(call, "not run", by=by)
    if not paid_calls.resolve(CallEnd(id=call_id, state="refused", outcome=outcome)):
        raise Refused("The outcome of this call became known meanwhile.")
    stored_inputs.let_go([call.task_id])
