"""Anthropic's Messages protocol: `messages`, whole and as a stream, `messages/count_tokens` and the list of models."""

import json
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.anthropic.errors import authenticate, error_for, error_frame_for
from sandbox.anthropic.orders import message_order
from sandbox.state import State
from sandbox.steering import Word
from sandbox.text.answers import Finish, TextAnswer
from sandbox.text.frames import compact, typed
from sandbox.text.orders import TextOrder
from sandbox.text.sales import TextSales
from sandbox.wire import Endpoint, Request, Response, json_response

BASE = "/anthropic/v1"
MODELS = {"claude-sonnet-5": "Claude Sonnet 5", "claude-haiku-5": "Claude Haiku 5"}
REASONS = {
    Finish.STOP: "end_turn",
    Finish.LENGTH: "max_tokens",
    Finish.TOOL: "tool_use",
    Finish.FILTER: "refusal",
}
Shown = dict[str, Any]
EMPTY: dict[str, Shown] = {
    "text": {"text": ""},
    "tool_use": {"input": {}},
    "thinking": {"thinking": "", "signature": ""},
}


class AnthropicMessages:
    """The three endpoints and the formats of their answers."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sales = TextSales(state)

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", f"{BASE}/messages", self.create),
            ("POST", f"{BASE}/messages/count_tokens", self.count),
            ("GET", f"{BASE}/models", self.models),
        ]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def create(self, request: Request) -> Response:
        """POST: messages to a message."""
        self._state.audit.call("submit")
        authenticate(request)
        return self._sales.sell(request, message_order(request, is_count=False), self)

    async def count(self, request: Request) -> Response:
        """POST: counts the input tokens; free."""
        self._state.audit.call("count")
        authenticate(request)
        order = message_order(request, is_count=True)
        if word := self._sales.refusal(order.last.text):
            return error_for(word)
        return json_response({"input_tokens": order.input_tokens}, headers=self.headers())

    async def models(self, request: Request) -> Response:
        """GET: models that a key may call. Other names work, too."""
        authenticate(request)
        data = [
            {"type": "model", "id": name, "display_name": shown, "created_at": "2026-08-01T00:00:00Z"}
            | {"lifecycle": "active"}
            for name, shown in MODELS.items()
        ]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]}
        return json_response({"data": data, "has_more": False, **ends}, headers=self.headers())

    def headers(self) -> Mapping[str, str]:
        return {"request-id": f"req_{secrets.token_hex(12)}", "anthropic-organization-id": "org-sandbox"}

    def whole(self, order: TextOrder, answer: TextAnswer) -> bytes:
        usage = usage_of(answer, answer.used.output if answer.used else 0)
        ended = {"content": blocks_of(answer), **reason_of(answer)}
        return compact(begun(order) | ended | usage).encode()

    def frames(self, order: TextOrder, answer: TextAnswer) -> list[bytes]:
        """Yields the message without content, each block from start to end, the stop reason, and the end."""
        events: list[Shown] = [{"type": "message_start", "message": begun(order) | usage_of(answer, 1)}]
        for index, block in enumerate(blocks_of(answer)):
            events += block_events(block, index, answer)
        output = {"usage": {"output_tokens": answer.used.output}} if answer.used else {}
        events += [{"type": "message_delta", "delta": reason_of(answer), **output}, {"type": "message_stop"}]
        return [typed(event) for event in events]

    def error_for(self, word: Word) -> Response:
        return error_for(word)

    def error_frame(self, word: Word, order: TextOrder) -> bytes:
        return error_frame_for(word)


def begun(order: TextOrder) -> Shown:
    """Returns the message without content."""
    names = {"id": f"msg_{secrets.token_hex(12)}", "type": "message", "role": "assistant", "model": order.model}
    return {**names, "content": [], "stop_reason": None, "stop_sequence": None}


def reason_of(answer: TextAnswer) -> Shown:
    """Returns the stop reason."""
    return {"stop_reason": REASONS[answer.finish], "stop_sequence": None}


def usage_of(answer: TextAnswer, output: int) -> Shown:
    """Returns the field `usage`; cache tokens are not among `input_tokens`."""
    if (used := answer.used) is None:
        return {}
    caches = {"cache_creation_input_tokens": used.cache_write, "cache_read_input_tokens": used.cached}
    return {"usage": {"input_tokens": used.plain, **caches, "output_tokens": output, "service_tier": "standard"}}


def blocks_of(answer: TextAnswer) -> list[Shown]:
    """Returns thoughts, and a text or a tool use."""
    blocks: list[Shown] = []
    if answer.thoughts:
        blocks.append({"type": "thinking", "thinking": " ".join(["hm"] * answer.thoughts), "signature": "c2lnbmVk"})
    if call := answer.call:
        use = {"type": "tool_use", "id": f"toolu_{secrets.token_hex(12)}", "name": call.name}
        return [*blocks, {**use, "input": json.loads(call.arguments)}]
    return [*blocks, {"type": "text", "text": answer.text}]


def block_events(block: Shown, index: int, answer: TextAnswer) -> Iterator[Shown]:
    """Yields the events of one block; the first block includes a ping."""
    yield {"type": "content_block_start", "index": index, "content_block": block | EMPTY[block["type"]]}
    if index == 0:
        yield {"type": "ping"}
    for delta in deltas_of(block, answer):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def deltas_of(block: Shown, answer: TextAnswer) -> list[Shown]:
    """Yields the content of a block in pieces."""
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": word} for word in answer.words]
        case "thinking":
            thought = {"type": "thinking_delta", "thinking": block["thinking"]}
            return [thought, {"type": "signature_delta", "signature": block["signature"]}]
        case _:
            arguments = answer.call.arguments if answer.call else ""
            middle = len(arguments) // 2
            pieces = ("", arguments[:middle], arguments[middle:])
            return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
