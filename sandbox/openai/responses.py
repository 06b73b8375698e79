"""OpenAI's `responses`, whole and as a stream of events."""

import secrets
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from sandbox.openai.errors import authenticate
from sandbox.openai.response_orders import response_order
from sandbox.openai.text_errors import HEADERS, fault_of, text_error_for
from sandbox.state import State
from sandbox.steering import Word
from sandbox.text.answers import Finish, TextAnswer, Used
from sandbox.text.frames import indented, typed
from sandbox.text.orders import TextOrder
from sandbox.text.sales import TextSales
from sandbox.wire import Endpoint, Request, Response

REASONS = {Finish.LENGTH: "max_output_tokens", Finish.FILTER: "content_filter"}
Shown = dict[str, Any]
EMPTY: dict[str, Shown] = {
    "reasoning": {},
    "message": {"content": [], "status": "in_progress"},
    "function_call": {"arguments": "", "status": "in_progress"},
}


class OpenAIResponses:
    """The endpoint and the format of its answers."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sales = TextSales(state)

    def routes(self) -> list[Endpoint]:
        return [("POST", "/openai/v1/responses", self.respond)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def respond(self, request: Request) -> Response:
        """POST: input to output."""
        self._state.audit.call("submit")
        authenticate(request)
        return self._sales.sell(request, response_order(request), self)

    def headers(self) -> Mapping[str, str]:
        return HEADERS

    def whole(self, order: TextOrder, answer: TextAnswer) -> bytes:
        return indented(ended(begun(order), answer, items_of(answer))).encode()

    def frames(self, order: TextOrder, answer: TextAnswer) -> list[bytes]:
        """Yields the begun response, each item from start to end, and the whole response as it ended."""
        response, items, numbers = begun(order), items_of(answer), count()
        events: list[Shown] = [
            {"type": "response.created", "response": response},
            {"type": "response.in_progress", "response": response},
        ]
        for index, item in enumerate(items):
            events += item_events(item, index, answer)
        whole = ended(response, answer, items)
        events.append({"type": f"response.{whole['status']}", "response": whole})
        return [typed({**event, "sequence_number": next(numbers)}) for event in events]

    def error_for(self, word: Word) -> Response:
        return text_error_for(word)

    def error_frame(self, word: Word, order: TextOrder) -> bytes:
        """Returns `error`, or for `fail` the end of a failed response."""
        fault = fault_of(word, is_in_stream=True)
        detail = {"code": fault.code, "message": fault.message}
        if word.name == "fail":
            response = begun(order) | {"status": "failed", "error": detail}
            return typed({"type": "response.failed", "response": response, "sequence_number": 0})
        return typed({"type": "error", **detail, "param": None, "sequence_number": 0})


def begun(order: TextOrder) -> Shown:
    """Returns the response before it has output."""
    return {
        "id": f"resp_{secrets.token_hex(24)}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": order.limit,
        "model": order.model,
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def ended(response: Shown, answer: TextAnswer, items: list[Shown]) -> Shown:
    """Returns the response with its output."""
    reason = REASONS.get(answer.finish)
    return response | {
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": items,
        "usage": usage_of(answer.used) if answer.used else None,
    }


def items_of(answer: TextAnswer) -> list[Shown]:
    """Returns thoughts, of which only the place is shown, and a message or a tool call."""
    thoughts = [{"id": f"rs_{secrets.token_hex(24)}", "type": "reasoning", "summary": []}] if answer.thoughts else []
    if call := answer.call:
        names = {"id": f"fc_{secrets.token_hex(24)}", "call_id": f"call_{secrets.token_hex(12)}", "name": call.name}
        return [*thoughts, {"type": "function_call", **names, "arguments": call.arguments, "status": "completed"}]
    status = "incomplete" if answer.finish in REASONS else "completed"
    message = {"id": f"msg_{secrets.token_hex(24)}", "type": "message", "role": "assistant", "status": status}
    return [*thoughts, {**message, "content": [text_part(answer.text)]}]


def text_part(text: str) -> Shown:
    """Returns the content of a message."""
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def item_events(item: Shown, index: int, answer: TextAnswer) -> Iterator[Shown]:
    """Yields the events of one item from start to end."""
    place = {"item_id": item["id"], "output_index": index}
    yield {"type": "response.output_item.added", "output_index": index, "item": item | EMPTY[item["type"]]}
    if item["type"] == "message":
        yield from text_events(item, {**place, "content_index": 0}, answer)
    elif item["type"] == "function_call":
        arguments, middle = item["arguments"], len(item["arguments"]) // 2
        kind = "response.function_call_arguments"
        for piece in (arguments[:middle], arguments[middle:]):
            yield {"type": f"{kind}.delta", **place, "delta": piece}
        yield {"type": f"{kind}.done", **place, "name": item["name"], "arguments": arguments}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def text_events(item: Shown, place: Shown, answer: TextAnswer) -> Iterator[Shown]:
    """Yields a message's text word by word."""
    yield {"type": "response.content_part.added", **place, "part": text_part("")}
    for word in answer.words:
        yield {"type": "response.output_text.delta", **place, "delta": word, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": answer.text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": item["content"][0]}


def usage_of(used: Used) -> Shown:
    """Returns the usage of a call."""
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": used.cache_write},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.thoughts},
        "total_tokens": used.total,
    }
