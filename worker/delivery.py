"""Step 9 and the good end: results are copied to our storage, priced by the frozen price, and the task succeeds."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.base import Adapter, Connection, Done, Output, UpstreamError
from billing import pricing
from billing.pricing import Price, Settlement
from catalog import snapshot
from common.errors import StorageUnavailable
from tasks import assets, calls, lifecycle
from tasks.assets import NewAsset, UnusableOutput
from tasks.lifecycle import CallEnd, Ending, Failure, Success
from tasks.models import Asset, Task
from worker import jobs, verdicts
from worker.jobs import Job
from worker.persistence import insist, release_connection

logger = logging.getLogger(__name__)
UNUSABLE_TRIES = 6
LENGTH_TOLERANCE_SECONDS = 0.5
# Before the deadline, so that a result which cannot be stored ends as what it is and not as a timeout.
GIVE_UP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What was stored, and why the rest was not; `is_ours` when our storage refused, else the file was unusable."""

    stored: tuple[NewAsset, ...]
    fault: str = ""
    is_ours: bool = False

    @property
    def failure(self) -> Failure:
        return verdicts.STORAGE_UNAVAILABLE if self.is_ours else verdicts.NO_USABLE_RESULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """The terms of a finished call: what was asked, at which price, by which call and fence."""

    task_id: str
    attempt: int
    call_id: int
    route_id: int | None
    price: Price
    asked_seconds: int | None


def deliver_now(job: Job, call_id: int, done: Done, connection: Connection) -> None:
    """A synchronous call's result: URLs are kept as a handle first, so that a crash does not lose them; bytes are
    copied from here until the task's deadline."""
    if all(output.url for output in done.outputs):
        insist(calls.accept, call_id, kept(done), poll_after=0.0)
        return
    bought = Bought(
        task_id=job.task.id,
        attempt=job.task.attempt,
        call_id=call_id,
        route_id=job.route.id,
        price=job.price,
        asked_seconds=job.request.duration,
    )
    try:
        tries = 0
        while True:
            copied = copy(done.outputs, job.adapter, connection)
            seconds_left = job.seconds_left - GIVE_UP_SECONDS
            if finish(bought, done, copied, is_last=not copied.is_ours or seconds_left <= 0):
                return
            release_connection()
            time.sleep(min(verdicts.backoff(tries), seconds_left))
            tries += 1
    finally:
        for output in done.outputs:
            if output.path is not None:
                output.path.unlink(missing_ok=True)


def kept(done: Done) -> dict[str, Any]:
    """The outputs of a finished call as a handle."""
    outputs = [{"index": output.index, "kind": output.kind, "url": output.url} for output in done.outputs]
    return {"outputs": outputs, "duration": done.duration}


def reread(handle: Mapping[str, Any]) -> Done | None:
    """The inverse of `kept`; None for a provider's own handle."""
    if "outputs" not in handle:
        return None
    return Done(outputs=tuple(Output(**output) for output in handle["outputs"]), duration=handle["duration"])


def terms(call: calls.DueCall) -> Bought:
    """The terms of a polled call, read from its task."""
    task = Task.objects.select_related("payload").get(id=call.task_id)
    return Bought(
        task_id=task.id,
        attempt=call.attempt,
        call_id=call.id,
        route_id=task.route_id,
        price=Price.frozen(task.price),
        asked_seconds=(task.payload.params or {}).get("duration"),
    )


def copy(outputs: Sequence[Output], adapter: Adapter, connection: Connection) -> Copied:
    """Stream each output into storage."""
    release_connection()
    stored: list[NewAsset] = []
    fault = ""
    for output in outputs:
        try:
            with adapter.open_output(output, connection) as chunks:
                stored.append(assets.store(chunks, kind=output.kind))
        except StorageUnavailable as error:
            return Copied(stored=tuple(stored), fault=str(error), is_ours=True)
        except (UnusableOutput, UpstreamError) as error:
            fault = str(error)
        except Exception as error:
            logger.exception("copying a result broke off")
            fault = repr(error)[:500]
    return Copied(stored=tuple(stored), fault=fault)


