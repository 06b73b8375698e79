"""DashScope's protocols, which share their jobs."""

from typing import Protocol

from sandbox.dashscope.image import DashScopeImage
from sandbox.dashscope.tasks import Tasks
from sandbox.dashscope.video import DashScopeVideo
from sandbox.state import State
from sandbox.wire import Endpoint


class Part(Protocol):
    """Some of the endpoints."""

    def routes(self) -> list[Endpoint]: ...


class DashScope:
    """All endpoints below `/dashscope/api/v1`."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._tasks = Tasks(state, seconds=video_seconds)
        self.open_jobs = self._tasks.open_jobs
        self._parts: list[Part] = [
            self._tasks,
            DashScopeImage(state, self._tasks),
            DashScopeVideo(state, self._tasks),
        ]

    def routes(self) -> list[Endpoint]:
        return [endpoint for part in self._parts for endpoint in part.routes()]
