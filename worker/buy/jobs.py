"""Step 11, before the paid calls: the tasks of a claim become jobs and then purchases, whose intents are committed.

All tasks of a claim take each step together. In place of a job or a purchase stands the reason why the task is not
bought now, or not at all.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from django.db import IntegrityError

from adapters import expression
from adapters.base import REFUSES_CREDENTIAL, Adapter, Connection, ErrorKind, Target, TaskRequest, UpstreamRequest
from billing.pricing import Price
from catalog import connections, snapshot
from catalog.entries import RouteEntry
from catalog.health import rests, states
from catalog.health.calls import ChannelCall
from catalog.health.states import UNTOUCHED
from catalog.snapshot import Catalog
from common import sql, urls
from common.database.database_retry import AWAY, apart, insist
from storage import blobs
from tasks import paid_calls
from tasks.assets import inputs
from tasks.claims.starting import Claimed
from tasks.models import Call
from tasks.paid_calls import Intended
from tasks.request import stored_params
from worker.deliver import agreement
from worker.deliver.delivery import Terms

Item = TypeVar("Item")
Result = TypeVar("Result")
# The janitor ends a task at its deadline; the call may take this much longer, so that it never comes first.
GRACE_SECONDS = 5.0


class RouteGone(Exception):
    """The route can no longer run this task; the message says why."""


class NotNow(Exception):
    """The task can be bought, but not by this attempt."""


class TakenOver(Exception):
    """The task has ended, or another worker has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything one execution needs, read before the paid call, which may take `call_seconds`; `ends_at` is the task's
    deadline by time.monotonic. On the `terms` its result is charged."""

    task: Claimed
    route: RouteEntry
    target: Target
    adapter: Adapter
    request: TaskRequest
    upstream: UpstreamRequest
    terms: Terms
    ends_at: float
    call_seconds: float


class Refusals:
    """What the channel's health has heard of the calls of one execution, whose threads share this: of many equal
    refusals it hears once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: set[ErrorKind] = set()

    def is_news(self, kind: ErrorKind) -> bool:
        """True for the first that asks; it is to tell."""
        with self._lock:
            is_news = kind not in self._kinds
            self._kinds.add(kind)
        return is_news


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """A job and the way to its provider. `tried` are the ids of rests of the channel (`catalog/health/`) that this call
    alone may test. `calls` are the paid calls of the execution, by position, once their intents are committed."""

    job: Job
    credential_id: int | None
    connection: Connection
    tried: frozenset[int] = frozenset()
    calls: Sequence[Intended] = ()
    refusals: Refusals = field(default_factory=Refusals)

    @property
    def through(self) -> ChannelCall:
        """The call as its channel's health knows it: calls alike are one."""
        return ChannelCall(
            channel_id=self.job.route.channel.id,
            credential_id=self.credential_id,
            upstream_model=self.job.target.upstream_model,
            account_id=self.job.task.account_id,
            tried=self.tried,
        )


def prepare(tasks: Sequence[Claimed], worker_id: str) -> list[Purchase | Exception]:
    """Make the purchases of these tasks. Runs on the claim lane and keeps its connection to the database; waiting for
    providers is the pool's work."""
    intend_all = partial(insist, partial(intend, worker_id=worker_id))
    return onward(partial(apart, intend_all), apart(partial(insist, ready), tasks))


def ready(tasks: Sequence[Claimed]) -> list[Purchase | Exception]:
    """Read all that these tasks need before their intents, and take the trial of a channel that rests."""
    return onward(reach, load(tasks))


def onward(
    step: Callable[[Sequence[Item]], Sequence[Result | Exception]], found: Sequence[Item | Exception]
) -> list[Result | Exception]:
    """Take the next step with those that have got so far; the others keep their exception."""
    left = [each for each in found if not isinstance(each, Exception)]
    results = iter(step(left) if left else ())
    return [each if isinstance(each, Exception) else next(results) for each in found]


def load(tasks: Sequence[Claimed]) -> list[Job | Exception]:
    """Build their jobs. Each adapter checks and builds its request again, since the catalog may have moved. In place of
    a job: RouteGone, InputGone, Unreadable for a task of another version, or whatever its adapter raised."""
    catalog = snapshot.latest()
    found: list[Job | Exception] = []
    for task in tasks:
        try:
            found.append(_job(task, catalog))
        except AWAY:
            raise
        except Exception as fault:
            found.append(fault)
    return found


