"""Steps 12 and 13, the good end: copied results are charged by the frozen price, and the task succeeds. A result may
also be lost.

Tasks that end well do so together: one transaction for all that come while another is at work."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from adapters.base import ErrorKind, UpstreamError
from billing import pricing
from billing.pricing import Price, Settlement
from catalog import prices, snapshot
from catalog.entries import RouteEntry
from catalog.health import outcomes
from catalog.health.calls import ChannelCall
from common import swallowed
from common.database.database_retry import insist
from tasks import lifecycle, paid_calls
from tasks.assets import assets
from tasks.assets.assets import NewAsset
from tasks.due_calls import DueCall
from tasks.lifecycle import Ending, Success
from tasks.models import Asset, Task
from tasks.paid_calls import CallEnd
from worker.deliver import agreement, copies
from worker.deliver.agreement import Agreed
from worker.deliver.copies import CallResult, Copied
from worker.threads import BatchedStep

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was agreed, at which price, on which route, if the catalog has it; and the task's fence."""

    task_id: str
    attempt: int
    route: RouteEntry | None
    price: Price
    agreed: Agreed

    def settlement(self, results: Sequence[CallResult], delivered: int) -> Settlement:
        """For so many files; the first call tells the produced length."""
        reported = results[0].done.duration
        return pricing.settle(
            self.price, delivered=delivered, asked_seconds=self.agreed.seconds, reported_seconds=reported
        )

    def own_costs(self, results: Iterable[CallResult], seconds: float) -> dict[int, int | None]:
        """Micro-USD that the operator pays for each call; None where the catalog does not know."""
        route, price = self.route, self.price
        if route is None:
            return {result.call_id: None for result in results}
        return {
            result.call_id: prices.own_cost_micros(
                route, price.tier, price.pricing_mode.units(files=result.size, seconds=seconds)
            )
            for result in results
        }


