"""Formats server-sent events like the vendors."""

import json
from collections.abc import Mapping
from typing import Any

EVENT_STREAM = "text/event-stream; charset=utf-8"


def event(data: Any, *, name: str = "", line_end: str = "\n") -> bytes:
    """Formats one event as compact JSON; with an `event:` line if it has a name."""
    head = f"event: {name}{line_end}" if name else ""
    return f"{head}data: {compact(data)}{line_end}{line_end}".encode()


def typed(data: Mapping[str, Any]) -> bytes:
    """Formats an event named after its `type`."""
    return event(data, name=data["type"])


def compact(data: Any) -> str:
    """Formats JSON without white space."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def indented(data: Any) -> str:
    """Formats JSON with indentation, as in whole answers."""
    return json.dumps(data, ensure_ascii=False, indent=2)
