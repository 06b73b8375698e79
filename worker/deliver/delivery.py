"""Step 9 and the good end: results are copied to our storage, priced by the frozen price, and the task succeeds."""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from adapters.base import Adapter, Connection, Done, ErrorKind, Output, UpstreamError
from billing import pricing
from billing.pricing import Price, Settlement
from catalog import prices, snapshot
from common.database_retry import insist, release_connection
from common.errors import StorageUnavailable
from tasks import failures, lifecycle, paid_calls
from tasks.assets import assets
from tasks.assets.assets import NewAsset, UnusableOutput
from tasks.failures import Failure
from tasks.lifecycle import CallEnd, Ending, Success
from tasks.models import Asset, Task
from worker import retry_policy
from worker.buy.jobs import Job

logger = logging.getLogger(__name__)
UNUSABLE_TRIES = 6
LENGTH_TOLERANCE_SECONDS = 0.5
# Before the deadline, so that a result which cannot be stored ends as what it is and not as a timeout.
GIVE_UP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one paid call made: outputs still to be copied, or files of ours where they were kept for its siblings."""

    call_id: int
    done: Done
    stored: tuple[NewAsset, ...] = ()

    @property
    def kind(self) -> str:
        return self.done.outputs[0].kind if self.done.outputs else self.stored[0].kind

    @property
    def size(self) -> int:
        return len(self.done.outputs) + len(self.stored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What is stored, by call, and why the rest is not; `is_ours` when our storage refused, else a file was unusable.
    `fresh` was stored just now."""

    by_call: Mapping[int, tuple[NewAsset, ...]]
    fresh: tuple[NewAsset, ...] = ()
    fault: str = ""
    is_ours: bool = False

    @property
    def stored(self) -> tuple[NewAsset, ...]:
        return tuple(asset for assets_ in self.by_call.values() for asset in assets_)

    @property
    def failure(self) -> Failure:
        return failures.STORAGE_UNAVAILABLE if self.is_ours else failures.NO_USABLE_RESULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """The terms of a finished task: what was asked, at which price, on which route, and its fence."""

    task_id: str
    attempt: int
    route_id: int | None
    price: Price
    asked_seconds: int | None


def deliver_now(job: Job, call_id: int, done: Done, connection: Connection) -> None:
    """A synchronous call's result: URLs are kept as a handle first, so that a crash does not lose them; bytes are
    copied from here until the task's deadline."""
    if all(output.url for output in done.outputs):
        insist(paid_calls.accept, call_id, kept(done), poll_after=0.0)
        return
    bought = Bought(
        task_id=job.task.id,
        attempt=job.task.attempt,
        route_id=job.route.id,
        price=job.price,
        asked_seconds=job.request.duration,
    )
    part = Part(call_id=call_id, done=done)
    try:
        for copied, is_last in _copies(job, part, connection):
            if finish(bought, [part], copied, is_last=is_last):
                return
    finally:
        _unlink(done.outputs)


def staged(job: Job, done: Done, connection: Connection) -> dict[str, Any]:
    """The handle under which a result waits for its siblings: its URLs, or the files that were made of its bytes.
    Raises UpstreamError (EMPTY_RESULT) where none of it can be used."""
    if all(output.url for output in done.outputs):
        return kept(done)
    try:
        for copied, is_last in _copies(job, Part(call_id=0, done=done), connection):
            if copied.stored and (is_last or not copied.fault):
                return {"assets": [asdict(asset) for asset in copied.stored], "duration": done.duration}
            assets.discard(copied.fresh)
        raise UpstreamError(ErrorKind.EMPTY_RESULT, copied.fault)
    finally:
        _unlink(done.outputs)


