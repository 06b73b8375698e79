"""OpenAI's `chat/completions`, whole and as a stream."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from sandbox.openai.chat_orders import chat_order
from sandbox.openai.errors import authenticate
from sandbox.openai.text_errors import HEADERS, fault_of, text_error_for
from sandbox.state import State
from sandbox.steering import Word
from sandbox.text.answers import Finish, TextAnswer, ToolCall, Used
from sandbox.text.frames import event, indented
from sandbox.text.orders import TextOrder
from sandbox.text.sales import TextSales
from sandbox.wire import Endpoint, Request, Response

DONE = b"data: [DONE]\n\n"
FINISHES = {
    Finish.STOP: "stop",
    Finish.LENGTH: "length",
    Finish.TOOL: "tool_calls",
    Finish.FILTER: "content_filter",
}


class OpenAIChat:
    """The endpoint and the format of its answers."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sales = TextSales(state)

    def routes(self) -> list[Endpoint]:
        return [("POST", "/openai/v1/chat/completions", self.complete)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def complete(self, request: Request) -> Response:
        """POST: messages to a message."""
        self._state.audit.call("submit")
        authenticate(request)
        return self._sales.sell(request, chat_order(request), self)

    def headers(self) -> Mapping[str, str]:
        return HEADERS

    def whole(self, order: TextOrder, answer: TextAnswer) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None, "annotations": []}
        if answer.call:
            message |= {"content": None, "tool_calls": [shown_call(answer.call)]}
        choice = {"message": message, "logprobs": None, "finish_reason": FINISHES[answer.finish]}
        choices = [{"index": index, **choice} for index in range(order.choices)]
        usage = {"usage": usage_of(answer.used)} if answer.used else {}
        body = {**head(order, "chat.completion"), "choices": choices, **usage, "service_tier": "default"}
        return indented(body).encode()

    def frames(self, order: TextOrder, answer: TextAnswer) -> list[bytes]:
        """Yields the role, a piece for each word, the finish reason, the usage if asked for, and `[DONE]`."""
        start = {"role": "assistant", "content": None if answer.call else "", "refusal": None}
        deltas: list[tuple[dict[str, Any], str | None]] = [(start, None)]
        if answer.call:
            deltas += [({"tool_calls": [part]}, None) for part in call_parts(answer.call)]
        deltas += [({"content": word}, None) for word in answer.words]
        deltas.append(({}, FINISHES[answer.finish]))
        same = head(order, "chat.completion.chunk")
        frames = [
            event({**same, **no_usage(order), "choices": [choice(index, delta, finish)]})
            for delta, finish in deltas
            for index in range(order.choices)
        ]
        if order.shows_usage and answer.used:
            frames.append(event({**same, "choices": [], "usage": usage_of(answer.used)}))
        return [*frames, DONE]

    def error_for(self, word: Word) -> Response:
        return text_error_for(word)

    def error_frame(self, word: Word, order: TextOrder) -> bytes:
        return event({"error": fault_of(word, is_in_stream=True).detail})


def head(order: TextOrder, kind: str) -> dict[str, Any]:
    """Returns the fields that begin every object of one answer."""
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": kind,
        "created": int(time.time()),
        "model": order.model,
        "system_fingerprint": "fp_sandbox",
    }


def no_usage(order: TextOrder) -> dict[str, None]:
    """Returns what chunks before the usage say of it, if it was asked for."""
    return {"usage": None} if order.shows_usage else {}


def choice(index: int, delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    """Returns one piece of one answer."""
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}


def shown_call(call: ToolCall) -> dict[str, Any]:
    """Returns a tool call in a message."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": f"call_{secrets.token_hex(12)}", "type": "function", "function": function}


def call_parts(call: ToolCall) -> list[dict[str, Any]]:
    """Yields a tool call in pieces: its name first, then its arguments in two."""
    middle = len(call.arguments) // 2
    start = {"index": 0, **shown_call(call), "function": {"name": call.name, "arguments": ""}}
    pieces = (call.arguments[:middle], call.arguments[middle:])
    return [start, *({"index": 0, "function": {"arguments": piece}} for piece in pieces)]


def usage_of(used: Used) -> dict[str, Any]:
    """Returns the usage of all answers to a call."""
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.total,
        "prompt_tokens_details": {
            "cached_tokens": used.cached,
            "cache_write_tokens": used.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": used.thoughts,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
