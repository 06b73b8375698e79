"""Where an attempt buys with several calls: their results are gathered, and delivered together by one of them.

The first live call of an attempt is the one that delivers, once every other has its result or has failed; at the
deadline it delivers what there is.
"""

from adapters.base import Done
from tasks import paid_calls
from tasks.paid_calls import DueCall, Reschedule
from worker.deliver import delivery
from worker.deliver.delivery import Part

WAIT_SECONDS = 0.5


def parts(call: DueCall, done: Done) -> list[Part]:
    """What is to be delivered now that this call is done; empty while others are waited for, or deliver it."""
    if not call.siblings:
        return [Part(call_id=call.id, done=done, stored=delivery.restored(call.handle))]
    if delivery.reread(call.handle) is None:
        paid_calls.keep(call.id, delivery.kept(done, call.handle))
        return []
    live = paid_calls.parts(call.task_id, call.bought_in)
    ready = [
        Part(call_id=each.id, done=found, stored=delivery.restored(each.handle))
        for each in live
        if each.handle is not None and (found := delivery.reread(each.handle))
    ]
    if ready and ready[0].call_id == call.id and (call.is_overdue or len(ready) == len(live)):
        return ready
    paid_calls.reschedule([_later(call)])
    return []


def has_result(call: DueCall) -> bool:
    """Whether a sibling of this call has a result that can still be delivered."""
    if not call.siblings:
        return False
    return any(each.handle and delivery.reread(each.handle) for each in paid_calls.parts(call.task_id, call.bought_in))


def _later(call: DueCall) -> Reschedule:
    return Reschedule(
        call_id=call.id,
        task_id=call.task_id,
        attempt=call.attempt,
        delay_seconds=WAIT_SECONDS,
        copy_faults=call.copy_faults,
    )
