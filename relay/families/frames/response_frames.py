"""Converts a whole response of OpenAI's newer dialect into stream events, in OpenAI's order."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from relay.families.fields import mappings
from relay.wire import sse

Event = dict[str, Any]
UNDER_WAY = "in_progress"
ENDS = {"incomplete": "response.incomplete", "failed": "response.failed"}
# By part type: the event's stem, and the field with its text.
PARTS = {
    "output_text": ("response.output_text", "text"),
    "refusal": ("response.refusal", "refusal"),
    "reasoning_text": ("response.reasoning_text", "text"),
}
# By item type: the event's stem, and the field with the tool's input.
CALLS = {
    "function_call": ("response.function_call_arguments", "arguments"),
    "custom_tool_call": ("response.custom_tool_call_input", "input"),
    "mcp_call": ("response.mcp_call_arguments", "arguments"),
}
TEXT_ONLY: Mapping[str, Event] = {"response.output_text": {"logprobs": []}}


def make_frames(answer: Mapping[str, Any]) -> list[bytes]:
    """Returns the numbered frames."""
    numbers = count()
    numbered = ({**event, "sequence_number": next(numbers)} for event in _events(answer))
    return [sse.frame(json.dumps(event), event=event["type"]) for event in numbered]


def _events(answer: Mapping[str, Any]) -> Iterator[Event]:
    begun = {**answer, "status": UNDER_WAY, "output": [], "usage": None, "error": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, given in enumerate(mappings(answer.get("output"))):
        item = {"id": f"item_{index}", **given}
        yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
        where = {"output_index": index, "item_id": item["id"]}
        yield from _call(item, where)
        yield from _parts(item.get("summary"), where, "summary_index", _summary)
        yield from _parts(item.get("content"), where, "content_index", _content)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    end = ENDS.get(str(answer.get("status")), "response.completed")
    yield {"type": end, "response": dict(answer)}


def _begun(item: Event) -> Event:
    emptied: Event = {name: [] for name in ("content", "summary") if isinstance(item.get(name), list)}
    _, asked = CALLS.get(str(item.get("type")), ("", ""))
    return {**item, **emptied, **({asked: ""} if asked else {}), **({"status": UNDER_WAY} if "status" in item else {})}


def _call(item: Event, where: Event) -> Iterator[Event]:
    stem, name = CALLS.get(str(item.get("type")), ("", ""))
    if stem and isinstance(item.get(name), str):
        yield {"type": f"{stem}.delta", **where, "delta": item[name]}
        yield {"type": f"{stem}.done", **where, name: item[name], "name": item.get("name")}


def _parts(
    parts: Any, where: Event, index_name: str, told: Callable[[Event, Event], Iterator[Event]]
) -> Iterator[Event]:
    for index, part in enumerate(mappings(parts)):
        yield from told(part, {**where, index_name: index})


def _summary(part: Event, where: Event) -> Iterator[Event]:
    text = part.get("text")
    yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
    yield {"type": "response.reasoning_summary_text.delta", **where, "delta": text}
    yield {"type": "response.reasoning_summary_text.done", **where, "text": text}
    yield {"type": "response.reasoning_summary_part.done", **where, "part": part}


def _content(part: Event, where: Event) -> Iterator[Event]:
    stem, name = PARTS.get(str(part.get("type")), ("", ""))
    more = TEXT_ONLY.get(stem, {})
    begun = {**part, **({name: ""} if name else {}), **({"annotations": []} if "annotations" in part else {})}
    yield {"type": "response.content_part.added", **where, "part": begun}
    if stem and part.get(name):
        yield {"type": f"{stem}.delta", **where, "delta": part[name], **more}
    for index, annotation in enumerate(mappings(part.get("annotations"))):
        event = "response.output_text.annotation.added"
        yield {"type": event, **where, "annotation_index": index, "annotation": annotation}
    if stem:
        yield {"type": f"{stem}.done", **where, name: part.get(name), **more}
    yield {"type": "response.content_part.done", **where, "part": part}
