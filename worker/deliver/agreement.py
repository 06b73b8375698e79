"""What was agreed when a task was priced, read from its request at hand or from its rows."""

from typing import Any

from adapters.base import Target, TaskRequest, UpstreamRequest
from billing.pricing import Price
from common.documents import elements, shown
from tasks.models import Task
from tasks.request import stored_params
from worker.deliver.comparison import Agreed


def of_request(request: TaskRequest, upstream: UpstreamRequest, target: Target) -> Agreed:
    return Agreed(
        count=upstream.billed.count,
        tier=upstream.billed.tier,
        calls=upstream.calls,
        seconds=request.duration,
        has_sound=_has_sound(target, request.generate_audio),
        sizes=shown(target.capabilities.get("size_table")),
    )


def of_task(task: Task, price: Price, target: Target, *, calls: int) -> Agreed:
    """The same long after: of a price by request the routes of the decision tell the tier. Raises Unreadable for a
    duration that cannot be read."""
    params = shown(task.payload.params)
    count, tier = _bought(task, price)
    return Agreed(
        count=count,
        tier=_text(params.get("resolution")) if task.modality == "video" else tier,
        calls=calls,
        seconds=stored_params.duration(task.payload.params or {}),
        has_sound=_has_sound(target, params.get("generate_audio")),
        sizes=shown(target.capabilities.get("size_table")),
    )


def _bought(task: Task, price: Price) -> tuple[int | None, str | None]:
    if task.modality == "video":
        return 1, None
    if agreed := price.bought:
        return agreed.count, agreed.tier
    routes = elements(shown(task.payload.trace).get("routes"))
    billed = next((found for route in routes if (found := shown(shown(route).get("billed")))), {})
    return price.results, _text(billed.get("tier"))


def _has_sound(target: Target, asked: object) -> bool:
    """Where the model has a switch, the request decides."""
    mode = target.capabilities.get("audio", "switch")
    return mode == "always" or (mode != "never" and asked is True)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
