"""What the vendors' own SDKs make of the events of a stream that were put together, and how odd events are."""

import json
import re
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google.genai.types import GenerateContentResponse
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.families.base import Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES
from relay.wire import json_documents, sse
from tests.relay.families.test_frames import ASKED, COMPLETION, MESSAGE, PATH, RESPONSE
from tests.relay.families.test_hostile_answers import EXAMPLES, FAMILIES, VALUES, WORDS

KINDS = (
    "response.completed",
    "response.failed",
    "response.output_item.done",
    "message_start",
    "message_delta",
    "content_block_start",
    "content_block_delta",
    "image_generation.completed",
)
JOINED = re.findall(
    r"\S+",
    """citation citations content_block function function_call id index logprobs object output_index partial_json
reasoning_content reasoning_details refusal signature thinking thought thoughtSignature tool_calls""",
)


def http(family: Family, *events: Any) -> httpx2.Client:
    """Answers every request with these events, put together."""
    content = json_documents.encode(family.joined(events))
    headers = {"content-type": "application/json"}
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=content, headers=headers))
    )


def openais(family: Family, *events: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url="https://relay.example/v1", http_client=http(family, *events))


def told(family: Family, document: Any) -> list[Any]:
    """The events of a whole answer."""
    said = (sse.data(frame) for frame in family.frames(document, ASKED, PATH))
    return [json.loads(event) for event in said if event and event != sse.DONE]


def delta(index: int = 0, **said: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "created": 1, "choices": [{"index": index, "delta": said, "finish_reason": None}]}


def joined(family: Family, *events: Any) -> dict[str, Any]:
    document = family.joined(events)
    assert document is not None
    return document


def test_openais_sdk_reads_chunks_that_were_put_together():
    logprobs = [{"token": "H", "logprob": -0.5, "bytes": [72], "top_logprobs": []}]
    said = delta(content="Hé")
    said["choices"][0]["logprobs"] = {"content": logprobs, "refusal": None}
    chunks = [
        delta(role="assistant", content=""),
        delta(1, role="assistant", tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]),
        said,
        delta(1, tool_calls=[{"index": 0, "function": {"arguments": '{"a": 1}'}}]),
        delta(reasoning_content="wh"),
        said,
        delta(reasoning_content="y"),
        {"choices": [{"index": index, "delta": {}, "finish_reason": "stop"} for index in (1, 0)]},
        {"choices": [], "usage": COMPLETION["usage"]},
    ]
    messages = [{"role": "user", "content": "hi"}]
    whole = openais(CHAT, *chunks).chat.completions.create(model="m", messages=messages, n=2)
    first, second = whole.choices
    assert (whole.object, whole.id, whole.model, whole.usage.completion_tokens) == ("chat.completion", "c", "m", 5)
    assert (first.index, first.message.content, first.message.reasoning_content) == (0, "HéHé", "why")
    assert [each.token for each in first.logprobs.content] == ["H", "H"]
    (call,) = second.message.tool_calls
    assert (second.index, second.finish_reason, second.message.content) == (1, "stop", None)
    assert (call.id, call.type, call.function.name, call.function.arguments) == ("a", "function", "f", '{"a": 1}')


def test_openais_sdk_reads_a_response_that_was_put_together():
    whole = openais(RESPONSES, *told(RESPONSES, RESPONSE)).responses.create(model="m", input="hi")
    assert (whole.output_text, whole.output[2].arguments, whole.usage.output_tokens) == ("Hé.", '{"a": 1}', 5)
    assert [item.type for item in whole.output] == ["reasoning", "message", "function_call"]


def test_anthropics_sdk_reads_a_message_that_was_put_together():
    client = anthropic.Anthropic(api_key="k", http_client=http(MESSAGES, *told(MESSAGES, MESSAGE)))
    whole = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    thinking, redacted, text, tool = whole.content
    assert (thinking.thinking, thinking.signature, redacted.data, text.text) == ("why", "s", "xyz", "Hé.")
    assert (tool.id, tool.name, tool.input, whole.stop_reason) == ("toolu_1", "f", {"a": 1}, "tool_use")
    assert (whole.usage.input_tokens, whole.usage.cache_read_input_tokens, whole.usage.output_tokens) == (10, 3, 5)


