"""The events of a response as the response itself, which the last of them tells."""

from collections.abc import Iterable, Mapping
from typing import Any

from relay.families.fields import mapping

LAST = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}


def of_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The response; None where no event ends it. Its output is what was done before, where the last event leaves it
    out."""
    done: dict[int, Any] = {}
    response: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            index = event.get("output_index")
            done[index if isinstance(index, int) else len(done)] = event["item"]
        elif isinstance(kind, str) and kind in LAST:
            response = _ended(event, LAST[kind])
    if response is None:
        return None
    return {**response, "output": response.get("output") or [done[index] for index in sorted(done)]}


def _ended(event: Mapping[str, Any], status: str) -> dict[str, Any]:
    response = mapping(event.get("response"))
    usage = response.get("usage") or event.get("usage")
    return {"object": "response", **response, "status": response.get("status") or status, "usage": usage}
