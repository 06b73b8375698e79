"""Step 8, before the paid calls: claimed tasks become purchases, all of a claim together, their intents committed.

In place of a purchase there is the reason why its task is not bought now, or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db import IntegrityError

from adapters.base import Connection
from catalog import connections, credentials, snapshot
from catalog.health import rests, states
from catalog.health.states import UNTOUCHED, Availability
from common import urls
from storage import blobs
from tasks import paid_calls
from tasks.claims.starting import Claimed
from tasks.paid_calls import Intended
from worker.buy import failed_calls, jobs
from worker.buy.jobs import Job
from worker.buy.purchase import Purchase
from worker.groups import onward


class NotNow(Exception):
    """The task can be bought, but not by this attempt."""


class TakenOver(Exception):
    """The task has ended, or another worker has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A job and the way to its provider, with this credential; `tried` are the rests that it is the one to try."""

    job: Job
    credential_id: int | None
    connection: Connection
    tried: frozenset[int] = frozenset()


def prepare(tasks: Sequence[Claimed], worker_id: str) -> list[Purchase | Exception]:
    """The purchases of these tasks. Holds a connection to the database: what they wait for is for others to do."""
    loaded = onward(jobs.load, tasks)
    reached = onward(reach, loaded)
    return onward(partial(intend, worker_id=worker_id), reached)


def reach(found: Sequence[Job]) -> list[Reached | Exception]:
    """The connection of each job, with the credentials as they are stored now."""
    channels = {job.route.channel.id for job in found}
    known, stood, output_dir = credentials.stored(channels), states.read(channels), blobs.incoming_dir()
    refused = failed_calls.refused_credentials([job.task.id for job in found if job.task.attempt > 1])
    reached: list[Reached | Exception] = []
    for job in found:
        state = stood.get(job.route.channel.id, UNTOUCHED)
        available = state.judge(job.target.upstream_model, job.task.account_id)
        last = {*state.credentials}.difference(available.credentials) | refused.get(job.task.id, frozenset())
        credential_id, connection = connections.to(
            job.route.channel.id,
            job.target,
            total_timeout=job.call_seconds,
            payer=str(job.task.account_id),
            known=known,
            last=last,
            output_dir=output_dir,
        )
        reached.append(_reached(Reached(job=job, credential_id=credential_id, connection=connection), available))
    return reached


def _reached(found: Reached, available: Availability) -> Reached | NotNow:
    """The connection, unless it must not be used now."""
    if found.credential_id is None and has_moved(found.job):
        return NotNow("its channel has moved to another origin")
    tried = available.tried_with(found.credential_id)
    if available.obstacle == "cooling down" or not rests.begin_trial(tried, found.job.task.account_id):
        return NotNow("its channel rests since it was claimed")
    return replace(found, tried=tried)


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
    return Purchase(
        job=found.job,
        calls=calls,
        credential_id=found.credential_id,
        connection=found.connection,
        tried=found.tried,
    )
