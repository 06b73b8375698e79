"""Converts a whole answer of OpenAI's Images API into stream events: one completed event for each picture."""

import json
from collections.abc import Mapping
from typing import Any

from relay.families.fields import mappings
from relay.wire import sse

OF_ALL = ("background", "output_format", "quality", "size")


def make_frames(answer: Mapping[str, Any], *, is_edit: bool) -> list[bytes]:
    """Returns the frames; the last one has the usage."""
    kind = "image_edit.completed" if is_edit else "image_generation.completed"
    common = {"created_at": answer.get("created"), **{name: answer.get(name) for name in OF_ALL}}
    events = [{"type": kind, **common, **item} for item in mappings(answer.get("data"))]
    if events and answer.get("usage"):
        events[-1]["usage"] = answer["usage"]
    return [sse.frame(json.dumps(event), event=kind) for event in events]
