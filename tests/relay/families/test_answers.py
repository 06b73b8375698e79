"""Which bodies with a status of success are answers, and what they have brought, whole and in a stream."""

from typing import Any

import pytest

from adapters.base import ErrorKind
from relay.families.base import AskedCall, Delivered, Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES
from tests.relay.families.asking import event, taken

ASKED = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1, images=2)
COUNTING = AskedCall(model="m", is_stream=False, input_bound=1, input_estimate=1, is_free=True)
FAMILIES = {
    CHAT: ("choices", {"usage": {"prompt_tokens": 1}}),
    RESPONSES: ("output", {"usage": {"input_tokens": 1}}),
    MESSAGES: ("content", {"usage": {"input_tokens": 1}}),
    GENERATE_CONTENT: ("candidates", {"usageMetadata": {"promptTokenCount": 1}}),
    IMAGES: ("data", {"usage": {"input_tokens": 1}}),
}

ITEMS: dict[Family, dict[str, Any]] = {
    CHAT: {"message": {"content": ""}},
    RESPONSES: {"type": "message"},
    MESSAGES: {"type": "text"},
    GENERATE_CONTENT: {"finishReason": "SAFETY"},
    IMAGES: {"url": "https://x.example/1"},
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_an_answer_has_something_in_its_dialects_list_or_a_usage(family: Family):
    member, used = FAMILIES[family]
    for document in ({member: [ITEMS[family]]}, {member: [ITEMS[family]], "code": 0}, {member: [], **used}, used):
        assert family.is_answer(document, ASKED), document
    zeros = {name: dict.fromkeys(usage, 0) for name, usage in used.items()}
    failures = (
        {},
        {member: None},
        {member: []},
        {member: [], **zeros},
        {member: [{}]},
        {member: {}, **zeros},
        {member: "x"},
        {"code": 429, "msg": "busy", "success": False},
        {"error": "x"},
        [],
        None,
        7,
    )
    for document in failures:
        assert not family.is_answer(document, ASKED), document


def test_a_response_that_has_failed_is_an_answer_only_with_its_usage():
    for status in ("failed", "cancelled"):
        failed = {"status": status, "output": [{"type": "message"}]}
        assert not RESPONSES.is_answer(failed, ASKED)
        assert RESPONSES.is_answer({**failed, "usage": {"input_tokens": 3}}, ASKED)
    for status in ("in_progress", "queued"):
        assert not RESPONSES.is_answer({"status": status, "output": []}, ASKED)


def test_a_prompt_that_google_blocks_is_answered():
    assert GENERATE_CONTENT.is_answer({"promptFeedback": {"blockReason": "SAFETY"}}, ASKED)
    assert not GENERATE_CONTENT.is_answer({"promptFeedback": {}}, ASKED)


def test_counted_tokens_are_an_answer():
    assert MESSAGES.is_answer({"input_tokens": 0}, COUNTING)
    assert GENERATE_CONTENT.is_answer({"totalTokens": 7}, COUNTING)
    for document in ({}, {"input_tokens": None, "totalTokens": "7"}, {"content": [], "candidates": []}):
        assert not MESSAGES.is_answer(document, COUNTING)
        assert not GENERATE_CONTENT.is_answer(document, COUNTING)


PICTURE = "iVBORw0KGgo" * 10_000
SHOWN: list[tuple[Family, Any, list[Any], Delivered]] = [
    (
        CHAT,
        {"choices": [{"message": {"content": "é", "reasoning_content": "abc", "refusal": "no"}}]},
        [{"choices": [{"delta": {"content": "é", "reasoning_content": "abc", "refusal": "no"}}]}],
        Delivered(output_bytes=7),
    ),
    (
        CHAT,
        {
            "choices": [
                {"message": {"tool_calls": [{"function": {"arguments": '{"a": 1}'}}, {"custom": {"input": "b"}}]}}
            ]
        },
        [
            {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": '{"a"'}}]}}]},
            {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": ": 1}"}}, {"custom": {"input": "b"}}]}}]},
        ],
        Delivered(output_bytes=9),
    ),
    (
        CHAT,
        {"choices": [{"message": {"content": "", "images": [{"image_url": {"url": PICTURE}}, {"image_url": {}}]}}]},
        [
            {"choices": [{"delta": {"images": [{"image_url": {"url": PICTURE}}]}}]},
            {"choices": [{"delta": {"images": 5}}]},
        ],
        Delivered(pictures=1),
    ),
    (
        CHAT,
        {
            "choices": [
                {
                    "message": {
                        "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}]
                    }
                }
            ]
        },
        [{"choices": [{"delta": {"content": [{"type": "image_url", "image_url": {"url": "https://x.example/1"}}]}}]}],
        Delivered(pictures=1),
    ),
    (
        GENERATE_CONTENT,
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"inline_data": {"mime_type": "image/png", "data": PICTURE}},
                            {"fileData": {"mimeType": "image/png", "fileUri": "https://x.example/1"}},
                            {"file_data": {"mime_type": "image/png", "file_uri": "gs://bucket/1"}},
                            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.example/2"}},
                        ]
                    }
                }
            ]
        },
        [],
        Delivered(pictures=3),
    ),
    (
        RESPONSES,
        {
            "output": [
                {"type": "reasoning", "summary": [{"text": "why"}], "encrypted_content": "gAAA"},
                {"type": "message", "content": [{"text": "hé"}, {"refusal": "no"}]},
                {"type": "function_call", "arguments": "{}"},
                {"type": "image_generation_call", "result": PICTURE},
                {"type": "image_generation_call", "result": None},
            ]
        },
        [
            {"type": "response.reasoning_summary_text.delta", "delta": "why"},
            {"type": "response.output_item.done", "item": {"type": "reasoning", "encrypted_content": "gAAA"}},
            {"type": "response.output_text.delta", "delta": "hé"},
            {"type": "response.refusal.delta", "delta": "no"},
            {"type": "response.output_item.done", "item": {"content": [{"text": "hé"}, {"refusal": "no"}]}},
            {"type": "response.function_call_arguments.delta", "delta": "{}"},
            {"type": "response.output_item.done", "item": {"type": "image_generation_call", "result": PICTURE}},
        ],
        Delivered(output_bytes=14, pictures=1),
    ),
    (
        RESPONSES,
        {"output": [{"content": [{"text": "all at once"}]}]},
        [{"type": "response.completed", "response": {"output": [{"content": [{"text": "all at once"}]}]}}],
        Delivered(output_bytes=11),
    ),
    (
        MESSAGES,
        {
            "content": [
                {"type": "thinking", "thinking": "why", "signature": "abcd"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "hé"},
                {"type": "tool_use", "input": {"a": "bc"}},
            ]
        },
        [
            {"type": "content_block_delta", "delta": {"thinking": "why"}},
            {"type": "content_block_delta", "delta": {"signature": "abcd"}},
            {"type": "content_block_start", "content_block": {"type": "redacted_thinking", "data": "xyz"}},
            {"type": "content_block_delta", "delta": {"text": "hé"}},
            {"type": "content_block_start", "content_block": {"type": "tool_use", "input": {}}},
            {"type": "content_block_delta", "delta": {"partial_json": "abc"}},
        ],
        Delivered(output_bytes=16),
    ),
    (
        MESSAGES,
        {"content": [{"type": "tool_use", "input": {"a": "bc"}}]},
        [{"type": "content_block_start", "content_block": {"type": "tool_use", "input": {"a": "bc"}}}],
        Delivered(output_bytes=3),
    ),
    (
        GENERATE_CONTENT,
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "hé", "thought": True},
                            {"functionCall": {"name": "f", "args": {"a": "bc"}}, "thoughtSignature": "wxyz"},
                            {"executableCode": {"code": "1+1"}},
                            {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
                            {"inlineData": {"mimeType": "image/png", "data": ""}},
                            {"inlineData": {"mimeType": "audio/wav", "data": "AA"}},
                        ]
                    },
                    "groundingMetadata": {"groundingSupports": [{"segment": {"text": "what was said, again"}}]},
                }
            ]
        },
        [],
        Delivered(output_bytes=13, pictures=1, sound_bytes=2),
    ),
]