def finish(bought: Bought, done: Done, copied: Copied, *, is_last: bool) -> bool:
    """End the task with what was copied, if that is all of it or this was the last try; else it is deleted again."""
    if not copied.fault:
        insist(succeed, bought, done, copied)
        return True
    logger.warning("a result could not be copied: %s", copied.fault)
    if is_last and any(asset.kind == done.outputs[0].kind for asset in copied.stored):
        insist(succeed, bought, done, copied)
        return True
    assets.discard(copied.stored)
    if is_last:
        insist(give_up, bought, copied)
    return is_last


def succeed(bought: Bought, done: Done, copied: Copied) -> None:
    """Settle and end; a result for a task that has ended meanwhile is our loss."""
    stored = copied.stored
    settlement = pricing.settle(
        bought.price,
        delivered=len(stored),
        asked_seconds=bought.asked_seconds,
        reported_seconds=done.duration,
    )
    cost = own_cost(bought, settlement, len(stored))
    outcome = {"kind": "succeeded", "delivered": len(stored), "flags": flags(settlement, copied)}
    ending = Ending(
        task_id=bought.task_id,
        from_status="running",
        attempt=bought.attempt,
        status="succeeded",
        success=Success(actual_micros=settlement.actual_micros, seconds=settlement.seconds, assets=stored),
        call=CallEnd(id=bought.call_id, state="done", outcome=outcome, cost_micros=cost),
    )
    if lifecycle.end([ending]) or is_delivered(stored):
        return
    assets.discard(stored)
    if is_over(bought):
        logger.warning("the result came too late")
        calls.close(bought.call_id, state="lost", outcome={"kind": "late"}, cost_micros=cost)


def is_delivered(stored: Sequence[NewAsset]) -> bool:
    """Whether rows name these files: an earlier try was committed and only its answer was lost."""
    return Asset.objects.filter(storage_key__in=[asset.storage_key for asset in stored]).exists()


def is_over(bought: Bought) -> bool:
    """Whether the task has ended; else another worker has taken it over, and the call is its to follow."""
    return not Task.objects.filter(id=bought.task_id, status="running").exists()


def give_up(bought: Bought, copied: Copied) -> None:
    """The result was bought but cannot be had: not charged, and in the operator's books with its cost."""
    cost = own_cost(bought, Settlement(actual_micros=0, seconds=bought.asked_seconds or 0), bought.price.quantity)
    outcome = {"kind": "copy_failed", "message": copied.fault}
    ending = Ending(
        task_id=bought.task_id,
        from_status="running",
        attempt=bought.attempt,
        status="failed",
        failure=copied.failure,
        call=CallEnd(id=bought.call_id, state="done", outcome=outcome, cost_micros=cost),
    )
    if not lifecycle.end([ending]) and is_over(bought):
        calls.close(bought.call_id, state="lost", outcome=outcome, cost_micros=cost)


def lose(bought: Bought, done: Done) -> None:
    """A result that came after the task's end: never charged, our loss, with its cost."""
    settlement = pricing.settle(
        bought.price,
        delivered=len(done.outputs),
        asked_seconds=bought.asked_seconds,
        reported_seconds=done.duration,
    )
    cost = own_cost(bought, settlement, len(done.outputs))
    calls.close(bought.call_id, state="lost", outcome={"kind": "late"}, cost_micros=cost)


def own_cost(bought: Bought, settlement: Settlement, delivered: int) -> int | None:
    """Micro-USD that the operator pays for it, where the catalog knows."""
    route = snapshot.latest().route(bought.route_id) if bought.route_id is not None else None
    units = {"image_matrix": delivered, "video_duration": settlement.seconds}.get(bought.price.mode, 1)
    return jobs.own_cost_micros(route, bought.price, units) if route else None


def flags(settlement: Settlement, copied: Copied) -> list[str]:
    """What the operator should look at: never billed."""
    found = [flag for flag in (settlement.flag, copied.fault) if flag]
    for asset in copied.stored:
        probed = asset.duration_seconds
        if asset.kind == "video" and probed and abs(probed - settlement.seconds) > LENGTH_TOLERANCE_SECONDS:
            found.append(f"the file is {probed:g} s long, {settlement.seconds:g} s are billed")
    return found
