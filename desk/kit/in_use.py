"""Channels and credentials that are needed to follow paid jobs; neither the admin nor a catalog file removes them."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Min, QuerySet

from adapters.base import Target
from catalog import connections
from common import urls
from common.documents import Unreadable, read
from tasks.models import Call, Task
from tasks.unknown import open_calls


def channels() -> set[int]:
    """List ids of channels with a running task or a followed paid job."""
    running = Task.objects.filter(status=Task.Status.RUNNING).values_list("channel_id", flat=True)
    followed = _followed().values_list("channel_id", flat=True)
    return {channel for channel in {*running, *followed} if channel is not None}


def credentials() -> set[int]:
    """List ids of credentials that bought a followed job, or one that an operator may still attach."""
    followed = _followed().values_list("credential_id", flat=True)
    unresolved = open_calls.open_calls().values_list("credential_id", flat=True)
    return {credential for credential in {*followed, *unresolved} if credential is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingJobs:
    """Paid jobs of one channel and origin without a credential to poll them; `task_id` is one example."""

    channel: str
    origin: str
    jobs: int
    task_id: str


def lacking() -> Iterator[LackingJobs]:
    """Find followed jobs that cannot be polled because no credential of their origin is left."""
    alike = ("channel_id", "channel__name", "credential_id", "target")
    followed = Call.objects.filter(state__in=[Call.State.ACCEPTED, Call.State.LATE], result__isnull=True)
    for row in followed.values(*alike).annotate(jobs=Count("id"), task=Min("task_id")).order_by("task"):
        try:
            target = read(Target, row["target"])
        except Unreadable:  # its own poll says so
            continue
        opened, _ = connections.to(
            row["channel_id"], target, total_timeout=1.0, credential_id=row["credential_id"], follows=True
        )
        if opened is None:
            yield LackingJobs(
                channel=row["channel__name"] or "(deleted)",
                origin=urls.origin(target.base_url),
                jobs=row["jobs"],
                task_id=row["task"],
            )


def _followed() -> QuerySet[Call]:
    return Call.objects.filter(state__in=[Call.State.INTENT, Call.State.ACCEPTED, Call.State.LATE])