TWINS: list[tuple[dict[str, Any], int]] = [
    ({"reasoning": "why not", "reasoning_content": "why not", "content": "no"}, 9),
    ({"reasoning": "why", "reasoning_details": [{"type": "reasoning.text", "text": "why"}], "content": "no"}, 5),
    ({"reasoning": None, "reasoning_details": [{"type": "reasoning.summary", "summary": "why"}], "content": "no"}, 5),
    ({"reasoning": "why", "reasoning_details": [{"type": "reasoning.encrypted", "data": "gAAAAA"}]}, 6),
    ({"content": [{"type": "text", "text": "no"}], "reasoning": "why"}, 5),
    ({"reasoning_content": "why", "thinking_blocks": [{"type": "thinking", "thinking": "why", "signature": "s"}]}, 3),
    ({"thinking": "why", "content": "no"}, 5),
    ({"thinking_blocks": [{"type": "thinking", "thinking": "why"}]}, 3),
]


@pytest.mark.parametrize(("said", "size"), TWINS)
def test_thoughts_under_several_names_count_once(said, size):
    assert CHAT.delivered({"choices": [{"message": said}]}, ASKED).output_bytes == size
    reader = CHAT.stream(ASKED, "m")
    taken(reader, event({"choices": [{"delta": said}]}))
    assert reader.delivered.output_bytes == size


