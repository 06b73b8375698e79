"""xAI's Images protocol, answered at once: `/xai/v1/images/generations` and `/xai/v1/images/edits`, both JSON."""

from typing import Any

from sandbox import steering
from sandbox.at_once import AtOnce, encoded
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.wire import Endpoint, Request, Response
from sandbox.xai.errors import authenticate, error_for
from sandbox.xai.orders import call_of

BASE = "/xai/v1/images"
TICKS = 200_000_000


class XaiImages:
    """The two endpoints."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._at_once = AtOnce(state, error_for=error_for)

    def routes(self) -> list[Endpoint]:
        return [("POST", f"{BASE}/generations", self.generate), ("POST", f"{BASE}/edits", self.edit)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def generate(self, request: Request) -> Response:
        """Text to pictures."""
        return await self._run(request, is_edit=False)

    async def edit(self, request: Request) -> Response:
        """Text and pictures to pictures."""
        return await self._run(request, is_edit=True)

    async def _run(self, request: Request, *, is_edit: bool) -> Response:
        self._state.audit.call("submit")
        authenticate(request)
        call = call_of(request.body, is_edit=is_edit)
        script = steering.read(call.order.prompt)

        async def show(picture: Picture) -> dict[str, Any]:
            if call.wants_urls or script.has("url"):
                return {"url": self._at_once.link(picture, script, request.origin), "respect_moderation": True}
            return {"b64_json": await encoded(picture), "respect_moderation": True}

        return await self._at_once.sell(request, call.order, show, answer)


def answer(items: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the body of a success."""
    return {"data": items, "usage": {"cost_in_usd_ticks": TICKS * len(items)}}
