"""The paths whose POST makes a task, by which front it came then, and which of them a key may call."""

from common.errors import ScopeRequired
from common.http.asgi import is_below
from tasks.gate import Caller
from tasks.origins import Origin

SUBMISSIONS: dict[str, Origin] = {
    "/v1/tasks": "async",
    "/v1/videos": "videos",
    "/v1/images/generations": "sync",
    "/v1/images/edits": "sync",
}
# Below these, Task keys are let in; `/v1/images` has nothing but the two paths above.
VIDEOS = "/v1/videos"
ROOMS = ("/v1/tasks", VIDEOS)


def is_submission(method: str, path: str) -> bool:
    return method == "POST" and path in SUBMISSIONS


def is_of_tasks(path: str) -> bool:
    """Whether a Task key is asked for."""
    return path in SUBMISSIONS or any(path.startswith(f"{room}/") for room in ROOMS)


def refuse_without_scope(path: str, caller: Caller) -> None:
    """Raises ScopeRequired for a path of the Videos API and a key for which no operator has opened that."""
    if is_below(path, VIDEOS) and not caller.has_videos:
        raise ScopeRequired("This key is not enabled for /v1/videos; the operator of this service can enable it.")
