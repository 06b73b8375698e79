"""Whatever an upstream tells of its usage, and however its answer ends: a call costs at least nothing and at most what
was held for it, its client never reads a 500, and the operator is told where a usage was not taken as it was."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account
from billing import budgets
from billing.models import RelayedCall
from tests.relay.calling import CHAT, Client, Relay, chat, completion, delta, last_delta
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, answers, head

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

PRICES = {
    "*": {
        "input": 2,
        "output": 8,
        "cached_input": 0.2,
        "cache_write": 3,
        "cache_write_1h": 4,
        "image_output": 40,
        "long_context": {"above": 1000, "input": 4, "output": 12},
        "max_output_tokens": 100,
    }
}
WHOLE, CUT, LEFT = "whole", "cut", "left"
# How a call is asked and answered: the last are events that come to a request for a whole answer.
WAYS = IS_WHOLE, IS_STREAM, IS_EVENTS = "whole", "stream", "events"
MOMENTS = BEFORE_HEAD, AFTER_HEAD, MIDDLE, LAST = "before the head", "after the head", "in the middle", "at the end"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one dialect asks and answers; `told` puts a usage into its last event, and into a whole answer."""

    platform: str
    path: str
    asked: dict[str, Any]
    answer: dict[str, Any]
    usage: str
    events: tuple[Any, ...]
    last: Callable[[Any], tuple[Any, ...]]
    stream_path: str = ""
    streams: dict[str, Any] = field(default_factory=lambda: {"stream": True})

    def request(self, way: str) -> tuple[dict[str, Any], str]:
        """Its body and its path."""
        if way != IS_STREAM:
            return self.asked, self.path
        return {**self.asked, **self.streams}, self.stream_path or self.path


RESPONSE = {"id": "r", "object": "response", "model": "gpt-5", "status": "completed"}
OUTPUT = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}]
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "gpt-5",
    "content": [{"type": "text", "text": "Hi."}],
}
PARTS = {"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}
DIALECTS = {
    "chat": Dialect(
        platform="openai",
        path=CHAT,
        asked=chat(),
        answer=completion(),
        usage="usage",
        events=(delta("Hi."), last_delta()),
        last=lambda usage: (delta("", choices=[], usage=usage), "[DONE]"),
    ),
    "responses": Dialect(
        platform="openai",
        path="/v1/responses",
        asked={"model": "gpt-5", "input": "Hello"},
        answer={**RESPONSE, "output": OUTPUT},
        usage="usage",
        events=({"type": "response.output_text.delta", "delta": "Hi."},),
        last=lambda usage: (
            {"type": "response.completed", "response": {**RESPONSE, "output": OUTPUT, "usage": usage}},
        ),
    ),
    "messages": Dialect(
        platform="anthropic",
        path="/v1/messages",
        asked={"model": "gpt-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]},
        answer={**MESSAGE, "stop_reason": "end_turn"},
        usage="usage",
        events=(
            {"type": "message_start", "message": {**MESSAGE, "content": []}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi."}},
        ),
        last=lambda usage: (
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ),
    ),
    "generate_content": Dialect(
        platform="gemini",
        path="/v1beta/models/gpt-5:generateContent",
        stream_path="/v1beta/models/gpt-5:streamGenerateContent?alt=sse",
        asked={"contents": [{"parts": [{"text": "Hello"}]}]},
        answer=PARTS,
        usage="usageMetadata",
        events=({"candidates": [{"content": {"parts": [{"text": "Hi."}]}}]},),
        last=lambda usage: ({**PARTS, "usageMetadata": usage},),
        streams={},
    ),
    "images": Dialect(
        platform="openai",
        path="/v1/images/generations",
        asked={"model": "gpt-5", "prompt": "a fox", "n": 1},
        answer={"created": 1, "data": [{"b64_json": "AAAA"}]},
        usage="usage",
        events=({"type": "image_generation.partial_image", "b64_json": "AAAA", "partial_image_index": 0},),
        last=lambda usage: ({"type": "image_generation.completed", "b64_json": "AAAA", "usage": usage},),
    ),
}
NAMES = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "prompt_cache_hit_tokens",
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
)
HOLDERS = (
    "prompt_tokens_details",
    "completion_tokens_details",
    "input_tokens_details",
    "output_tokens_details",
    "cache_creation",
    "server_tool_use",
    "candidatesTokensDetails",
    "promptTokensDetails",
    "iterations",
)
NUMBERS = st.one_of(
    st.integers(-5, 300),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.text(),
)
JSON = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
PLAUSIBLE = st.dictionaries(
    st.sampled_from((*NAMES, *HOLDERS)),
    NUMBERS | JSON | st.dictionaries(st.sampled_from((*NAMES, "image_tokens", "audio_tokens")), NUMBERS, max_size=4),
    max_size=8,
)
HONEST = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 100_000), max_size=6)
OPENAI = {"input_tokens": 20, "output_tokens": 7}
USED: dict[str, Any] = {
    "chat": {"prompt_tokens": 20, "completion_tokens": 7},
    "responses": OPENAI,
    "messages": OPENAI,
    "generate_content": {"promptTokenCount": 20, "candidatesTokenCount": 7},
    "images": OPENAI,
}
USAGES = st.one_of(HONEST, PLAUSIBLE, JSON)


