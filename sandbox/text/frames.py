"""Server-Sent Events as the vendors write them."""

import json
from collections.abc import Mapping
from typing import Any

EVENT_STREAM = "text/event-stream; charset=utf-8"


def event(data: Any, *, name: str = "", line_end: str = "\n") -> bytes:
    """One event, compact; with a line `event:` if it has a name."""
    head = f"event: {name}{line_end}" if name else ""
    return f"{head}data: {compact(data)}{line_end}{line_end}".encode()


def typed(data: Mapping[str, Any]) -> bytes:
    """An event that is named as its `type`."""
    return event(data, name=data["type"])


def compact(data: Any) -> str:
    """JSON without white space."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def indented(data: Any) -> str:
    """JSON for the eye, as whole answers come."""
    return json.dumps(data, ensure_ascii=False, indent=2)
