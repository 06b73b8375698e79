"""Routes requests to the protocols, the files behind result URLs, and the sandbox's own controls."""

import asyncio
import json
import re
import secrets
import typing
from dataclasses import replace
from typing import Any

from sandbox import steering
from sandbox.anthropic.messages import AnthropicMessages
from sandbox.ark import errors as ark_errors
from sandbox.ark.images import ArkImages
from sandbox.ark.tasks import ArkTasks
from sandbox.dashscope.provider import DashScope
from sandbox.fal import Fal
from sandbox.gemini.provider import Gemini
from sandbox.kling.provider import Kling
from sandbox.minimax.provider import MiniMax
from sandbox.openai.chat import OpenAIChat
from sandbox.openai.images import OpenAIImages
from sandbox.openai.models import OpenAIModels
from sandbox.openai.responses import OpenAIResponses
from sandbox.openai.videos import OpenAIVideos
from sandbox.openrouter.images import OpenRouterImages
from sandbox.openrouter.videos import OpenRouterVideos
from sandbox.replicate import Replicate
from sandbox.runway.provider import Runway
from sandbox.state import Outage, State
from sandbox.steering import CALL_FAULTS, DOWNLOAD
from sandbox.wire import Cut, Endpoint, Refusal, Request, Response, json_response
from sandbox.xai.images import XaiImages


class Protocol(typing.Protocol):
    """One provider protocol: its endpoints, and its number of open jobs."""

    def routes(self) -> list[Endpoint]: ...

    def open_jobs(self) -> int: ...


class Provider:
    """The sandbox without its socket: a request in, a response out."""

    def __init__(self, *, video_seconds: float = 1.0) -> None:
        self._video_seconds = video_seconds
        self._state = State()
        self.reset()

    def reset(self) -> None:
        """Forgets every job, file, count and planned outage, and releases what is held."""
        self.release()
        self._state = State()
        self._protocols: list[Protocol] = [
            OpenAIImages(self._state),
            OpenAIChat(self._state),
            OpenAIResponses(self._state),
            OpenAIModels(),
            AnthropicMessages(self._state),
            ArkImages(self._state),
            Gemini(self._state),
            ArkTasks(self._state, video_seconds=self._video_seconds),
            DashScope(self._state, video_seconds=self._video_seconds),
            OpenRouterImages(self._state),
            XaiImages(self._state),
            OpenAIVideos(self._state, video_seconds=self._video_seconds),
            OpenRouterVideos(self._state, video_seconds=self._video_seconds),
            Fal(self._state, video_seconds=self._video_seconds),
            Replicate(self._state, video_seconds=self._video_seconds),
            Runway(self._state, video_seconds=self._video_seconds),
            MiniMax(self._state, video_seconds=self._video_seconds),
            Kling(self._state, video_seconds=self._video_seconds),
        ]
        self._routes: list[Endpoint] = [
            *(endpoint for protocol in self._protocols for endpoint in protocol.routes()),
            ("GET", "/files/([^/]+)", self._download),
            ("HEAD", "/files/([^/]+)", self._download),
            ("GET", "/healthz", self._health),
            ("GET", "/audit", self._show_audit),
            ("POST", "/reset", self._forget),
            ("POST", "/release", self._let_go),
            ("POST", "/faults", self._plan_outage),
        ]

    def audit(self) -> dict[str, Any]:
        """Returns what was bought since the start or the last reset, and how many jobs are open now."""
        return self._state.audit.snapshot() | {"open": sum(protocol.open_jobs() for protocol in self._protocols)}

    def release(self) -> None:
        """Releases what is held, and holds nothing until the next reset."""
        self._state.released.set()

    async def answer(self, request: Request) -> Response:
        """Answers any request, with a request id."""
        released = self._state.released
        try:
            response = self._outage(request) or await self._route(request)
        except Refusal as refusal:
            response = refusal.response
        if response.is_held:
            await released.wait()
        return replace(response, headers={**response.headers, "x-request-id": f"req_{secrets.token_hex(12)}"})

    async def _route(self, request: Request) -> Response:
        is_known = False
        for method, pattern, handler in self._routes:
            if match := re.fullmatch(pattern, request.path):
                if method == request.method:
                    return await handler(request, *match.groups())
                is_known = True
        return nowhere(405 if is_known else 404, request)

    def _outage(self, request: Request) -> Response | None:
        for outage in self._state.outages:
            if outage.times and request.path.startswith(outage.path) and outage.method in (None, request.method):
                outage.times -= 1
                return outage.response()
        return None

    async def _download(self, request: Request, name: str) -> Response:
        self._state.audit.call("download")
        file = self._state.files.get(name)
        if file is None:
            return nowhere(404, request)
        body = await asyncio.to_thread(file.media.render)
        word = self._state.turns.take(file.script, DOWNLOAD, name, CALL_FAULTS)
        whole = Response(body=body, content_type=file.media.content_type)
        return steering.struck(whole, word, ark_errors.error_for, share=0.5)

    async def _health(self, request: Request) -> Response:
        return json_response({"status": "ok"})

    async def _show_audit(self, request: Request) -> Response:
        return json_response(self.audit())

    async def _forget(self, request: Request) -> Response:
        self.reset()
        return json_response({})

    async def _let_go(self, request: Request) -> Response:
        self.release()
        return json_response({})

    async def _plan_outage(self, request: Request) -> Response:
        """Plans `{"path": "/ark/", "method": "GET", "status": 503, "times": 2, "retry_after": 1, "cut": "reset"}`."""
        try:
            plan = json.loads(request.body)
            cut = Cut(plan.pop("cut")) if "cut" in plan else None
            self._state.outages.append(Outage(**plan, cut=cut))
        except (ValueError, TypeError, AttributeError) as problem:
            return json_response({"error": {"message": str(problem)}}, 400)
        return json_response({})


def nowhere(status: int, request: Request) -> Response:
    """Returns a 404 or 405 in a shape that both protocols share."""
    message = f"{request.method} {request.path} is not served here."
    return json_response(
        {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}, status
    )