def test_a_text_beside_the_message_counts_once():
    assert CHAT.delivered({"choices": [{"text": "hello", "message": {"content": "hello"}}]}, ASKED).output_bytes == 5
    assert CHAT.delivered({"choices": [{"text": "hello"}]}, ASKED).output_bytes == 5
    reader = CHAT.stream(ASKED, "m")
    taken(reader, event({"choices": [{"text": "hello", "delta": {"content": "hello"}}]}))
    assert reader.delivered.output_bytes == 5


def test_a_message_that_a_last_chunk_repeats_counts_once():
    chunks = [{"choices": [{"delta": {"content": text}}]} for text in ("hel", "lo")]
    last = {"choices": [{"delta": {}, "message": {"content": "hello", "reasoning": None}, "finish_reason": "stop"}]}
    for begun, size in ((chunks, 5), (chunks[:1], 5)):
        reader = CHAT.stream(ASKED, "m")
        taken(reader, *map(event, [*begun, last]))
        assert reader.delivered.output_bytes == size


SAID = "hello" * 200
PART = {"type": "output_text", "text": SAID}
DONE: list[dict[str, Any]] = [
    {"type": "response.output_text.done", "text": SAID},
    {"type": "response.content_part.done", "part": PART},
    {"type": "response.output_item.done", "item": {"type": "message", "content": [PART]}},
]


@pytest.mark.parametrize("deltas", [0, 1, 2])
@pytest.mark.parametrize("done", [DONE, DONE[:1], DONE[1:2], DONE[2:], DONE[1:]])
def test_texts_that_are_only_done_count_once(done, deltas):
    begun = [{"type": "response.output_text.delta", "delta": SAID[:500]}, {"type": "x.delta", "delta": SAID[500:]}]
    reader = RESPONSES.stream(ASKED, "m")
    taken(reader, *map(event, [*begun[:deltas], *done]))
    assert reader.delivered.output_bytes == 1000


def test_each_part_and_item_that_is_done_counts():
    item = {"type": "response.output_item.done", "item": {"type": "message", "content": [PART, PART]}}
    call = {"type": "response.function_call_arguments.done", "arguments": "{}"}
    called = {"type": "response.output_item.done", "item": {"type": "function_call", "arguments": "{}"}}
    reader = RESPONSES.stream(ASKED, "m")
    taken(reader, *map(event, [*DONE[:2], *DONE[:2], item, call, called, DONE[0], item]))
    assert reader.delivered.output_bytes == 4002


@pytest.mark.parametrize(("family", "whole", "chunks", "delivered"), SHOWN)
def test_all_that_an_answer_shows_or_hides_is_delivered(family, whole, chunks, delivered):
    assert family.delivered(whole, ASKED) == delivered
    reader = family.stream(ASKED, "m")
    taken(reader, *map(event, chunks or [whole]))
    assert reader.delivered == delivered


def test_an_event_that_is_named_an_error_is_one():
    for said, kind in (({"code": "Throttling", "status": 429}, ErrorKind.RATE_LIMITED), ({}, ErrorKind.AMBIGUOUS)):
        reader = CHAT.stream(ASKED, "m")
        first = event({"choices": [{"delta": {"content": "event: error"}}]})
        assert taken(reader, first, event(said, "error")) == [first, b""]
        assert (reader.error.kind, reader.can_end) == (kind, False)


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"ping",
        b"null",
        b"OPENROUTER PROCESSING",
        b'{"choices": null, "usage": null}',
        b'{"id": "c", "object": "chat.completion.chunk"}',
        b'{"type": "ping"}',
    ],
)
def test_data_that_says_nothing_is_a_sign_of_life_wherever_it_stands(data):
    reader = CHAT.stream(ASKED, "m")
    said = event({"choices": [{"delta": {"content": "a"}}]})
    assert taken(reader, b"data: " + data + b"\n\n", said, b"data: " + data + b"\n\n") == [b"\n", said, b"\n"]
    assert (reader.error, reader.has_begun, reader.can_end) == (None, True, False)


