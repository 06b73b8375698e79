"""What the vendors' own SDKs make of the frames that the readers leave, and of those that end a cut stream."""

import anthropic
import httpx2
import openai
import pytest
from anthropic.types import RawMessageStreamEvent
from google.genai import errors as google_errors
from google.genai._api_client import HttpResponse
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

from common.errors import UpstreamUnavailable
from relay.families.base import Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES
from relay.families.streams.reader import BLANK_LINE
from tests.relay.families import test_chat, test_generate_content, test_messages, test_responses
from tests.relay.families.asking import event

OPENAI, ANTHROPIC = openai.OpenAI(api_key="k"), anthropic.Anthropic(api_key="k")
CUT = UpstreamUnavailable()


def answer(content: bytes) -> httpx2.Response:
    return httpx2.Response(200, content=content, request=httpx2.Request("POST", "https://relay.example/"))


def read_by_openai(content: bytes, cast_to: type) -> list:
    return list(openai.Stream(cast_to=cast_to, response=answer(content), client=OPENAI))


def read_by_anthropic(content: bytes) -> list:
    return list(anthropic.Stream(cast_to=RawMessageStreamEvent, response=answer(content), client=ANTHROPIC))


def read_by_google(content: bytes) -> list:
    response = HttpResponse({}, response_stream=answer(content))
    segments = list(response.segments())
    for segment in segments:
        if next(iter(segment)) == "error":  # as its client's request_streamed does
            google_errors.APIError.raise_error(segment["error"]["code"], segment, response)
    return segments


@pytest.mark.parametrize(
    ("family", "kind"), [(CHAT, ChatCompletionChunk), (RESPONSES, ResponseStreamEvent), (IMAGES, dict)]
)
def test_openais_sdk_raises_where_a_stream_is_cut(family: Family, kind):
    with pytest.raises(openai.APIError, match="temporarily unavailable"):
        read_by_openai(BLANK_LINE + family.error_frame(CUT), kind)


def test_anthropics_sdk_raises_where_a_stream_is_cut():
    with pytest.raises(anthropic.APIStatusError, match="temporarily unavailable"):
        read_by_anthropic(BLANK_LINE + test_messages.START + MESSAGES.error_frame(CUT))


def test_googles_sdk_raises_where_a_stream_is_cut():
    with pytest.raises(google_errors.ServerError, match="temporarily unavailable") as raised:
        read_by_google(BLANK_LINE + GENERATE_CONTENT.error_frame(CUT))
    assert (raised.value.code, raised.value.status) == (503, "UNAVAILABLE")


def test_openais_sdk_reads_chunks_that_were_put_right():
    reader = CHAT.stream(test_chat.asked(stream=True, stream_options={"include_usage": True}), "m")
    frames = [
        *(b"data: %s\n\n" % said for said in (b"", b"ping", b"[]", b"7", b'"x"', b"null")),
        b'event: ping\ndata: {"type": "ping"}\n\n',
        event({"choices": [{"index": 0, "delta": None, "finish_reason": None}]}),
        b'data:{"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n',
        event({"choices": [{"index": 0, "finish_reason": "stop"}]}),
        event({"usage": test_chat.TOLD}),
        test_chat.DONE,
    ]
    chunks = read_by_openai(b"".join(map(reader.take, frames)), ChatCompletionChunk)
    said = [choice.delta.content for chunk in chunks for choice in chunk.choices]
    assert (reader.error, said, chunks[-1].usage.completion_tokens) == (None, [None, "x", None], 20)


@pytest.mark.parametrize("named", [b"", b"event: message\n", b"event:\n", b"id: 7\n"])
def test_anthropics_sdk_reads_events_that_were_not_named(named):
    reader = MESSAGES.stream(test_messages.asked(stream=True), "m")
    whole = [test_messages.START, test_messages.delta(type="text_delta", text="x"), test_messages.STOP]
    frames = [named + frame[frame.index(b"data:") :] for frame in whole]
    events = read_by_anthropic(b"".join(map(reader.take, [*frames[:2], b"data: [DONE]\n\n", frames[2]])))
    assert [event.type for event in events] == ["message_start", "content_block_delta", "message_stop"]


@pytest.mark.parametrize("before", [b"", b"event: message\n", b"id: 7\nretry: 5\n", b": alive\r\n"])
@pytest.mark.parametrize("blank", [b"", b" "])
def test_googles_sdk_reads_chunks_in_any_framing(before, blank):
    reader = GENERATE_CONTENT.stream(test_generate_content.streamed(), "m")
    said = test_generate_content.chunk("x").removeprefix(b"data: ")
    frames = [before + b"data:" + blank + said, b"data: [DONE]\n\n", b"event: ping\n\n"]
    [segment] = read_by_google(b"".join(map(reader.take, frames)))
    assert segment["candidates"][0]["content"]["parts"] == [{"text": "x"}]


def test_a_frame_that_is_as_it_should_be_stays_as_it_came():
    google = b'data: {"candidates" : [{"content": {}}]}\r\n\r\n'
    assert GENERATE_CONTENT.stream(test_generate_content.streamed(), "m").take(google) == google
    chat = b'data:  {"choices" : [{"delta": {"content" :"x"}}]}\n\n'
    assert CHAT.stream(test_chat.asked(stream=True), "m").take(chat) == chat
    said = test_messages.delta(type="text_delta", text="x")
    assert MESSAGES.stream(test_messages.asked(stream=True), "m").take(said) == said


def test_every_sdk_reads_the_frames_that_are_left():
    chat = CHAT.stream(test_chat.asked(stream=True), "up")
    frames = [b": PROCESSING\r\n\r\n", test_chat.chunk("hé"), test_chat.END, test_chat.USAGE, test_chat.DONE]
    chunks = read_by_openai(b"".join(map(chat.take, frames)), ChatCompletionChunk)
    assert [(chunk.model, chunk.usage) for chunk in chunks] == [("m", None)] * 2

    responses = RESPONSES.stream(test_responses.asked(stream=True), "up")
    [created] = read_by_openai(responses.take(test_responses.CREATED), ResponseStreamEvent)
    assert created.response.model == "m"

    messages = MESSAGES.stream(test_messages.asked(stream=True), "up")
    frames = [b"\n", test_messages.START, test_messages.ended(output_tokens=3), test_messages.STOP]
    events = read_by_anthropic(b"".join(map(messages.take, frames)))
    assert [event.type for event in events] == ["message_start", "message_delta", "message_stop"]
    assert events[0].message.model == "m"

    google = GENERATE_CONTENT.stream(test_generate_content.streamed(), "up")
    frames = [b": heartbeat\n\n", test_generate_content.chunk("hé").replace(b"\n", b"\r\n"), b"\r\n"]
    [segment] = read_by_google(b"".join(map(google.take, frames)))
    assert segment["modelVersion"] == "m"
