"""The steps of a task on the domain level, for tests to take one by one or many at once."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.authentication import Admission, admit
from adapters.base import Target
from billing.ledger import AccountState
from billing.pricing import Price
from common import ids, sql
from tasks import due_calls, leases, ledger_check, lifecycle, paid_calls
from tasks.assets.assets import NewAsset
from tasks.claims import queue
from tasks.claims.starting import Claimed
from tasks.due_calls import DueCall
from tasks.failures import Failure
from tasks.intake import drafts, examination, limits, submission
from tasks.intake.drafts import Draft, PreparedSubmission
from tasks.intake.limits import Standing
from tasks.intake.submission import Outcome
from tasks.lifecycle import Ending, Success
from tasks.paid_calls import CallEnd, Intended, Intent
from tests.rows import IssuedKey
from tools.children import PATIENCE

Result = TypeVar("Result")
TRANSACTION = re.compile("BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET TRANSACTION")
IMAGE = {"model": "aurora-image", "modality": "image", "params": {"prompt": "a fox"}}
VIDEO = {
    "model": "comet-video",
    "modality": "video",
    "params": {"prompt": "a fox runs", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"},
}
FAILURE = Failure(type="TASK_UPSTREAM_ERROR", message="The provider could not complete the task.", retryable=True)
UPSTREAM = Target(adapter="openai_images", base_url="https://images.provider.example/v1", upstream_model="gpt-image-2")


def admitted(key: IssuedKey) -> Admission:
    return admit(f"Bearer {key.secret}")


def prepared(
    key: IssuedKey,
    body: dict[str, Any] | None = None,
    *,
    admission: Admission | None = None,
    mask: object = None,
    **fields: Any,
) -> PreparedSubmission:
    version = (admission or admitted(key)).service.catalog_version
    return examination.prepare(key.id, {**(body or IMAGE), **fields}, catalog_version=version, mask=mask)


def drafted(
    key: IssuedKey,
    body: dict[str, Any] | None = None,
    *,
    idempotency_key: str | None = None,
    digest: str = "0" * 64,
    **fields: Any,
) -> Draft:
    admission = admitted(key)
    submitted = prepared(key, body, admission=admission, **fields)
    return drafts.draft(submitted, caller=admission.caller, body_digest=digest, idempotency_key=idempotency_key)


def another(draft: Draft, **changes: Any) -> Draft:
    """The same draft, for a task of its own."""
    return replace(draft, task_id=ids.new_task_id(), **changes)


def priced(draft: Draft, price: Price) -> Draft:
    """The same draft at another price."""
    return replace(draft, prepared=replace(draft.prepared, price=price))


def unwritable(draft: Draft) -> Draft:
    """Another like it, which the database refuses: no hold is negative."""
    price = draft.prepared.price
    return another(priced(draft, replace(price, unit_micros=-price.unit_micros)))


def submitted(key: IssuedKey, body: dict[str, Any] | None = None, **fields: Any) -> str:
    """The id of a new task."""
    outcome = submission.submit_one(drafted(key, body, **fields))
    assert isinstance(outcome, submission.Created), outcome
    return outcome.task_id


def submitted_many(key: IssuedKey, count: int) -> list[str]:
    draft = drafted(key)
    many = [another(draft) for _ in range(count)]
    outcomes = submission.submit(many)
    assert all(isinstance(outcome, submission.Created) for outcome in outcomes), outcomes
    return [d.task_id for d in many]


def outcomes(key: IssuedKey, count: int) -> list[Outcome]:
    """What comes of so many drafts in one group."""
    draft = drafted(key)
    return submission.submit([another(draft) for _ in range(count)])


def read_standing(drafts: Sequence[Draft]) -> Standing:
    """As after the lock of their accounts, none of which has budgets or may have any task."""
    locked = AccountState(balance_micros=0, held_micros=0, max_queued=0)
    return limits.read_standing(drafts, {d.caller.account_id: locked for d in drafts})


def worker() -> str:
    return leases.register(["tasks"])


def claimed(worker_id: str, *, seats: int = 100) -> tuple[Claimed, ...]:
    return queue.claim(worker_id, seats=seats).tasks


def start(key: IssuedKey, worker_id: str, body: dict[str, Any] | None = None, **fields: Any) -> Claimed:
    """A running task; nothing else may be queued."""
    task_id = submitted(key, body, **fields)
    (task,) = claimed(worker_id)
    assert task.id == task_id
    return task


def asset(number: int = 0, **changes: Any) -> NewAsset:
    fields: dict[str, Any] = {
        "kind": "image",
        "storage_key": f"results/{number}",
        "content_type": "image/png",
        "size_bytes": 100,
        "sha256": "a" * 64,
        "width": 8,
        "height": 6,
        "duration_seconds": None,
    }
    return NewAsset(**fields | changes)


def success(actual_micros: int = 40_000, *, assets: int = 1, seconds: float = 0) -> Success:
    return Success(
        actual_micros=actual_micros, seconds=seconds, assets=tuple(asset(number) for number in range(assets))
    )


def ending(task: Claimed, status: str, *, call: CallEnd | None = None, **changes: Any) -> Ending:
    """The end of a running task; a success charges 40,000 micro-USD unless it is given."""
    given: dict[str, Any] = {"task_id": task.id, "from_status": "running", "attempt": task.attempt, "status": status}
    if status == "succeeded":
        given["success"] = success()
    elif status in ("failed", "timeout"):
        given["failure"] = FAILURE
    return Ending(**{**given, "calls": (call,) if call else (), **changes})


def end(task: Claimed, status: str = "succeeded", **changes: Any) -> bool:
    """Whether the task did end."""
    return bool(lifecycle.end([ending(task, status, **changes)]))


def cancellation_of(task_id: str, attempt: int = 0) -> Ending:
    return Ending.canceled(task_id, attempt)


def intent(task: Claimed, worker_id: str, **changes: Any) -> Intent:
    fields: dict[str, Any] = {
        "task_id": task.id,
        "attempt": task.attempt,
        "worker_id": worker_id,
        "route_id": task.route_id,
        "channel_id": None,
        "credential_id": None,
        "target": UPSTREAM,
        "request_digest": "d" * 64,
    }
    return Intent(**fields | changes)


def intend(intent: Intent, count: int = 1) -> tuple[Intended, ...]:
    """The committed calls of this intent alone; none if the task has been taken over or has ended."""
    return paid_calls.intend([replace(intent, count=count)]).get(intent.task_id, ())


def committed(intent: Intent) -> tuple[Intended, ...]:
    return paid_calls.committed([intent]).get(intent.task_id, ())


def intended(task: Claimed, worker_id: str) -> int:
    """The id of the call whose intent is committed."""
    (call,) = intend(intent(task, worker_id))
    return call.id


def accepted(task: Claimed, worker_id: str, *, poll_after: float = 0.0) -> int:
    """The id of a call that the provider took."""
    call_id = intended(task, worker_id)
    assert paid_calls.accept(call_id, {"id": "job-1"}, poll_after=poll_after)
    return call_id


def due(worker_id: str) -> list[DueCall]:
    """The calls that want a poll by their rows, most overdue first."""
    followed = due_calls.followed(worker_id)
    return due_calls.read(worker_id, [call.id for call in followed if call.wait_seconds <= 0])


def silence(worker_id: str, *, seconds: int = 3600) -> None:
    """Make the worker's last heartbeat old, by the database's clock."""
    sql.run(f"UPDATE tasks_worker SET heartbeat_at = {sql.later('%s')} WHERE id = %s", [-seconds, worker_id])


def age(task_id: str, column: str, seconds: float) -> None:
    """Move one of a task's moments to so many seconds from now, by the database's clock."""
    sql.run(f"UPDATE tasks_task SET {column} = {sql.later('%s')} WHERE id = %s", [seconds, task_id])


def lasted(task_id: str, seconds: float, *, ago: float = 0) -> None:
    """As if the task had ended so long ago, so many seconds after its submission; both moments of one clock."""
    moments = f"created_at = {sql.later('%s')}, finished_at = {sql.later('%s')}"
    sql.run(f"UPDATE tasks_task SET {moments} WHERE id = %s", [-ago - seconds, -ago, task_id])


def clock() -> datetime:
    """What the database's clock shows."""
    return sql.as_moment(sql.fetch(f"SELECT {sql.now()}")[0][0])


