"""Joins the events of a response into the response that the last event reports."""

from collections.abc import Iterable, Mapping
from typing import Any

from relay.families.fields import mapping

LAST = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
ADDED, DONE = "response.output_item.added", "response.output_item.done"
# Events with pieces of a message part, and of an item itself.
PARTS = {
    "response.output_text.delta": ("output_text", "text"),
    "response.refusal.delta": ("refusal", "refusal"),
}
FIELDS = {"response.function_call_arguments.delta": "arguments", "response.custom_tool_call_input.delta": "input"}


class Item:
    """One output item, as far as its events have arrived."""

    __slots__ = ("_added", "_fields", "_parts", "done")

    def __init__(self) -> None:
        self.done: dict[str, Any] = {}
        self._added: dict[str, Any] = {}
        self._parts: dict[tuple[str, str, str], list[str]] = {}
        self._fields: dict[str, list[str]] = {}

    def take(self, kind: str, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if kind in (ADDED, DONE):
            said = mapping(event.get("item"))
            self._added, self.done = (self._added, said) if kind == DONE else (said, self.done)
        elif isinstance(delta, str) and kind in PARTS:
            self._parts.setdefault((str(event.get("content_index")), *PARTS[kind]), []).append(delta)
        elif isinstance(delta, str) and kind in FIELDS:
            self._fields.setdefault(FIELDS[kind], []).append(delta)

    def document(self) -> dict[str, Any]:
        """Returns the completed item, else one made of its pieces; empty without content."""
        if self.done or not (self._parts or self._fields):
            return self.done
        content = [
            {"type": kind, name: "".join(texts), **({"annotations": []} if kind == "output_text" else {})}
            for (_, kind, name), texts in self._parts.items()
        ]
        parts = {"content": content} if content else {}
        message = {"type": "message", "role": "assistant"} if content else {}
        fields = {name: "".join(texts) for name, texts in self._fields.items()}
        return {**message, **self._added, "status": "completed", **parts, **fields}


def join_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the response; None if no event ends it. Its output comes from earlier events if the last one leaves it
    out."""
    items: dict[int, Item] = {}
    response: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if not isinstance(kind, str):
            continue
        if kind in LAST:
            response = _ended(event, LAST[kind])
        elif kind in (ADDED, DONE) or kind in PARTS or kind in FIELDS:
            items.setdefault(_index(event, kind, items), Item()).take(kind, event)
    if response is None:
        return None
    came = [document for index in sorted(items) if (document := items[index].document())]
    return {**response, "output": response.get("output") or came}


def _index(event: Mapping[str, Any], kind: str, items: Mapping[int, Item]) -> int:
    """Returns the item's output index; the next one if none is reported."""
    index = event.get("output_index")
    if isinstance(index, int):
        return index
    return len(items) if kind in (ADDED, DONE) or not items else max(items)


def _ended(event: Mapping[str, Any], status: str) -> dict[str, Any]:
    response = mapping(event.get("response"))
    usage = response.get("usage") or event.get("usage")
    return {"object": "response", **response, "status": response.get("status") or status, "usage": usage}
