"""DashScope's video protocol: `…/video-generation/video-synthesis`; its jobs are in `dashscope/tasks.py`."""

from typing import Any

from sandbox.dashscope.errors import authenticate
from sandbox.dashscope.tasks import BASE, LIFETIME, Results, Tasks
from sandbox.dashscope.video_orders import order_of
from sandbox.films import Film
from sandbox.jobs import Job, Sale
from sandbox.state import State
from sandbox.wire import Endpoint, Request, Response


class DashScopeVideo:
    """The endpoint."""

    def __init__(self, state: State, tasks: Tasks) -> None:
        self._state = state
        self._tasks = tasks

    def routes(self) -> list[Endpoint]:
        return [("POST", f"{BASE}/services/aigc/video-generation/video-synthesis", self.create)]

    async def create(self, request: Request) -> Response:
        """POST: buys a job and returns its id."""
        self._state.audit.call("submit")
        authenticate(request)
        order = order_of(request.body)
        sale = Sale(
            kind="video",
            prompt=order.prompt,
            media=lambda partial: [order.film(partial=partial)],
            detail=Results(output=output, usage=usage),
            lifetime=LIFETIME,
        )
        return self._tasks.buy(request, sale)


def output(job: Job, urls: list[str]) -> dict[str, Any]:
    """Returns the result fields of a job."""
    return {"video_url": urls[0], "orig_prompt": job.prompt}


def usage(job: Job) -> dict[str, Any]:
    """Returns the fields that bill a job."""
    (film,) = job.media
    if not isinstance(film, Film):
        raise TypeError("a job makes a film")
    lengths = {"duration": film.seconds, "input_video_duration": 0, "output_video_duration": film.seconds}
    return {**lengths, "video_count": 1, "ratio": film.ratio}
