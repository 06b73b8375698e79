"""OpenRouter's Images protocol, answered at once: `POST /openrouter/api/v1/images`."""

import time
from typing import Any

from sandbox.at_once import AtOnce, encoded
from sandbox.openrouter.errors import authenticate, error, error_for
from sandbox.openrouter.image_orders import order_of
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.steering import Word
from sandbox.wire import Endpoint, Request, Response

PATH = "/openrouter/api/v1/images"


class OpenRouterImages:
    """The only endpoint."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._at_once = AtOnce(state, error_for=refusal)

    def routes(self) -> list[Endpoint]:
        return [("POST", PATH, self.generate)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def generate(self, request: Request) -> Response:
        """Text and pictures to pictures in base64."""
        self._state.audit.call("submit")
        authenticate(request)
        return await self._at_once.sell(request, order_of(request.body), show, answer)


async def show(picture: Picture) -> dict[str, str]:
    """Returns an item of the answer."""
    return {"b64_json": await encoded(picture), "media_type": picture.content_type}


def answer(items: list[dict[str, str]]) -> dict[str, Any]:
    """Returns the body of a success."""
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "cost": 0.04 * len(items)}
    return {"created": int(time.time()), "data": items, "usage": usage}


def refusal(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    if word.name == "fail":
        return error(400, "The image could not be generated from this request.")
    return error_for(word)
