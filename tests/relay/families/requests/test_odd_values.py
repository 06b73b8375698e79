"""Whatever stands in the place of any value of a request, the request is read or refused: nothing breaks."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from common.errors import InvalidRequest
from tests.relay.families.requests.asking import CHAT, GEMINI, GENERATIONS, MESSAGES, RESPONSES, understood
from tests.relay.families.requests.test_answers_that_come_back import BLOCKS, ITEMS, OF_CHAT, PARTS

ODD = [None, True, -1, 1.5, 2**63, "", "x", [], [[]], [{}], [5], {}, {"type": {}}, {"type": [], "a": [{"b": 1}]}]
FUNCTION = {"name": "f", "parameters": {"type": "object"}}
ADDED = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"type": "web_search_20260318"}}}
PICTURES = [
    {"type": "image_url", "image_url": {"url": "https://a.example/b"}},
    {"type": "file", "file": {"file_id": "f"}},
]
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    (CHAT, {"messages": [*OF_CHAT.values(), {"role": "user", "content": PICTURES}], "stream_options": {}}),
    (CHAT, {"tools": [{"type": "function", "function": FUNCTION}, {"type": "web_search"}], "n": 2, "max_tokens": 5}),
    (
        CHAT,
        {
            "web_search_options": {"user_location": {}},
            "modalities": ["text"],
            "audio": {},
            "extra_body": {"google": {}},
        },
    ),
    (RESPONSES, {"input": [*ITEMS.values(), {"type": "item_reference", "id": "1"}], "reasoning": {"mode": "standard"}}),
    (RESPONSES, {"tools": [{"type": "namespace", "tools": [{"type": "shell", "environment": {"type": "local"}}]}]}),
    (RESPONSES, {"input": [{"type": "additional_tools", "tools": [{"type": "tool_search", "execution": "client"}]}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [*BLOCKS.values(), ADDED]}], "system": [{"type": "text"}]}),
    (
        MESSAGES,
        {"tools": [{"type": "web_search_20250305", "max_uses": 1}], "mcp_servers": [{"url": "u"}], "compaction": {}},
    ),
    (MESSAGES, {"context_management": {"edits": [{"type": "compact_20260112"}]}, "cache_control": {"ttl": "5m"}}),
    (GEMINI, {"contents": [{"parts": [*PARTS.values()]}], "generationConfig": {"responseModalities": ["TEXT"]}}),
    (GEMINI, {"tools": [{"googleSearch": {}}, {"functionDeclarations": [FUNCTION]}], "toolConfig": {}}),
    (GENERATIONS, {"images": [{"image_url": "https://a.example/b"}], "svg": {"reasoning": {}}, "partial_images": 0}),
]


def with_odd_values(value: Any) -> Iterator[Any]:
    """The same with one of its values after the other in turn made each of the odd ones."""
    yield from ODD
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, member in members:
        for odd in with_odd_values(member):
            changed = value.copy()
            changed[place] = odd
            yield changed


@pytest.mark.parametrize(("path", "said"), REQUESTS)
def test_a_request_with_any_odd_value_is_read_or_refused(path, said):
    for changed in with_odd_values(said):
        if isinstance(changed, dict):
            with suppress(InvalidRequest):
                assert all(field.path for field in understood(path, changed)[1])
