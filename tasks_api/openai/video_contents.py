"""Which file `/v1/videos/{id}/content` stands for; the front's side that sends it is `tasks_api/assets.py`."""

import re

from django.http import QueryDict

from common.errors import InvalidRequest, TaskNotFound
from tasks.assets import assets
from tasks.models import Asset
from tasks_api import queries
from tasks_api.openai import video_objects

ROOM = "/v1/videos/"
PATH = re.compile(r"/v1/videos/([^/]+)/content")
KINDS = {"video": "video", "thumbnail": "image", "spritesheet": None}


def find(path: str, query: QueryDict, key_id: int) -> Asset:
    """The film of a completed video, or its `variant`. Raises TaskNotFound, InvalidRequest, AssetExpired."""
    match = PATH.fullmatch(path)
    task_id = video_objects.task_id_of(match[1]) if match else None
    if task_id is None:
        raise TaskNotFound(video_objects.NOT_FOUND)
    variant = queries.single_values(query, ("variant",)).get("variant", "video")
    if variant not in KINDS:
        raise InvalidRequest(f"variant: must be one of {', '.join(KINDS)}.", param="variant")
    kind = KINDS[variant]
    if kind is None:
        raise TaskNotFound("There are no spritesheets here.")
    return assets.find_of_film(task_id, kind, key_id=key_id)