def _copies(job: Job, part: Part, connection: Connection) -> Iterator[tuple[Copied, bool]]:
    """One try after the other while our storage refuses, and whether it is the last before the deadline."""
    for tries in count():
        copied = copy([part], job.adapter, connection)
        seconds_left = job.seconds_left - GIVE_UP_SECONDS
        is_last = not copied.is_ours or seconds_left <= 0
        yield copied, is_last
        if is_last:
            return
        release_connection()
        time.sleep(min(retry_policy.backoff(tries), seconds_left))


def _unlink(outputs: Iterable[Output]) -> None:
    for output in outputs:
        if output.path is not None:
            output.path.unlink(missing_ok=True)


def kept(done: Done, handle: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The outputs of a finished call as a handle; a job's keeps its name."""
    outputs = [{"index": output.index, "kind": output.kind, "url": output.url} for output in done.outputs]
    name = {"id": handle["id"]} if handle and "id" in handle else {}
    return {**name, "outputs": outputs, "duration": done.duration}


def reread(handle: Mapping[str, Any]) -> Done | None:
    """The inverse of `kept` and `staged`; None for a provider's own handle."""
    if "outputs" in handle:
        return Done(outputs=tuple(Output(**output) for output in handle["outputs"]), duration=handle["duration"])
    return Done(outputs=(), duration=handle["duration"]) if "assets" in handle else None


def restored(handle: Mapping[str, Any]) -> tuple[NewAsset, ...]:
    """The files that `staged` has kept."""
    return tuple(NewAsset(**asset) for asset in handle.get("assets", ()))


def terms(call: paid_calls.DueCall) -> Bought:
    """The terms of a polled call, read from its task."""
    task = Task.objects.select_related("payload").get(id=call.task_id)
    return Bought(
        task_id=task.id,
        attempt=call.attempt,
        route_id=task.route_id,
        price=Price.frozen(task.price),
        asked_seconds=(task.payload.params or {}).get("duration"),
    )


def copy(parts: Sequence[Part], adapter: Adapter, connection: Connection) -> Copied:
    """Stream each output into storage."""
    release_connection()
    by_call = {part.call_id: part.stored for part in parts}
    fresh: list[NewAsset] = []
    fault = ""
    for call_id, output in [(part.call_id, output) for part in parts for output in part.done.outputs]:
        try:
            with adapter.open_output(output, connection) as chunks:
                fresh.append(assets.store(chunks, kind=output.kind))
            by_call[call_id] += (fresh[-1],)
        except StorageUnavailable as error:
            return Copied(by_call=by_call, fresh=tuple(fresh), fault=str(error), is_ours=True)
        except (UnusableOutput, UpstreamError) as error:
            fault = str(error)
        except Exception as error:
            logger.exception("copying a result broke off")
            fault = repr(error)[:500]
    return Copied(by_call=by_call, fresh=tuple(fresh), fault=fault)


def finish(bought: Bought, parts: Sequence[Part], copied: Copied, *, is_last: bool) -> bool:
    """End the task with what was copied, if that is all of it or this was the last try; else it is deleted again."""
    if not copied.fault:
        insist(succeed, bought, parts, copied)
        return True
    logger.warning("a result could not be copied: %s", copied.fault)
    if is_last and any(asset.kind == parts[0].kind for asset in copied.stored):
        insist(succeed, bought, parts, copied)
        return True
    assets.discard(copied.stored if is_last else copied.fresh)
    if is_last:
        insist(give_up, bought, parts, copied)
    return is_last


def succeed(bought: Bought, parts: Sequence[Part], copied: Copied) -> None:
    """Settle and end; a result for a task that has ended meanwhile is our loss."""
    stored = copied.stored
    settlement = pricing.settle(
        bought.price,
        delivered=len(stored),
        asked_seconds=bought.asked_seconds,
        reported_seconds=parts[0].done.duration,
    )
    costs = {part.call_id: own_cost(bought, settlement, part.size) for part in parts}
    ending = Ending(
        task_id=bought.task_id,
        from_status="running",
        attempt=bought.attempt,
        status="succeeded",
        success=Success(actual_micros=settlement.actual_micros, seconds=settlement.seconds, assets=stored),
        calls=tuple(
            CallEnd(
                id=part.call_id,
                state="done",
                outcome=delivered(len(copied.by_call[part.call_id]), flags(settlement, copied)),
                cost_micros=costs[part.call_id],
            )
            for part in parts
        ),
    )
    if lifecycle.end([ending]):
        return
    # Read before the rows of its assets: what goes on now may end in between, and with the files kept for siblings.
    is_late = is_over(bought)
    named = delivered_keys(stored)
    assets.discard(asset for asset in (stored if is_late else copied.fresh) if asset.storage_key not in named)
    if is_late and not named:
        logger.warning("the result came too late")
        for call_id, cost in costs.items():
            paid_calls.close(call_id, state="lost", outcome={"kind": "late"}, cost_micros=cost)


def delivered(files: int, flags: Sequence[str]) -> dict[str, Any]:
    """The outcome of a call beside whose result the task succeeded; it may have brought nothing usable itself."""
    return {"kind": "succeeded" if files else "copy_failed", "delivered": files, "flags": list(flags)}


def delivered_keys(stored: Sequence[NewAsset]) -> frozenset[str]:
    """The files that rows name: an earlier try was committed unseen, or another worker has delivered what was kept."""
    keys = [asset.storage_key for asset in stored]
    return frozenset(Asset.objects.filter(storage_key__in=keys).values_list("storage_key", flat=True))


def is_over(bought: Bought) -> bool:
    """Whether the task has ended; else another worker has taken it over, and the call is its to follow."""
    return not Task.objects.filter(id=bought.task_id, status="running").exists()


def give_up(bought: Bought, parts: Sequence[Part], copied: Copied) -> None:
    """The result was bought but cannot be had: not charged, and in the operator's books with its cost."""
    unbilled = Settlement(actual_micros=0, seconds=bought.asked_seconds or 0)
    outcome = {"kind": "copy_failed", "message": copied.fault}
    costs = {part.call_id: own_cost(bought, unbilled, part.size) for part in parts}
    ending = Ending(
        task_id=bought.task_id,
        from_status="running",
        attempt=bought.attempt,
        status="failed",
        failure=copied.failure,
        calls=tuple(CallEnd(id=i, state="done", outcome=outcome, cost_micros=cost) for i, cost in costs.items()),
    )
    if not lifecycle.end([ending]) and is_over(bought):
        for call_id, cost in costs.items():
            paid_calls.close(call_id, state="lost", outcome=outcome, cost_micros=cost)


def lose(bought: Bought, part: Part) -> None:
    """A result that came after the task's end: never charged, our loss, with its cost."""
    settlement = pricing.settle(
        bought.price,
        delivered=part.size,
        asked_seconds=bought.asked_seconds,
        reported_seconds=part.done.duration,
    )
    cost = own_cost(bought, settlement, part.size)
    paid_calls.close(part.call_id, state="lost", outcome={"kind": "late"}, cost_micros=cost)
    assets.discard(part.stored)


def own_cost(bought: Bought, settlement: Settlement, delivered: int) -> int | None:
    """Micro-USD that the operator pays for it, where the catalog knows."""
    route = snapshot.latest().route(bought.route_id) if bought.route_id is not None else None
    units = {"image_matrix": delivered, "video_duration": settlement.seconds}.get(bought.price.mode, 1)
    return prices.own_cost_micros(route, bought.price.tier, units) if route else None


def flags(settlement: Settlement, copied: Copied) -> list[str]:
    """What the operator should look at: never billed."""
    found = [flag for flag in (settlement.flag, copied.fault) if flag]
    for asset in copied.stored:
        probed = asset.duration_seconds
        if asset.kind == "video" and probed and abs(probed - settlement.seconds) > LENGTH_TOLERANCE_SECONDS:
            found.append(f"the file is {probed:g} s long, {settlement.seconds:g} s are billed")
    return found
