"""DashScope's image protocol: `…/multimodal-generation/…` answers at once, `…/image-generation/…` with a job."""

from typing import Any

from sandbox import steering
from sandbox.at_once import AtOnce, Order
from sandbox.dashscope.errors import authenticate, error, error_for, request_id
from sandbox.dashscope.image_orders import order_of
from sandbox.dashscope.tasks import BASE, Results, Tasks
from sandbox.jobs import Job, Sale
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.wire import Endpoint, Refusal, Request, Response

AT_ONCE = f"{BASE}/services/aigc/multimodal-generation/generation"
AS_JOB = f"{BASE}/services/aigc/image-generation/generation"


class DashScopeImage:
    """The two endpoints."""

    def __init__(self, state: State, tasks: Tasks) -> None:
        self._state = state
        self._tasks = tasks
        self._at_once = AtOnce(state, error_for=error_for)

    def routes(self) -> list[Endpoint]:
        return [("POST", AT_ONCE, self.generate), ("POST", AS_JOB, self.submit)]

    async def generate(self, request: Request) -> Response:
        """POST: answers with URLs."""
        order = self._order(request)
        if "x-dashscope-async" in request.headers:
            raise Refusal(error(403, "AccessDenied", "current user api does not support asynchronous calls."))
        script = steering.read(order.prompt)

        async def show(picture: Picture) -> str:
            return self._at_once.link(picture, script, request.origin)

        return await self._at_once.sell(request, order, show, lambda urls: answer(order, urls))

    async def submit(self, request: Request) -> Response:
        """POST: buys a job."""
        order = self._order(request)
        results = Results(output=lambda job, urls: {"finished": True, **choices_of(urls)}, usage=usage_of)

        def media(is_partial: bool) -> list[Picture]:
            return [order.picture(index) for index in range(max(1, order.count - is_partial))]

        return self._tasks.buy(request, Sale(kind="image", prompt=order.prompt, media=media, detail=results))

    def _order(self, request: Request) -> Order:
        self._state.audit.call("submit")
        authenticate(request)
        return order_of(request.body)


def answer(order: Order, urls: list[str]) -> dict[str, Any]:
    """Returns the body of an immediate success."""
    size = order.picture(0)
    usage = {"image_count": len(urls), "width": size.width, "height": size.height}
    return {"request_id": request_id(), "output": choices_of(urls), "usage": usage}


def choices_of(urls: list[str]) -> dict[str, Any]:
    """Returns a choice for each picture."""
    return {
        "choices": [
            {"finish_reason": "stop", "message": {"role": "assistant", "content": [{"image": url}]}} for url in urls
        ]
    }


def usage_of(job: Job) -> dict[str, Any]:
    """Returns the usage of a job by its pictures."""
    return {"image_count": len(job.files)}