def _job(task: Claimed, catalog: Catalog) -> Job:
    ends_at = time.monotonic() + task.deadline_seconds
    if task.params is None:
        raise LookupError("its payload is missing")
    route = catalog.route(task.route_id)
    adapter = route.adapter if route else None
    if route is None or adapter is None:
        raise RouteGone("the route or its adapter is gone")
    if route.model_id != task.media_model_id:
        raise RouteGone("it serves another model now")
    target = route.target
    takes_files = target.capabilities.get("data_url", True) is not False
    params = sql.as_document(task.params)
    request = stored_params.load_to_buy(task.modality, params)
    if request.images or request.mask or request.inputs:
        request = inputs.with_upload_urls(inputs.fresh(request, takes_files=takes_files), task.id)
    upstream = expression.judge(adapter, request, target)
    if isinstance(upstream, list):
        raise RouteGone("; ".join(f"{reason.field}: {reason.reason}" for reason in upstream))
    price = Price.frozen(sql.as_document(task.price))
    if not price.is_still_bought(upstream.billed):
        raise RouteGone(f"it would now buy {upstream.billed}")
    seconds = max(0.0, ends_at - time.monotonic()) + GRACE_SECONDS
    longest = adapter.submit_seconds(target)
    return Job(
        task=task,
        route=route,
        target=target,
        adapter=adapter,
        request=request,
        upstream=upstream,
        terms=Terms(
            task_id=task.id,
            attempt=task.attempt,
            route=route,
            price=price,
            agreed=agreement.of_request(request, upstream, target),
        ),
        ends_at=ends_at,
        call_seconds=min(seconds, math.inf if longest is None else longest),
    )


def reach(found: Sequence[Job]) -> list[Purchase | Exception]:
    """Choose the connection of each job, with the credentials as they are stored now."""
    channels = {job.route.channel.id for job in found}
    known, stood, output_dir = connections.stored(channels), states.read(channels), blobs.incoming_dir()
    retried = [job.task.id for job in found if job.task.attempt > 1]
    refused = refused_credentials(retried) if retried else {}
    reached: list[Purchase | Exception] = []
    for job in found:
        task, channel_id = job.task, job.route.channel.id
        state = stood.get(channel_id, UNTOUCHED)
        available = state.judge(job.target.upstream_model, task.account_id)
        last = {*state.credentials}.difference(available.credentials) | refused.get(task.id, frozenset())
        credential_id, connection = connections.to(
            channel_id,
            job.target,
            total_timeout=job.call_seconds,
            payer=str(task.account_id),
            known=known,
            last=last,
            output_dir=output_dir,
        )
        tried = available.tried_with(credential_id) if available.trials else frozenset()
        if credential_id is None and has_moved(job):
            reached.append(NotNow("its channel has moved to another origin"))
        elif available.obstacle == "cooling down" or (tried and not rests.begin_trial(tried, task.account_id)):
            reached.append(NotNow("its channel rests since it was claimed"))
        else:
            reached.append(Purchase(job=job, credential_id=credential_id, connection=connection, tried=tried))
    return reached


def refused_credentials(task_ids: Collection[str]) -> dict[str, frozenset[int]]:
    """The credentials that were refused for these tasks before, by task."""
    rows = Call.objects.filter(task_id__in=task_ids, state="refused", outcome__kind__in=REFUSES_CREDENTIAL)
    found: dict[str, frozenset[int]] = {}
    for task_id, credential_id in rows.filter(credential__isnull=False).values_list("task_id", "credential_id"):
        found[task_id] = found.get(task_id, frozenset()) | {credential_id}
    return found


def has_moved(job: Job) -> bool:
    """Whether the channel has gone to another origin since the job was read, and its credential with it."""
    route = snapshot.latest().route(job.route.id)
    return route is None or urls.origin(route.target.base_url) != urls.origin(job.target.base_url)


def intend(found: Sequence[Purchase], *, worker_id: str) -> list[Purchase | Exception]:
    """Commit the intents of these purchases, unless an earlier try whose commit went unseen has."""
    wanted = [_intent(each, worker_id) for each in found]
    try:
        calls = paid_calls.intend(wanted)
    except IntegrityError:
        calls = paid_calls.committed(wanted)
        if len(calls) < len(wanted) > 1:
            raise  # some may not have been tried yet: one by one tells
    lost = TakenOver("the task was taken over before its paid call")
    return [replace(each, calls=own) if (own := calls.get(each.job.task.id)) else lost for each in found]


def _intent(purchase: Purchase, worker_id: str) -> paid_calls.Intent:
    job = purchase.job
    return paid_calls.Intent(
        task_id=job.task.id,
        attempt=job.task.attempt,
        worker_id=worker_id,
        route_id=job.route.id,
        channel_id=job.route.channel.id,
        credential_id=purchase.credential_id,
        target=job.target,
        request_digest=job.upstream.digest(),
        count=job.upstream.calls,
        passed=job.task.passed,
    )
