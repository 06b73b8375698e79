"""Upstreams that take no `stream_options`: asked once more without them, and remembered."""

import pytest

from billing.models import RelayedCall
from catalog.health import relay_reading
from catalog.models import ChannelHealth
from tests.relay.calling import Relay, chat, delta, last_delta
from tests.relay.upstreams import Talk, Upstream, answers, streams

pytestmark = pytest.mark.django_db(transaction=True)
REFUSES = {
    "OpenAI": {"error": {"message": "Unrecognized argument: stream_options", "param": "stream_options"}},
    "FastAPI": {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]},
    "a text": {"error": "unknown field stream_options"},
    "its only field": {"error": {"message": "include_usage is not supported", "type": "invalid_request_error"}},
    "another spelling": {"error": {"message": "unknown parameter streamOptions"}},
    "an old vLLM": {"object": "error", "message": "[{'loc': ('body', 'stream_options')}]", "code": 400},
}
BAD_REQUEST = "400 Bad Request"


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


class Choosy(Upstream):
    """Takes no `stream_options`; its streams tell no usage."""

    def __init__(self, body: dict = REFUSES["OpenAI"], status: str = BAD_REQUEST) -> None:
        super().__init__(self._answer)
        self._refuse = answers(body, status)
        self._stream = streams(delta("Hello there."), last_delta(), "[DONE]")

    async def _answer(self, talk: Talk) -> None:
        await (self._refuse if "stream_options" in self.bodies[-1] else self._stream)(talk)

    @property
    def heard(self) -> list[bool]:
        """Of each request, whether it had them."""
        return ["stream_options" in body for body in self.bodies]


@pytest.mark.parametrize("status", [BAD_REQUEST, "422 Unprocessable Entity", "501 Not Implemented"])
@pytest.mark.parametrize("body", REFUSES.values(), ids=REFUSES.keys())
def test_an_upstream_without_them_is_asked_once_more_and_then_never_with_them(relay, body, status) -> None:
    relay.channel(there := Choosy(body, status))
    for more in ({}, {"stream_options": {"include_usage": True}}):
        client = relay.call(chat(stream=True, **more))
        assert (client.status, client.body.endswith(b"data: [DONE]\n\n")) == (200, True)
    assert there.heard == [True, False, False]
    assert all(call.is_estimated and call.actual_micros > 0 for call in RelayedCall.objects.all())


def test_one_call_is_in_the_books_once(relay) -> None:
    relay.channel(Choosy())
    relay.call(chat(stream=True))
    assert [attempt["kind"] for attempt in RelayedCall.objects.get().attempts] == ["answered"]


def test_a_refusal_of_something_else_that_names_them_is_told_and_not_remembered(relay) -> None:
    relay.channel(there := Upstream(answers(REFUSES["OpenAI"], BAD_REQUEST)))
    client = relay.call(chat(stream=True))
    assert (client.status, client.error["param"], len(there.requests)) == (400, "stream_options", 2)
    relay.call(chat(stream=True))
    assert ["stream_options" in sent for sent in there.bodies] == [True, False, True, False]


def test_options_of_the_clients_own_that_are_refused_are_not_the_channels_fault(relay) -> None:
    relay.channel(there := Choosy())
    assert (
        relay.call(chat(stream=True, stream_options={"include_usage": True, "include_obfuscation": True})).status == 200
    )
    relay.call(chat(stream=True))
    assert there.heard == [True, False, True, False]


def test_a_channel_is_asked_with_them_again_once_that_is_forgotten(relay, monkeypatch) -> None:
    monkeypatch.setattr(relay_reading, "OPTIONS_SECONDS", 0)
    relay.channel(there := Choosy())
    relay.call(chat(stream=True))
    relay.call(chat(stream=True))
    assert there.heard == [True, False, True, False]


def test_a_whole_call_is_not_repeated(relay) -> None:
    relay.channel(there := Choosy())
    assert relay.call(chat(stream_options={"include_usage": True})).status == 400
    assert there.heard == [True]


def test_a_process_that_has_learned_nothing_knows_it_too(relay) -> None:
    relay.channel(there := Choosy())
    relay.call(chat(stream=True))
    relay_reading.forget()
    relay.call(chat(stream=True))
    assert there.heard == [True, False, False]


def test_a_channel_that_has_moved_is_asked_with_them(relay) -> None:
    relay.channel(there := Choosy())
    relay.call(chat(stream=True))
    ChannelHealth.objects.update(stream_options_refused_by="http://elsewhere.example/v1")
    relay_reading.forget()
    relay.call(chat(stream=True))
    assert there.heard == [True, False, True, False]