@pytest.mark.parametrize("data", [b"Internal Server Error: boom", b'"error: too busy"', b"ERROR", b"error=5"])
@pytest.mark.parametrize("family", [CHAT, RESPONSES, MESSAGES, GENERATE_CONTENT])
def test_an_error_in_bare_words_is_none(family, data):
    reader = family.stream(ASKED, "m")
    assert taken(reader, b"data: " + data + b"\n\n", b"data: [DONE]\n\n") == [b"", b""]
    assert (reader.error.kind, reader.can_end) == (ErrorKind.AMBIGUOUS, False)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        ({"code": 429, "msg": "busy", "success": False}, ErrorKind.RATE_LIMITED),
        ({"success": False, "message": "no"}, ErrorKind.AMBIGUOUS),
        ({"status": "503", "detail": "x"}, ErrorKind.AMBIGUOUS),
        ({"code": 500}, ErrorKind.AMBIGUOUS),
        ({"choices": [{"delta": {}}], "code": 429}, None),
        ({"code": 4290}, ErrorKind.AMBIGUOUS),
        ({"choices": None, "code": 503}, ErrorKind.AMBIGUOUS),
        ({"choices": None, "error": "x"}, ErrorKind.AMBIGUOUS),
        ({"code": "Throttling", "message": "x"}, ErrorKind.RATE_LIMITED),
        ({"base_resp": {"status_code": 1000}}, ErrorKind.AMBIGUOUS),
        ({"detail": "x"}, ErrorKind.AMBIGUOUS),
        ({"object": "error", "message": "x", "code": 500}, ErrorKind.AMBIGUOUS),
        ({"type": "message_start", "message": {}}, ErrorKind.AMBIGUOUS),
    ],
)
def test_an_event_in_another_shape_is_an_error_wherever_it_stands(frame, kind):
    reader = CHAT.stream(ASKED, "m")
    assert taken(reader, event(frame)) == [b"" if kind else event(frame)]
    assert (reader.error and reader.error.kind) == kind
    later = CHAT.stream(ASKED, "m")
    taken(later, event({"choices": [{"delta": {"content": "a"}}]}), event(frame))
    assert (later.error and later.error.kind) == kind


@pytest.mark.parametrize("size", [4_000, 300_000])
def test_sound_that_was_delivered_is_counted_whole_and_in_a_stream(size):
    data = "A" * size
    audio = {"id": "a", "data": data, "transcript": "hey"}
    assert CHAT.delivered({"choices": [{"message": {"audio": audio}}]}, ASKED).sound_bytes == size
    reader = CHAT.stream(ASKED, "m")
    taken(reader, event({"choices": [{"delta": {"audio": audio}}]}), event({"choices": [{"delta": {"content": "x"}}]}))
    assert reader.delivered.sound_bytes == size
    parts = [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}]
    answer = {"candidates": [{"content": {"parts": parts}}]}
    assert GENERATE_CONTENT.delivered(answer, ASKED).sound_bytes == size
    reader = GENERATE_CONTENT.stream(ASKED, "m")
    taken(reader, event(answer))
    assert (reader.delivered.sound_bytes, reader.delivered.pictures) == (size, 0)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a.py", "diff": "x" * 400}},
        {"type": "local_shell_call", "action": {"type": "exec", "command": ["x" * 400], "env": {}}},
        {"type": "shell_call", "action": {"commands": ["x" * 400]}},
    ],
)
def test_what_a_response_asks_of_an_agents_tools_is_written_by_the_model(item):
    assert 400 <= RESPONSES.delivered({"output": [item]}, ASKED).output_bytes < 500
    reader = RESPONSES.stream(ASKED, "m")
    taken(reader, event({"type": "response.output_item.done", "output_index": 0, "item": item}))
    assert 400 <= reader.delivered.output_bytes < 500
