"""The paths whose POST makes a task, and by which front it came then."""

from tasks.origins import Origin

SUBMISSIONS: dict[str, Origin] = {
    "/v1/tasks": "async",
    "/v1/videos": "videos",
    "/v1/images/generations": "sync",
    "/v1/images/edits": "sync",
}
# Below these, Task keys are let in; `/v1/images` has nothing but the two paths above.
ROOMS = ("/v1/tasks", "/v1/videos")


def is_submission(method: str, path: str) -> bool:
    return method == "POST" and path in SUBMISSIONS


def is_of_tasks(path: str) -> bool:
    """Whether a Task key is asked for."""
    return path in SUBMISSIONS or any(path.startswith(f"{room}/") for room in ROOMS)
