"""A video task as the object of OpenAI's Videos API (contract section 12)."""

import re
from datetime import datetime
from typing import Any

from common import error_types
from common.ids import PREFIX, is_task_id
from tasks.models import LIVE
from tasks.shown.films import FilmView

NOT_FOUND = "Video not found."
VIDEO_PREFIX = "video_"
STATUSES = {"queued": "queued", "running": "in_progress", "succeeded": "completed"}
LINES = re.compile(r"([1-9][0-9]{1,4})p", re.IGNORECASE)
RATIO = re.compile(r"([1-9][0-9]{0,4}):([1-9][0-9]{0,4})")


def id_of(task_id: str) -> str:
    return VIDEO_PREFIX + task_id.removeprefix(PREFIX)


def task_id_of(video_id: str) -> str | None:
    """None for what is no id of a video."""
    task_id = PREFIX + video_id.removeprefix(VIDEO_PREFIX)
    return task_id if video_id.startswith(VIDEO_PREFIX) and is_task_id(task_id) else None


def shown(film: FilmView) -> dict[str, Any]:
    """The object. What a task of another front does not tell is null: the size of one that was asked for in other
    words than lines and a ratio, and all of a request whose params were deleted."""
    is_completed = film.status == "succeeded"
    return {
        "id": id_of(film.id),
        "object": "video",
        "model": film.model_name,
        "status": STATUSES.get(film.status, "failed"),
        "progress": 100 if is_completed else film.progress or 0,
        "created_at": _unix(film.created_at),
        "completed_at": _unix(film.finished_at) if is_completed else None,
        "expires_at": _unix(film.kept_until),
        "seconds": film.seconds,
        "size": film.asked_size or size_of(film.resolution, film.aspect_ratio),
        "prompt": film.prompt,
        "error": _error(film),
    }


def size_of(resolution: str | None, aspect_ratio: str | None) -> str | None:
    """`WxH` of lines such as 720p and a ratio; None for other words."""
    lines, ratio = LINES.fullmatch(resolution or ""), RATIO.fullmatch(aspect_ratio or "")
    if not lines or not ratio:
        return None
    short, width, height = int(lines[1]), int(ratio[1]), int(ratio[2])
    if width >= height:
        return f"{round(short * width / height)}x{short}"
    return f"{short}x{round(short * height / width)}"


def _error(film: FilmView) -> dict[str, Any] | None:
    if film.status in (*LIVE, "succeeded"):
        return None
    if film.status == "canceled":
        return {"code": error_types.CANCELED.name, "message": "The video was canceled before it was begun."}
    error = film.error or {}
    return {"code": error.get("type"), "message": error.get("message")}


def _unix(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
