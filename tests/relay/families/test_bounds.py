"""A bound is never below what a body can cost; only files count as less than their bytes."""

import json

import pytest

from relay.families import bounds

BASE64 = "QUFB" * 250_000
FILES = {
    "chat": {
        "messages": [{"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + BASE64}}]}]
    },
    "chat sound": {"messages": [{"content": [{"type": "input_audio", "input_audio": {"data": BASE64}}]}]},
    "responses": {"messages": [{"content": [{"type": "input_image", "image_url": "data:image/png;base64," + BASE64}]}]},
    "messages": {"messages": [{"content": [{"type": "image", "source": {"type": "base64", "data": BASE64}}]}]},
    "gemini": {"messages": [{"parts": [{"inlineData": {"mime_type": "image/png", "data": BASE64}}]}]},
    "gemini, snake case": {"messages": [{"parts": [{"inline_data": {"data": BASE64}}]}]},
}
TEXTS = {
    "text of a message": {"messages": [{"content": BASE64}]},
    "text with a file's name": {"messages": [{"data": BASE64, "url": BASE64}]},
    "what a tool was asked": {"messages": [{"type": "tool_use", "name": "x", "input": {"source": {"data": BASE64}}}]},
    "what a function was asked": {"messages": [{"functionCall": {"args": {"inlineData": {"data": BASE64}}}}]},
    "no root": {"tool": {"inlineData": {"data": BASE64}}},
    "a text as a document": {
        "messages": [{"source": {"type": "text", "media_type": "text/plain", "data": BASE64}}],
    },
    "a text in base64": {"messages": [{"inlineData": {"mimeType": "text/plain", "data": BASE64}}]},
    "a text in base64, of two kinds": {
        "messages": [{"inlineData": {"mimeType": "image/png", "mime_type": "text/csv", "data": BASE64}}],
    },
    "a text as a file": {"messages": [{"type": "input_file", "file_data": "data:text/markdown;base64," + BASE64}]},
    "a file that is none": {"messages": [{"inlineData": {"data": BASE64 + " a"}}]},
}


def bound(document: dict) -> int:
    return bounds.input_tokens(document, json.dumps(document).encode(), ("messages",))


@pytest.mark.parametrize("place", FILES)
def test_a_file_counts_less_than_its_bytes(place):
    assert 16_384 < bound(FILES[place]) < 17_000


@pytest.mark.parametrize("place", TEXTS)
def test_anything_else_counts_each_byte(place):
    assert bound(TEXTS[place]) == len(json.dumps(TEXTS[place]))


def test_a_file_counts_by_its_size_from_a_megabyte_on_and_wholly_below_16_thousand():
    assert [bounds.file_tokens(size) for size in (10, 16_384, 100_000, 6_400_000)] == [10, 16_384, 16_384, 100_000]


def test_a_file_that_the_provider_fetches_and_tools_count_beside_the_bytes():
    fetched = {"messages": [{"fileData": {"fileUri": "https://files.example/1"}}]}
    assert bound(fetched) == len(json.dumps(fetched)) + bounds.FILE_TOKENS
    tools = {"tools": [{"type": "function"}]}
    assert bound(tools) == len(json.dumps(tools)) + bounds.TOOL_TOKENS


@pytest.mark.parametrize("odd", [{"type": []}, {"type": {}, "image_url": 1}, {"source": [[None]]}, {"input": 1}])
def test_odd_types_do_no_harm(odd):
    assert bound({"messages": odd}) == len(json.dumps({"messages": odd}))


def test_an_estimate_is_a_quarter_rounded_up():
    assert [bounds.likely(most) for most in (0, 1, 4, 5)] == [0, 1, 1, 2]
