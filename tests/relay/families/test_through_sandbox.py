"""Each dialect against a provider that speaks it: what the family sends is understood, and what comes back is read."""

import json
from collections.abc import Iterator

import pytest
import requests

from adapters.base import ErrorKind
from relay.families.base import CallPath, Endpoint, StreamReader
from relay.families.registry import find_family
from relay.wire.sse import Frames
from sandbox.server import Sandbox
from tools.children import PATIENCE

MESSAGE = [{"role": "user", "content": "{}"}]
GOOGLE = {"contents": [{"role": "user", "parts": [{"text": "{}"}]}]}
# Path, path and query of a stream, base, platform, body.
SPOKEN = {
    "chat": ("/v1/chat/completions", "", "/openai/v1", "openai", {"model": "m", "messages": MESSAGE}),
    "responses": ("/v1/responses", "", "/openai/v1", "openai", {"model": "m", "input": "{}"}),
    "messages": ("/v1/messages", "", "/anthropic", "anthropic", {"model": "m", "max_tokens": 99, "messages": MESSAGE}),
    "generate_content": (
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "/gemini",
        "gemini",
        GOOGLE,
    ),
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Asked:
    """One call as the relay makes it, to a model that has another name there."""

    def __init__(self, provider: Sandbox, dialect: str, prompt: str, *, is_stream: bool) -> None:
        path, stream_path, base, platform, body = SPOKEN[dialect]
        path, _, query = (stream_path if is_stream and stream_path else path).partition("?")
        self.family, called = find_family("POST", path)
        called = CallPath(path=path, model=called.model, verb=called.verb, query=query)
        more = {"stream": True} if is_stream and not stream_path else {}
        raw = json.dumps(body | more).replace("{}", prompt).encode()
        document = self.family.document(raw, called)
        self.call = self.family.read(document, raw, called)
        endpoint = Endpoint(
            platform=platform, base_url=provider.url + base, credentials={"api_key": "any"}, upstream_model="up"
        )
        self.answer = requests.post(
            self.family.url(endpoint, called, self.call),
            data=self.family.body(document, raw, self.call, "up"),
            headers=self.family.headers(endpoint, {}),
            timeout=PATIENCE,
        )


@pytest.mark.parametrize("dialect", SPOKEN)
def test_a_stream_tells_what_a_whole_answer_does(provider, dialect):
    prompt = "a fox in snow [thinking=2] [cached=1]"
    whole = Asked(provider, dialect, prompt, is_stream=False)
    usage = whole.family.usage(whole.answer.json(), whole.call)
    assert usage.input_tokens > 0 < usage.output_tokens
    assert b'"m"' in whole.family.shown(whole.answer.content, whole.call, "up")
    assert whole.family.delivered(whole.answer.json(), whole.call).output_bytes >= len("a fox in snow")

    asked = Asked(provider, dialect, prompt, is_stream=True)
    reader, frames = asked.family.stream(asked.call, "up"), Frames()
    shown = b"".join(map(reader.take, frames.feed(asked.answer.content)))
    assert (reader.usage, reader.can_end, frames.rest()) == (usage, True, b"")
    assert b'"up"' in asked.answer.content
    assert b'"up"' not in shown
    assert reader.delivered.output_bytes >= len("a fox in snow")


def last_reader(provider: Sandbox, dialect: str, prompt: str) -> StreamReader:
    """As the stream has left it."""
    asked = Asked(provider, dialect, prompt, is_stream=True)
    reader = asked.family.stream(asked.call, "up")
    for frame in Frames().feed(asked.answer.content):
        reader.take(frame)
    return reader


@pytest.mark.parametrize("dialect", SPOKEN)
def test_a_stream_that_is_cut_or_fails_has_no_proper_end(provider, dialect):
    cut = last_reader(provider, dialect, "a fox in snow [cut]")
    assert (cut.can_end, cut.error) == (False, None)
    first = last_reader(provider, dialect, "a fox [error-first]")
    assert (first.error.kind, first.can_end, first.usage) == (ErrorKind.OVERLOADED, False, None)
    middle = last_reader(provider, dialect, "a fox in snow [stream:overloaded]")
    assert (middle.error.kind, middle.can_end) == (ErrorKind.OVERLOADED, False)


@pytest.mark.parametrize("dialect", SPOKEN)
def test_a_refusal_is_classified(provider, dialect):
    for word, kind in (("overloaded", ErrorKind.OVERLOADED), ("rate-limited", ErrorKind.RATE_LIMITED)):
        refused = Asked(provider, dialect, f"a fox [{word}]", is_stream=True)
        answer = refused.answer
        assert refused.family.refusal(answer.status_code, answer.headers, answer.content).kind is kind
