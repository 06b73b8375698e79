"""Where a provider finds a job by our reference: asked after a paid call whose answer, or whose worker, was lost."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from adapters import expression, registry
from adapters.base import Accepted, Adapter, Connection, Target, UpstreamError, UpstreamRequest
from catalog import connections
from common import documents
from common.database.database_retry import insist, release_connection
from common.documents import Unreadable
from tasks import paid_calls
from tasks.models import Call
from tasks.request import stored_params

logger = logging.getLogger(__name__)
WAITS_SECONDS: Sequence[float] = (0.0, 1.0, 3.0)
ASK_SECONDS = 20.0


def ask(adapter: Adapter, upstream: UpstreamRequest, connection: Connection) -> Accepted | None:
    """The job of `connection.reference`, asked for a few times, since lists lag; None proves nothing."""
    if not can_find(adapter):
        return None
    connection = replace(connection, total_timeout=ASK_SECONDS)
    for wait in WAITS_SECONDS:
        time.sleep(wait)
        try:
            if found := adapter.find(upstream, connection):
                return found
        except UpstreamError as error:
            logger.warning("a job could not be looked up: %s", error)
    return None


def findable(call_ids: Sequence[int]) -> frozenset[int]:
    """Those of the calls without an answer whose protocol can tell."""
    rows = Call.objects.filter(id__in=call_ids, state=Call.State.INTENT).only("id", "task_id", "target")
    return frozenset(call.pk for call in rows if can_find(_adapter_of(call)))


def _adapter_of(call: Call) -> Adapter | None:
    try:
        return registry.get(documents.read(Target, call.target).adapter)
    except Unreadable as error:
        logger.error("call %d of task %s cannot be looked up: %s", call.pk, call.task_id, error)
        return None


def can_find(adapter: Adapter | None) -> bool:
    return adapter is not None and adapter.submit_safety == "lookup"


def recover(call_id: int, worker_id: str) -> bool:
    """Whether the findable call of a dead worker did buy a job, which this worker follows for its task from now on.

    False also where its own worker gave it up meanwhile: then the job is followed as a late one. Raises Unreadable.
    """
    call = Call.objects.select_related("task__payload").get(id=call_id)
    target = documents.read(Target, call.target)
    adapter = registry.get(target.adapter)
    if adapter is None:
        return False
    request = stored_params.load(call.task.modality, call.task.payload.params)
    opened, connection = connections.to(
        call.channel_id,
        target,
        total_timeout=ASK_SECONDS,
        credential_id=call.credential_id,
        follows=True,
        reference=paid_calls.reference(call.task_id, call.attempt, call.position),
    )
    release_connection()
    if opened is None:
        logger.error("call %d is looked up without a credential: none of its origin is left", call_id)
    found = ask(adapter, expression.build(adapter, request, target), connection)
    if found is None:
        return False
    logger.warning("call %d of a dead worker was found at the provider by its reference", call_id)
    return insist(paid_calls.accept, call_id, found.handle, poll_after=found.poll_after, worker_id=worker_id)