def at_once(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run each job on a thread of its own, all released together; their results in order."""
    barrier = threading.Barrier(len(jobs), timeout=PATIENCE)

    def run(job: Callable[[], Result]) -> Result:
        try:
            barrier.wait()
            return job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(run, jobs))


def breaches() -> list[str]:
    """What `check_ledger` would list."""
    return [f"{breach.rule}: {breach.subject}: {breach.detail}" for breach in ledger_check.check().breaches]


@contextmanager
def captured() -> Iterator[list[str]]:
    """The statements of a block, as they were sent; without those that begin and end transactions."""
    statements: list[str] = []
    with CaptureQueriesContext(connection) as queries:
        yield statements
    statements += [q["sql"] for q in queries.captured_queries if not TRANSACTION.match(q["sql"])]


def explained(statement: str) -> str:
    """The plan of a captured statement, on one line per step."""
    prefix = "EXPLAIN " if sql.is_postgresql() else "EXPLAIN QUERY PLAN "
    with connection.cursor() as cursor:
        cursor.execute(prefix + statement)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@contextmanager
def transactions() -> Iterator[list[str]]:
    """The BEGINs of a block."""
    begun: list[str] = []
    with CaptureQueriesContext(connection) as queries:
        yield begun
    begun += [q["sql"] for q in queries.captured_queries if q["sql"].startswith(("BEGIN", "SAVEPOINT"))]
