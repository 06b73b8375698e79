"""Step 8, before the paid calls: claimed tasks become purchases, all of a claim together, their intents committed.

In place of a purchase there is the reason why its task is not bought now, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db import IntegrityError

from adapters.base import Connection
from catalog import connections, credentials, snapshot
from common import urls
from storage import blobs
from tasks import paid_calls
from tasks.claims.starting import Claimed
from tasks.paid_calls import Intended
from worker.buy import jobs
from worker.buy.jobs import Job
from worker.buy.purchase import Purchase
from worker.groups import onward


class NotNow(Exception):
    """The task can be bought, but not by this attempt."""


class TakenOver(Exception):
    """The task has ended, or another worker has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A job and the way to its provider, with this credential."""

    job: Job
    credential_id: int | None
    connection: Connection


def prepare(tasks: Sequence[Claimed], worker_id: str) -> list[Purchase | Exception]:
    """The purchases of these tasks. Holds a connection to the database: what they wait for is for others to do."""
    loaded = onward(jobs.load, tasks)
    reached = onward(reach, loaded)
    return onward(partial(intend, worker_id=worker_id), reached)


def reach(found: Sequence[Job]) -> list[Reached | Exception]:
    """The connection of each job, with the credentials as they are stored now."""
    known = credentials.stored({job.route.channel.id for job in found})
    output_dir = blobs.incoming_dir()
    reached: list[Reached | Exception] = []
    for job in found:
        credential_id, connection = connections.to(
            job.route.channel.id,
            job.target,
            total_timeout=job.call_seconds,
            payer=str(job.task.account_id),
            known=known,
            output_dir=output_dir,
        )
        if credential_id is None and has_moved(job):
            reached.append(NotNow("its channel has moved to another origin"))
        else:
            reached.append(Reached(job=job, credential_id=credential_id, connection=connection))
    return reached


def has_moved(job: Job) -> bool:
    """Whether the channel has gone to another origin since the job was read, and its credential with it."""
    route = snapshot.latest().route(job.route.id)
    return route is None or urls.origin(route.target.base_url) != urls.origin(job.target.base_url)


def intend(found: Sequence[Reached], *, worker_id: str) -> list[Purchase | Exception]:
    """The purchases whose intents are committed, also by an earlier try whose commit went unseen."""
    intents = [_intent(each, worker_id) for each in found]
    try:
        calls = paid_calls.intend(intents)
    except IntegrityError:
        calls = paid_calls.committed(intents)
        if len(calls) < len(intents) > 1:
            raise  # some may not have been tried yet: one by one tells
    return [_purchase(each, calls.get(each.job.task.id)) for each in found]


def _intent(found: Reached, worker_id: str) -> paid_calls.Intent:
    job = found.job
    return paid_calls.Intent(
        task_id=job.task.id,
        attempt=job.task.attempt,
        worker_id=worker_id,
        route_id=job.route.id,
        channel_id=job.route.channel.id,
        credential_id=found.credential_id,
        target=job.target,
        request_digest=job.upstream.digest(),
        count=job.upstream.calls,
        passed=job.task.passed,
    )


def _purchase(found: Reached, calls: tuple[Intended, ...] | None) -> Purchase | Exception:
    if not calls:
        return TakenOver("the task was taken over before its paid call")
    return Purchase(job=found.job, calls=calls, credential_id=found.credential_id, connection=found.connection)
