"""Requests to the Task API through Django's test client, and what their answers must look like."""

import json
import re
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.test import Client

from tasks import lifecycle
from tasks.assets.assets import NewAsset
from tasks.failures import Failure
from tasks.lifecycle import Ending, Success
from tasks.models import Task
from tests.tasks.request.param_requests import image, video

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SUBMISSION_FIELDS = ["id", "status", "modality", "model", "created_at", "estimated_cost"]
REJECTED = Failure(type="TASK_CONTENT_REJECTED", message="The provider refused the content.", retryable=False)
PICTURE = NewAsset(
    kind="image",
    storage_key="results/aa/bb/picture",
    content_type="image/png",
    size_bytes=70,
    sha256="a" * 64,
    width=64,
    height=48,
    duration_seconds=None,
)


def image_task(**changes: Any) -> dict[str, Any]:
    """A valid submission to `image_model`; the changes are of its params."""
    return {"model": "aurora-image", "modality": "image", "params": image(**changes)}


def video_task(**changes: Any) -> dict[str, Any]:
    """A valid submission to `video_model`."""
    return {"model": "comet-video", "modality": "video", "params": video(**changes)}


class Api:
    """The Task API as one key sees it. Bodies that are no bytes are sent as JSON."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def send(
        self, method: str, path: str, body: Any = b"", *, content_type: str = "application/json", **headers: str
    ) -> Any:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        # As a header too: the test client forgets the type of an empty body.
        return self.client.generic(method, path, raw, content_type, headers={"Content-Type": content_type, **names})

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def submit(self, body: Any = None, **headers: str) -> Any:
        return self.send("POST", "/v1/tasks", image_task() if body is None else body, **headers)

    def quote(self, body: Any) -> Any:
        return self.send("POST", "/v1/tasks/quote", body)

    def submitted(self, body: Any = None, **headers: str) -> str:
        """The id of a new task."""
        response = self.submit(body, **headers)
        assert response.status_code == 202, response.content
        return str(response.json()["id"])

    def task(self, task_id: str) -> dict[str, Any]:
        response = self.get(f"/v1/tasks/{task_id}")
        assert response.status_code == 200, response.content
        return dict(response.json())


MakeApi = Callable[..., Api]


def refused(response: HttpResponse) -> tuple[int, str]:
    """Status and type of an error in the documented shape."""
    error = error_of(response)
    return response.status_code, error["type"]


def named(response: HttpResponse) -> str:
    """The field that a 400 names: the first word of its message."""
    assert refused(response) == (400, "TASK_INVALID_REQUEST"), response.content
    return error_of(response)["message"].split(" ")[0].removesuffix(":")


def error_of(response: HttpResponse) -> dict[str, str]:
    assert response.headers["Content-Type"] == "application/json", response.content[:200]
    document = json.loads(response.content)
    assert list(document) == ["error"]
    assert sorted(document["error"]) == ["message", "type"]
    assert all(isinstance(value, str) and value for value in document["error"].values())
    if response.status_code in (429, 503):
        assert int(response.headers["Retry-After"]) >= 1
    assert ("WWW-Authenticate" in response.headers) == (response.status_code == 401)
    return dict(document["error"])


def start(task_id: str) -> None:
    """As if a worker had claimed it."""
    assert Task.objects.filter(id=task_id, status="queued").update(status="running", attempt=1) == 1


def end(task_id: str, status: str, **fields: Any) -> None:
    """End a queued task as a worker would: for a success with one picture at its estimated cost."""
    if status != "canceled":
        start(task_id)
    task = Task.objects.get(id=task_id)
    if status == "succeeded":
        fields = {"success": Success(actual_micros=task.estimated_micros, seconds=0, assets=(PICTURE,)), **fields}
    ending = Ending(
        task_id=task_id,
        from_status="queued" if status == "canceled" else "running",
        attempt=task.attempt,
        status=status,  # type: ignore[arg-type]
        **fields,
    )
    assert lifecycle.end([ending])
