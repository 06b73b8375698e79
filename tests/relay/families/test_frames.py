"""What the vendors' own SDKs make of a whole answer that comes as the stream for which it was asked."""

import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai.types import GenerateContentResponse

from relay.families.base import AskedCall, CallPath, Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES
from tests.relay.families.asking import taken
from tests.relay.families.test_official_sdks import read_by_google

ASKED = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1, images=2)
SILENT = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1, shows_usage=False)
PATH = CallPath(path="/v1/images/generations")
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
COMPLETION = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hé."}},
        {"index": 1, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [CALL]}},
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


def http(family: Family, document: Any, path: str = PATH.path) -> httpx2.Client:
    """Answers every request with the frames of a whole answer."""
    content = b"".join(family.frames(document, ASKED, CallPath(path=path)))
    headers = {"content-type": "text/event-stream"}
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=content, headers=headers))
    )


def openais(family: Family, document: Any, path: str = PATH.path) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url="https://relay.example/v1", http_client=http(family, document, path))


def test_a_completion_becomes_chunks():
    said = [{"role": "user", "content": "hi"}]
    with openais(CHAT, COMPLETION).chat.completions.stream(model="m", messages=said, n=2) as stream:
        whole = stream.get_final_completion()
    first, second = whole.choices
    assert (whole.id, whole.model, whole.created) == ("c", "m", 1)
    assert (first.message.content, first.finish_reason) == ("Hé.", "stop")
    assert second.message.tool_calls[0].function.arguments == '{"a": 1}'
    assert (second.finish_reason, whole.usage.completion_tokens) == ("tool_calls", 5)


def test_neither_a_usage_nor_a_reason_is_made_up():
    frames = CHAT.frames(COMPLETION, SILENT, PATH)
    assert frames[-1] == b"data: [DONE]\n\n"
    assert b"".join(frames).count(b'"usage"') == 0
    assert b"".join(CHAT.frames({**COMPLETION, "choices": [{"finish_reason": ""}]}, ASKED, PATH)).count(b'"stop"') == 0


RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1,
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}]},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [
                {"type": "output_text", "text": "Hé.", "annotations": []},
                {"type": "refusal", "refusal": "no"},
            ],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"a": 1}'},
    ],
    "usage": {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    },
}


def test_a_response_becomes_its_events():
    names = [frame.partition(b"\n")[0].decode() for frame in RESPONSES.frames(RESPONSE, ASKED, PATH)]
    events = list(openais(RESPONSES, RESPONSE).responses.create(model="m", input="hi", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert names == [f"event: {event.type}" for event in events]
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "content_part.added",
        "refusal.delta",
        "refusal.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    with openais(RESPONSES, RESPONSE).responses.stream(model="m", input="hi") as stream:
        whole = stream.get_final_response()
    assert (whole.output_text, whole.output[2].arguments, whole.usage.output_tokens) == ("Hé.", '{"a": 1}', 5)


@pytest.mark.parametrize(("status", "end"), [("incomplete", "response.incomplete"), (None, "response.completed")])
def test_a_response_ends_as_it_did(status, end):
    frames = RESPONSES.frames(
        {"status": status, "output": [{"type": "x"}, {"type": "message", "content": [{}]}]}, ASKED, PATH
    )
    assert json.loads(frames[-1].partition(b"data: ")[2])["type"] == end


MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "why", "signature": "s"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "Hé.", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 3, "output_tokens": 5},
}


def test_a_message_becomes_its_events():
    client = anthropic.Anthropic(api_key="k", http_client=http(MESSAGES, MESSAGE))
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as stream:
        snapshot = stream.get_final_message()
    assert [block.type for block in snapshot.content] == ["thinking", "redacted_thinking", "text", "tool_use"]
    thinking, redacted, text, tool = snapshot.content
    assert (thinking.thinking, thinking.signature, redacted.data, text.text) == ("why", "s", "xyz", "Hé.")
    assert (tool.input, snapshot.stop_reason) == ({"a": 1}, "tool_use")
    assert (snapshot.usage.input_tokens, snapshot.usage.cache_read_input_tokens, snapshot.usage.output_tokens) == (
        10,
        3,
        5,
    )


def test_googles_answer_becomes_one_chunk_and_an_array_of_chunks_several():
    chunk = {"candidates": [{"content": {"parts": [{"text": "Hé."}]}, "finishReason": "STOP"}], "modelVersion": "up"}
    [segment] = read_by_google(b"".join(GENERATE_CONTENT.frames(chunk, ASKED, PATH)))
    assert GenerateContentResponse.model_validate(segment).text == "Hé."
    told = {"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}
    assert GENERATE_CONTENT.is_answer([chunk, told], ASKED)
    assert GENERATE_CONTENT.usage([chunk, told], ASKED).output_tokens == 5
    assert GENERATE_CONTENT.delivered([chunk, chunk], ASKED).output_bytes == 8
    first, second = read_by_google(b"".join(GENERATE_CONTENT.frames([chunk, told], ASKED, PATH)))
    assert (first["modelVersion"], second["usageMetadata"]["promptTokenCount"]) == ("m", 10)


@pytest.mark.parametrize(("path", "kind"), [("generations", "image_generation"), ("edits", "image_edit")])
def test_pictures_become_completed_events(path, kind):
    usage = {"input_tokens": 10, "output_tokens": 50, "total_tokens": 60}
    document = {"created": 7, "data": [{"b64_json": "AA"}, {"b64_json": "BB"}], "size": "1024x1024", "usage": usage}
    images = openais(IMAGES, document, f"/v1/images/{path}").images
    if path == "edits":
        events = list(images.edit(model="m", prompt="p", image=b"x", n=2, stream=True))
    else:
        events = list(images.generate(model="m", prompt="p", n=2, stream=True))
    assert [(event.type, event.b64_json) for event in events] == [
        (f"{kind}.completed", "AA"),
        (f"{kind}.completed", "BB"),
    ]
    assert (events[0].created_at, events[1].size, events[1].usage.output_tokens) == (7, "1024x1024", 50)


@pytest.mark.parametrize(
    ("family", "document"),
    [(CHAT, COMPLETION), (RESPONSES, RESPONSE), (MESSAGES, MESSAGE)],
    ids=["chat", "responses", "messages"],
)
def test_the_frames_tell_what_the_answer_does(family, document):
    reader = family.stream(ASKED, "m")
    taken(reader, *family.frames(document, ASKED, PATH))
    assert (reader.usage, reader.can_end, reader.error) == (family.usage(document, ASKED), True, None)
