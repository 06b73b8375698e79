"""Converts a whole chat completion into stream chunks: one with each choice's content, one with each finish reason."""

import json
from collections.abc import Mapping
from typing import Any

from relay.families.base import AskedCall
from relay.families.fields import mapping, mappings
from relay.families.openai_counts import usages
from relay.wire import sse

LISTS = ("tool_calls", "reasoning_details")
LAST = b"data: [DONE]\n\n"


def make_frames(answer: Mapping[str, Any], asked: AskedCall) -> list[bytes]:
    """Returns the frames, with the usage if the client asked for it."""
    head = {name: value for name, value in answer.items() if name not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    choices = mappings(answer.get("choices"))
    told = next(filter(None, usages(answer)), None)
    chunks = [
        {**head, "choices": [_said(choice, place) for place, choice in enumerate(choices)]},
        {**head, "choices": [_ended(choice, place) for place, choice in enumerate(choices)]},
    ]
    if asked.shows_usage and told:
        chunks.append({**head, "choices": [], "usage": told})
    return [*(sse.frame(json.dumps(chunk)) for chunk in chunks), LAST]


def _said(choice: Mapping[str, Any], place: int) -> dict[str, Any]:
    delta = {**mapping(choice.get("message"))}
    for name in LISTS:
        if name in delta:
            delta[name] = [{"index": index, **one} for index, one in enumerate(mappings(delta[name]))]
    return {
        "index": choice.get("index", place),
        "delta": delta,
        "logprobs": choice.get("logprobs"),
        "finish_reason": None,
    }


def _ended(choice: Mapping[str, Any], place: int) -> dict[str, Any]:
    reason = choice.get("finish_reason") or None
    return {"index": choice.get("index", place), "delta": {}, "logprobs": None, "finish_reason": reason}
