"""Joins the completed pictures of a stream into a whole answer of OpenAI's Images API."""

from collections.abc import Iterable, Mapping
from typing import Any

from relay.families import counts
from relay.families.fields import mapping
from relay.families.frames.image_frames import OF_ALL
from relay.families.pictures import COMPLETED, SUCCEEDED, is_item

NOT_OF_ONE = frozenset(
    {"type", "created_at", "image_index", "model", "usage", "partial_image_index", "sequence_number", *OF_ALL}
)


def join_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the answer with the usage of all pictures; None if none is completed."""
    data: list[dict[str, Any]] = []
    common: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    for event in events:
        if event.get("type") in (*COMPLETED, *SUCCEEDED):
            if is_item(event):
                data.append({name: value for name, value in event.items() if name not in NOT_OF_ONE})
            common |= {name: event[name] for name in ("created_at", *OF_ALL) if event.get(name) is not None}
            usage = _sum(usage, mapping(event.get("usage")))
    if not data:
        return None
    created = {"created": common.pop("created_at")} if "created_at" in common else {}
    return {**created, **common, "data": data, **({"usage": usage} if usage else {})}


def _sum(one: Mapping[str, Any], other: Mapping[str, Any], *, depth: int = 1) -> dict[str, Any]:
    """Adds two usages, including their nested objects."""
    added = dict(one)
    for name, value in other.items():
        if isinstance(value, dict) and depth:
            added[name] = _sum(mapping(one.get(name)), value, depth=depth - 1)
        elif (count := counts.whole(value)) is not None:
            added[name] = (counts.whole(one.get(name)) or 0) + count
        else:
            added.setdefault(name, value)
    return added