def terms_of_call(call: DueCall) -> Terms:
    """Read from the call's task. Raises Unreadable."""
    task = Task.objects.select_related("payload").get(id=call.task_id)
    price = Price.frozen(task.price)
    return Terms(
        task_id=task.id,
        attempt=call.attempt,
        route=snapshot.latest().route(task.route_id) if task.route_id is not None else None,
        price=price,
        agreed=agreement.of_task(task, price, call.target, calls=call.siblings + 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodEnd:
    """An end, and the call that the result came by, where the channel's health has not heard of that before."""

    ending: Ending
    through: ChannelCall | None = None


def end_together(group: Sequence[GoodEnd]) -> list[bool]:
    """Whether each of these tasks did end so. Each channel's health hears of it once."""
    ended = lifecycle.end([good.ending for good in group])
    if calls := {good.through for good in group if good.through}:
        tell(outcomes.succeeded, calls)
    return [good.ending.task_id in ended for good in group]


def tell(step: Callable[..., None], *arguments: Any) -> None:
    """Note what an answer means for the channel's health. The answer is recorded even where that cannot be noted."""
    try:
        insist(step, *arguments)
    except Exception:
        swallowed.note("worker.health")


endings = BatchedStep("endings", end_together)


@dataclass(frozen=True, slots=True, kw_only=True)
class Underway:
    """The end of a task, which goes into a group: `promise` tells whether it did end so. Where it did not, `anew` tries
    once more, and does what is to be done then. Where it takes its time, `note` records that the provider has finished,
    and waits for nobody."""

    promise: "Future[bool]"
    anew: Callable[[], None]
    note: Callable[[], object]


class NotStored(Exception):
    """A provider's bytes that our storage did not take in time."""


Tries = Iterable[tuple[Copied, bool]]
"""Copies of the bytes of a synchronous answer, which nobody else has, one after the other; and which is the last."""


def deliver_now(
    bought: Terms, result: CallResult, tries: Tries, *, through: ChannelCall, note: Callable[[], object]
) -> Underway | None:
    """Copy the bytes of the only call, and end the task with them; None where nothing of it is under way any more."""
    with copies.temporary(result.done):
        for copied, is_last in tries:
            if not copied.fault:
                good = GoodEnd(ending=succeeding(bought, [result], copied), through=through)
                return Underway(
                    promise=endings.add(good),
                    anew=partial(insist, succeed, bought, [result], copied),
                    note=note,
                )
            if finish(bought, [result], copied, is_last=is_last):
                break
    return None


def staged(result: CallResult, tries: Tries) -> dict[str, Any]:
    """Copy the bytes of one of several calls. The files wait for the other calls as this call's result, in the form of
    its row. Raises NotStored, or UpstreamError (EMPTY_RESULT) where none of it can be used."""
    with copies.temporary(result.done):
        for copied, is_last in tries:
            if copied.stored and (is_last or not copied.fault):
                return copies.of_files(result.done, copied.stored, copied.dropped.get(result.call_id, 0))
            assets.discard(copied.fresh)
        raise NotStored(copied.fault) if copied.is_ours else UpstreamError(ErrorKind.EMPTY_RESULT, copied.fault)


def finish(bought: Terms, made: Sequence[CallResult], copied: Copied, *, is_last: bool) -> bool:
    """End the task with what was copied, if that is all of it or this was the last try; else it is deleted again."""
    if not copied.fault:
        insist(succeed, bought, made, copied)
        return True
    logger.warning("a result could not be copied: %s", copied.fault)
    if is_last and any(asset.kind == made[0].kind for asset in copied.stored):
        insist(succeed, bought, made, copied)
        return True
    assets.discard(copied.stored if is_last else copied.fresh)
    if is_last:
        insist(give_up, bought, made, copied)
    return is_last


def succeed(bought: Terms, made: Sequence[CallResult], copied: Copied) -> None:
    """Settle and end; a result for a task that has ended meanwhile is our loss."""
    ending = succeeding(bought, made, copied)
    if endings.take(GoodEnd(ending=ending)):
        return
    # Read before the rows of its assets: what goes on now may end in between, and with the files kept for siblings.
    is_late = is_over(bought)
    stored = copied.stored
    named = delivered_keys(stored)
    assets.discard(asset for asset in (stored if is_late else copied.fresh) if asset.storage_key not in named)
    if is_late and not named:
        logger.warning("the result came too late")
        write_off({call.id: call.cost_micros for call in ending.calls}, {"kind": "late"})


def succeeding(bought: Terms, made: Sequence[CallResult], copied: Copied) -> Ending:
    """The end with what was copied, settled by the frozen price."""
    stored = copied.stored
    settlement = bought.settlement(made, len(stored))
    costs = bought.own_costs(made, settlement.seconds)
    differing = agreement.mismatches(bought.agreed, made, copied.by_call, settlement)
    calls = [
        CallEnd(
            id=call,
            state="done",
            outcome=delivered(call, copied, [copied.fault] if copied.fault else []),
            cost_micros=cost,
            mismatch=differing[call],
        )
        for call, cost in costs.items()
    ]
    success = Success(actual_micros=settlement.actual_micros, seconds=settlement.seconds, assets=stored)
    return Ending.succeeded(bought.task_id, bought.attempt, success, *calls)


def give_up(bought: Terms, made: Sequence[CallResult], copied: Copied) -> None:
    """The result was bought but cannot be had: not charged, and in the operator's books with its cost."""
    costs = bought.own_costs(made, bought.agreed.seconds or 0)
    outcome = {"kind": "copy_failed", "message": copied.fault}
    ends = [CallEnd(id=call, state="done", outcome=outcome, cost_micros=cost) for call, cost in costs.items()]
    if not lifecycle.end([Ending.failed(bought.task_id, bought.attempt, copied.failure, *ends)]) and is_over(bought):
        write_off(costs, outcome)


def lose(bought: Terms, result: CallResult) -> None:
    """A result that came after the task's end: never charged, our loss, with its cost."""
    settlement = bought.settlement([result], result.size)
    write_off(bought.own_costs([result], settlement.seconds), {"kind": "late"})
    assets.discard(result.stored)


def write_off(costs: Mapping[int, int | None], outcome: dict[str, Any]) -> None:
    paid_calls.close(
        *(CallEnd(id=call, state="lost", outcome=outcome, cost_micros=cost) for call, cost in costs.items())
    )


def delivered(call_id: int, copied: Copied, flags: Sequence[str]) -> dict[str, Any]:
    """The outcome of a call beside whose result the task succeeded; it may have brought nothing usable itself."""
    files = len(copied.by_call[call_id])
    flagged = list(flags)
    if dropped := copied.dropped.get(call_id, 0):  # they were made, and perhaps cost something
        logger.warning("a call made %d files more than were bought; they were dropped", dropped)
        flagged.append(f"{dropped} files more than were bought came, and were dropped")
    return {"kind": "succeeded" if files else "copy_failed", "delivered": files, "flags": flagged}


def delivered_keys(stored: Sequence[NewAsset]) -> frozenset[str]:
    """The files that rows name: an earlier try was committed unseen, or another worker has delivered what was kept."""
    keys = [asset.storage_key for asset in stored]
    return frozenset(Asset.objects.filter(storage_key__in=keys).values_list("storage_key", flat=True))


def is_over(bought: Terms) -> bool:
    """Whether the task has ended; else another worker has taken it over, and the call is its to follow."""
    return not Task.objects.filter(id=bought.task_id, status="running").exists()
