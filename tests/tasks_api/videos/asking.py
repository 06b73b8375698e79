"""Videos as rows, and what answers of `/v1/videos` must look like."""

from typing import Any

from django.utils import timezone

from tasks.assets import assets
from tasks.models import Asset, Task, TaskPayload
from tests import rows
from tests.rows import IssuedKey
from tests.storage.samples import film, picture

PARAMS = {"prompt": "a fox runs", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
FIELDS = [
    *("id", "object", "model", "status", "progress", "created_at", "completed_at", "expires_at", "seconds", "size"),
    *("prompt", "error"),
]


def make_video(key: IssuedKey, status: str = "queued", *, params: Any = PARAMS, **fields: Any) -> Task:
    """A row of a video task with its payload, without assets."""
    task = rows.make_task(key, status, **{"modality": "video", "model_name": "comet-video", **fields})
    TaskPayload.objects.create(task=task, params=params, trace={"plan": "standard", "routes": []})
    return task


def make_film(key: IssuedKey, *, with_picture: bool = False, **fields: Any) -> Task:
    """The same of a succeeded task with its film, and its last frame before it."""
    task = make_video(key, "succeeded", **fields)
    kinds = [("image", picture("PNG"))] if with_picture else []
    for position, (kind, content) in enumerate([*kinds, ("video", film())]):
        made = assets.store([content], kind=kind)
        values = {name: getattr(made, name) for name in made.__slots__}
        Asset.objects.create(task=task, position=position, created_at=timezone.now(), **values)
    return task


def video_id(task: Task | str) -> str:
    task_id = task if isinstance(task, str) else task.pk
    return "video_" + task_id.removeprefix("task_")


def refusal(response: Any) -> tuple[int, str, str | None]:
    """Status, type and field of an error in OpenAI's shape."""
    error = response.json()["error"]
    assert list(response.json()) == ["error"]
    assert sorted(error) == ["code", "message", "param", "type"]
    assert error["code"] == error["type"]
    assert error["message"]
    return response.status_code, error["type"], error["param"]
