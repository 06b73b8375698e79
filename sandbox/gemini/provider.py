"""Gemini's API: `models/{model}:generateContent` and its siblings, and the list of models.

A model makes pictures if its name contains `image` or the call asks for a picture; otherwise text.
"""

import asyncio
import base64
import secrets
from dataclasses import replace
from typing import Any

from sandbox import steering
from sandbox.fan_out import FanOut
from sandbox.gemini.errors import authenticate, error_for
from sandbox.gemini.orders import Order, order_of
from sandbox.gemini.text import GeminiText
from sandbox.gemini.text_orders import counted, text_order_of
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.steering import SUBMIT
from sandbox.text.frames import EVENT_STREAM
from sandbox.text.sales import TextSales
from sandbox.wire import Endpoint, Request, Response, json_response

BASE = "/gemini/(v1beta|v1)/models"
MODELS = ("gemini-3-pro-image", "gemini-3-pro", "gemini-3-flash")
METHODS = ["generateContent", "streamGenerateContent", "countTokens"]
REFUSALS = ("moderated", "moderated-output", "rate-limited", "status", "fail")


class Gemini:
    """The endpoints. A call for a picture makes one."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._fan_out = FanOut()
        self._sales = TextSales(state)

    def routes(self) -> list[Endpoint]:
        one = f"{BASE}/([^:]+)"
        return [
            ("POST", f"{one}:generateContent", self.generate),
            ("POST", f"{one}:streamGenerateContent", self.stream),
            ("POST", f"{one}:countTokens", self.count),
            ("GET", BASE, self.models),
        ]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def models(self, request: Request, version: str) -> Response:
        """GET: models that a key may call. Other names work, too."""
        authenticate(request)
        models = [{"name": f"models/{name}", "version": version, "displayName": name} for name in MODELS]
        return json_response({"models": [{**model, "supportedGenerationMethods": METHODS} for model in models]})

    async def generate(self, request: Request, version: str, model: str) -> Response:
        """POST: text and files to a text or a picture."""
        self._state.audit.call("submit")
        authenticate(request)
        if makes_pictures(model, request.body):
            return await self._paint(request, version, model)
        order = text_order_of(model, version, request.body, is_stream=False)
        return self._sales.sell(request, order, GeminiText(is_sse=False))

    async def stream(self, request: Request, version: str, model: str) -> Response:
        """POST: text and files to a stream of text, or to a picture in one piece."""
        self._state.audit.call("submit")
        authenticate(request)
        is_sse = request.query.get("alt") == ["sse"]
        content_type = EVENT_STREAM if is_sse else "application/json"
        if makes_pictures(model, request.body):
            whole = await self._paint(request, version, model)
            body = b"data: %s\r\n\r\n" % whole.body if is_sse else b"[%s]" % whole.body
            return replace(whole, body=body, content_type=content_type) if whole.status == 200 else whole
        order = text_order_of(model, version, request.body, is_stream=True)
        return self._sales.sell(request, order, GeminiText(is_sse=is_sse), content_type=content_type)

    async def count(self, request: Request, version: str, model: str) -> Response:
        """POST: counts the input tokens; free."""
        self._state.audit.call("count")
        authenticate(request)
        order = counted(model, version, request.body)
        if word := self._sales.refusal(order.last.text):
            return error_for(word)
        details = [{"modality": "TEXT", "tokenCount": order.input_tokens}]
        return json_response({"totalTokens": order.input_tokens, "promptTokensDetails": details})

    async def _paint(self, request: Request, version: str, model: str) -> Response:
        order = order_of(model, version, request.body)
        script, turns = steering.read(order.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return error_for(word)
        self._state.audit.buy("image", order.prompt, request.headers.get("x-client-request-id"))
        index, is_empty = self._fan_out.take(order.prompt, script)
        await self._state.work(script)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        candidate = {"finishReason": "NO_IMAGE"} if is_empty else await made(order, index, drafts=script.surplus)
        return steering.struck(json_response(answer(model, order, candidate)), loss, error_for)


def makes_pictures(model: str, body: bytes) -> bool:
    """Tells whether a call is for a picture."""
    return "image" in model or b'"imageConfig"' in body


async def made(order: Order, index: int, *, drafts: int) -> dict[str, Any]:
    """Returns a candidate with a thought, a word, drafts and the picture."""
    footer = f"after {order.references} reference image(s)" if order.references else ""
    parts: list[dict[str, Any]] = [{"text": "The sky comes first.", "thought": True}, {"text": "Here it is."}]
    for words in [*["a draft"] * drafts, footer]:
        picture = Picture(prompt=order.prompt, width=order.width, height=order.height, index=index, footer=words)
        data = base64.b64encode(await asyncio.to_thread(picture.render)).decode()
        parts.append({"inlineData": {"mimeType": picture.content_type, "data": data}, "thoughtSignature": "c2lnbmVk"})
    return {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}


def answer(model: str, order: Order, candidate: dict[str, Any]) -> dict[str, Any]:
    """Returns the body of a success."""
    asked = 1 + len(order.prompt) // 4 + order.references * 258
    given = order.width * order.height // 1_000 if "content" in candidate else 0
    usage = {"promptTokenCount": asked, "candidatesTokenCount": given, "totalTokenCount": asked + given}
    details = [{"modality": "IMAGE", "tokenCount": given}] if given else []
    return {
        "candidates": [{**candidate, "index": 0}],
        "usageMetadata": usage | {"candidatesTokensDetails": details},
        "modelVersion": model,
        "responseId": secrets.token_urlsafe(16),
    }