@dataclass(frozen=True, kw_only=True)
class Lie:
    """An answer with a usage, and what comes of it: it is whole, or at a moment it breaks off, or its client leaves."""

    dialect: Dialect
    usage: Any
    end: str
    moment: str = MIDDLE
    client: Client = field(default_factory=Client)

    async def whole(self, talk: Talk) -> None:
        said = json.dumps({**self.dialect.answer, self.dialect.usage: self.usage}).encode()
        await self._reach(BEFORE_HEAD, talk)
        await talk.say(head(content_type="application/json", content_length=str(len(said))))
        await self._reach(AFTER_HEAD, talk)
        await talk.say(said[:-9])
        await self._reach(MIDDLE, talk)
        await talk.say(said[-9:-1])
        await self._reach(LAST, talk)
        await talk.say(said[-1:])

    async def streamed(self, talk: Talk) -> None:
        last = self.dialect.last(self.usage)
        await self._reach(BEFORE_HEAD, talk)
        await talk.say(STREAM)
        await self._reach(AFTER_HEAD, talk)
        for event in self.dialect.events:
            await talk.event(event)
        await self._reach(MIDDLE, talk)
        for event in last[:-1]:
            await talk.event(event)
        await self._reach(LAST, talk)
        await talk.event(last[-1])
        await talk.say(LAST_CHUNK)

    def on(self, way: str) -> Behaviour:
        return self.whole if way == IS_WHOLE else self.streamed

    async def _reach(self, moment: str, talk: Talk) -> None:
        if moment != self.moment:
            return
        if self.end == CUT:
            talk.reset()
            raise ConnectionResetError
        if self.end == LEFT:
            self.client.left.set()
            while not self.client.is_watched:
                await asyncio.sleep(0.001)


@pytest.mark.parametrize("end", [WHOLE, CUT, LEFT])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_call_costs_at_most_what_was_held_whatever_an_upstream_tells(account, name, way, end) -> None:
    dialect = DIALECTS[name]
    relay = Relay(account, dialect.platform, prices=PRICES)
    upstream = Upstream(answers({}))
    relay.channel(upstream)
    budgets.set_limits(account, day_micros=9_000_000, month_micros=None)
    asked, path = dialect.request(way)

    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(usage=USAGES, moment=st.sampled_from(MOMENTS))
    def check(usage: Any, moment: str) -> None:
        known = set(RelayedCall.objects.values_list("id", flat=True))
        lie = Lie(dialect=dialect, usage=usage, end=end, moment=moment)
        upstream.behaves(lie.on(way))
        client = relay.call(asked, path=path, client=lie.client)
        assert client.status != 500
        assert b"TASK_INTERNAL_ERROR" not in client.body or "TASK_INTERNAL_ERROR" in repr(usage)  # told by the upstream
        (call,) = RelayedCall.objects.exclude(id__in=known)
        charged = call.actual_micros or 0
        assert 0 <= charged <= call.estimated_micros
        assert (call.flags or {}).get("usage_exceeds_hold", 0) == call.overrun_micros
        assert (charged == call.estimated_micros) or not call.overrun_micros
        assert Account.objects.get().balance_micros >= 0
        assert relay.spent >= 0

    check()


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_client_that_left_is_charged_as_one_that_stayed(account, name, way, moment) -> None:
    dialect = DIALECTS[name]
    relay = Relay(account, dialect.platform, prices=PRICES)
    relay.channel(upstream := Upstream(answers({})))
    asked, path = dialect.request(way)
    for end in (WHOLE, LEFT):
        lie = Lie(dialect=dialect, usage=USED[name], end=end, moment=moment)
        upstream.behaves(lie.on(way))
        relay.call(asked, path=path, client=lie.client)
    stayed, left = RelayedCall.objects.order_by("id")
    assert (stayed.outcome, left.outcome) == ("succeeded", "left")
    assert stayed.actual_micros == left.actual_micros == 20 * 2 + 7 * (40 if name == "images" else 8)


RUNNERS = {
    "responses": ({"type": "web_search"}, lambda body: body["max_tool_calls"]),
    "messages": ({"type": "web_search_20250305", "name": "web_search"}, lambda body: body["tools"][0]["max_uses"]),
}


@pytest.mark.parametrize("context", [50_000, 100_000])
@pytest.mark.parametrize("name", RUNNERS)
def test_a_provider_that_keeps_to_the_limit_of_its_tools_costs_no_more_than_was_held(account, name, context) -> None:
    dialect, (tool, limit) = DIALECTS[name], RUNNERS[name]
    prices = {"*": {**PRICES["*"], "max_input_tokens": context}}
    relay = Relay(account, dialect.platform, prices=prices, tool_prices={"web_search": 0.01})
    relay.channel(upstream := Upstream(answers({})))
    asked = {**dialect.asked, "tools": [tool]}

    async def searches(talk: Talk) -> None:
        runs = limit(upstream.bodies[-1])
        readings = [min(10 + count * 65_536, context) for count in range(runs + 1)]
        usage = {"input_tokens": sum(readings), "output_tokens": 100}
        told = {**usage, "server_tool_use": {"web_search_requests": runs}}
        await answers({**dialect.answer, "usage": told})(talk)

    upstream.behaves(searches)
    assert relay.call(asked, path=dialect.path).status == 200
    (call,) = RelayedCall.objects.all()
    assert (call.flags, call.tool_calls, limit(upstream.bodies[-1])) == (None, 10, 10)
    assert call.actual_micros > 10 * (10_000 + context * 2)