def part(*parts: dict[str, Any], index: int = 0, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"index": index, "content": {"role": "model", "parts": [*parts]}, **more}]}


def test_googles_sdk_reads_chunks_that_were_put_together():
    call = {"functionCall": {"name": "f", "args": {"a": 1}}}
    chunks = [
        part({"text": "wh", "thought": True}),
        part({"text": "y", "thought": True}),
        part({"text": "H"}),
        part({"text": "é."}, index=1),
        part({"text": "é."}, {"text": "", "thoughtSignature": "c2ln"}),
        part({"text": "!"}, call),
        {**part(finishReason="STOP", groundingMetadata={"webSearchQueries": ["x"]}), "modelVersion": "m"},
        {"usageMetadata": {"promptTokenCount": 10}},
        {"usageMetadata": {"candidatesTokenCount": 5, "promptTokenCount": 0}},
    ]
    document = joined(GENERATE_CONTENT, *chunks)
    whole = GenerateContentResponse.model_validate(document)
    first, second = whole.candidates
    assert [(each.text, each.thought) for each in first.content.parts[:3]] == [
        ("why", True),
        ("Hé.", None),
        ("!", None),
    ]
    assert (first.content.parts[1].thought_signature, whole.function_calls[0].args) == (b"sig", {"a": 1})
    assert (first.finish_reason, first.grounding_metadata.web_search_queries) == ("STOP", ["x"])
    assert (second.content.parts[0].text, whole.model_version) == ("é.", "m")
    assert (whole.usage_metadata.prompt_token_count, whole.usage_metadata.candidates_token_count) == (10, 5)


def test_openais_sdk_reads_pictures_that_were_put_together():
    usage = {"input_tokens": 10, "output_tokens": 50, "input_tokens_details": {"text_tokens": 10}}
    event = {"type": "image_edit.completed", "created_at": 7, "size": "1024x1024", "usage": usage}
    partial = {"type": "image_edit.partial_image", "b64_json": "CC", "partial_image_index": 0}
    events = [{**event, "b64_json": "AA"}, partial, {**event, "b64_json": "BB"}]
    whole = openais(IMAGES, *events).images.generate(model="m", prompt="p")
    assert ([each.b64_json for each in whole.data], whole.created, whole.size) == (["AA", "BB"], 7, "1024x1024")
    assert (whole.usage.output_tokens, whole.usage.input_tokens_details.text_tokens) == (100, 20)


@pytest.mark.parametrize(
    ("family", "document"),
    [(RESPONSES, RESPONSE), (MESSAGES, {**MESSAGE, "stop_sequence": "x"})],
    ids=["responses", "messages"],
)
def test_an_answer_that_became_events_becomes_itself_again(family, document):
    assert joined(family, *told(family, document)) == document


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        pytest.param(
            [[{"id": "a", "function": {"name": "f", "arguments": "{"}}], [{"function": {"arguments": "}"}}]],
            [("a", "f", "{}")],
            id="no index",
        ),
        pytest.param(
            [[{"function": {"name": "f", "arguments": "{}"}}], [{"function": {"name": "g", "arguments": "{}"}}]],
            [(None, "f", "{}"), (None, "g", "{}")],
            id="neither an index nor an id",
        ),
        pytest.param(
            [
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}],
                [{"index": 0, "id": "b", "function": {"name": "f", "arguments": "{}"}}],
            ],
            [("a", "f", "{}"), ("b", "f", "{}")],
            id="one index for all",
        ),
        pytest.param(
            [
                [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}],
                [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "}"}}],
                [{"index": 1, "id": "", "function": {"name": "g", "arguments": ""}}],
            ],
            [("a", "f", "{}"), ("", "g", "")],
            id="names again and again",
        ),
    ],
)
def test_calls_of_tools_are_told_apart(pieces, calls):
    document = joined(CHAT, *(delta(tool_calls=piece) for piece in pieces))
    found = document["choices"][0]["message"]["tool_calls"]
    assert [(each.get("id"), each["function"]["name"], each["function"]["arguments"]) for each in found] == calls


