"""Claimed tasks made ready to run: the request of each, the route it got, the upstream request and its price."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from adapters import expression, registry
from adapters.base import Adapter, Target, TaskRequest, UpstreamRequest
from billing.pricing import Price
from catalog import snapshot
from catalog.entries import RouteEntry
from catalog.snapshot import Catalog
from common import sql
from common.database.database_retry import AWAY
from tasks.assets import inputs
from tasks.claims.starting import Claimed
from tasks.request import stored_params
from worker.deliver import agreement
from worker.deliver.delivery import Terms

# The janitor ends a task at its deadline; the call may take this much longer, so that it never comes first.
GRACE_SECONDS = 5.0


class RouteGone(Exception):
    """The route can no longer run this task; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything one execution needs, read before the paid call, which may take `call_seconds`; `ends_at` is the task's
    deadline by time.monotonic."""

    task: Claimed
    route: RouteEntry
    target: Target
    adapter: Adapter
    request: TaskRequest
    upstream: UpstreamRequest
    price: Price
    ends_at: float
    call_seconds: float

    @property
    def terms(self) -> Terms:
        """The terms on which its result is charged."""
        return Terms(
            task_id=self.task.id,
            attempt=self.task.attempt,
            route=self.route,
            price=self.price,
            agreed=agreement.of_request(self.request, self.upstream, self.target),
        )


def load(tasks: Sequence[Claimed]) -> list[Job | Exception]:
    """Build their jobs; `check` and `build` run again, since the catalog may have moved. In place of a job: RouteGone,
    InputGone, Unreadable for a task of another version, or whatever its adapter raised."""
    catalog = snapshot.latest()
    return [_job_or_fault(task, catalog) for task in tasks]


def _job_or_fault(task: Claimed, catalog: Catalog) -> Job | Exception:
    try:
        return _job(task, catalog)
    except AWAY:
        raise
    except Exception as fault:
        return fault


def _job(task: Claimed, catalog: Catalog) -> Job:
    ends_at = time.monotonic() + task.deadline_seconds
    if task.params is None:
        raise LookupError("its payload is missing")
    route = catalog.route(task.route_id)
    adapter = registry.get(route.channel.adapter) if route else None
    if route is None or adapter is None:
        raise RouteGone("the route or its adapter is gone")
    if route.model_id != task.media_model_id:
        raise RouteGone("it serves another model now")
    target = route.target
    takes_files = target.capabilities.get("data_url", True) is not False
    params = sql.as_document(task.params)
    request = inputs.fresh(stored_params.load_to_buy(task.modality, params), takes_files=takes_files)
    request = inputs.with_upload_urls(request, task.id)
    if reasons := expression.check(adapter, request, target):
        raise RouteGone("; ".join(f"{reason.field}: {reason.reason}" for reason in reasons))
    upstream = expression.build(adapter, request, target)
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
        price=price,
        ends_at=ends_at,
        call_seconds=min(seconds, math.inf if longest is None else longest),
    )
