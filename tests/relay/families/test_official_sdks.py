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
from relay.families.watching import BLANK_LINE
from tests.relay.families import test_chat, test_generate_content, test_messages, test_responses

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