def test_thoughts_are_joined_by_their_kind():
    thought = {"type": "reasoning.text", "index": 0}
    hidden = {"type": "reasoning.encrypted", "index": 0, "data": "x"}
    pieces = [{**thought, "text": "wh"}, {**thought, "text": "y", "signature": "s"}, hidden]
    document = joined(CHAT, *(delta(reasoning_details=[piece]) for piece in pieces))
    assert document["choices"][0]["message"]["reasoning_details"] == [
        {**thought, "text": "why", "signature": "s"},
        hidden,
    ]


def test_a_message_that_a_last_chunk_repeats_is_told_once():
    last = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi.", "name": "x"}}]}
    message = joined(CHAT, delta(content="Hi."), last)["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "Hi.", "name": "x"}


def test_what_is_empty_takes_no_place_of_what_was_told():
    ended = {"id": "", "model": None, "choices": [{"index": 0, "delta": {"role": ""}, "finish_reason": "stop"}]}
    again = {"choices": [{"index": 0, "delta": {}, "finish_reason": ""}], "usage": None, "obfuscation": "x"}
    document = joined(CHAT, delta(role="assistant", content="x"), ended, again)
    assert document.keys() == {"id", "model", "created", "object", "choices"}
    assert (document["id"], document["model"]) == ("c", "m")
    assert document["choices"][0]["finish_reason"] == "stop"
    assert document["choices"][0]["message"] == {"role": "assistant", "content": "x"}


def test_arguments_that_were_cut_are_left_out():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": '}},
    ]
    assert joined(MESSAGES, *events)["content"] == [block]


def test_citations_belong_to_their_text():
    cited = {"type": "char_location", "cited_text": "x"}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": cited}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
    ]
    assert joined(MESSAGES, *events)["content"] == [{"type": "text", "text": "x", "citations": [cited]}]


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    """One of the dialects' own kinds, as often as not with fields that are looked for."""
    names = st.sampled_from([*WORDS, *JOINED])
    fields = draw(st.dictionaries(names, VALUES | st.lists(st.dictionaries(names, VALUES, max_size=6)), max_size=6))
    return {**fields, "type": draw(st.sampled_from(KINDS))} if draw(st.booleans()) else fields


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@settings(max_examples=EXAMPLES, deadline=None)
@given(told=st.lists(events(), max_size=6))
def test_any_events_are_put_together_without_harm(family: Family, told):
    document = family.joined(told)
    assert document is not None or not family.is_answer(document, ASKED)
    json.loads(json_documents.encode(document), parse_constant=pytest.fail)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_lies_deep_is_put_together_as_well(family: Family):
    deep = json.loads('{"delta":' * 900 + "7" + "}" * 900)
    lists = json.loads("[" * 900 + "]" * 900)
    for kind in KINDS:
        for value in (deep, lists, [deep]):
            names = ("choices", "candidates", "response", "message", "item", "delta", "content_block", "usage")
            family.joined([{"type": kind, **dict.fromkeys(names, value)}] * 2)


def test_parts_and_texts_of_one_message_are_all_there():
    thoughts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    whole = CHAT.joined([delta(content=thoughts), delta(content="a"), delta(content="b")])
    assert whole["choices"][0]["message"]["content"] == [*thoughts, {"type": "text", "text": "ab"}]


def test_a_response_that_ends_without_its_output_is_made_of_its_deltas():
    events = [
        {"type": "response.created", "response": {"id": "r", "output": []}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hel"},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "lo"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "name": "f"}},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{"},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "}"},
        {"type": "response.output_item.added", "output_index": 2, "item": {"type": "reasoning"}},
        {"type": "response.output_item.done", "output_index": 3, "item": {"type": "message", "id": "m"}},
        {"type": "response.completed", "response": {"id": "r", "output": []}},
    ]
    text = {"type": "output_text", "text": "Hello", "annotations": []}
    assert RESPONSES.joined(events)["output"] == [
        {"type": "message", "role": "assistant", "status": "completed", "content": [text]},
        {"type": "function_call", "name": "f", "status": "completed", "arguments": "{}"},
        {"type": "message", "id": "m"},
    ]
    assert (
        RESPONSES.joined([events[1] | {"output_index": None}, events[-1]])["output"][0]["content"][0]["text"] == "Hel"
    )
