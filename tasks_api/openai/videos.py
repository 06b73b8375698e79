"""Views of `/v1/videos`: OpenAI's Videos API over the same tasks (contract section 12). The films themselves are sent
by `tasks_api/assets.py`.
"""

from collections.abc import Mapping

from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import InvalidRequest, TaskNotFound
from tasks import deletion
from tasks.models import LIVE
from tasks.shown import films
from tasks.shown.films import FilmView
from tasks_api import views
from tasks_api.base_view import TaskApiView
from tasks_api.openai import video_objects


class VideosView(TaskApiView):
    """GET lists every video task of the key, whichever front it came by."""

    query_names = films.PARAMETERS

    def get(self, request: Request) -> Response:
        given = self.parameters
        after = video_objects.task_id_of(given["after"]) if "after" in given else None
        if "after" in given and after is None:
            raise InvalidRequest("after: must be the id of a video.", param="after")
        page = films.page(self.caller.key_id, after=after, limit=given.get("limit"), order=given.get("order"))
        data = [video_objects.shown(film) for film in page.films]
        return Response(
            {
                "object": "list",
                "data": data,
                "first_id": data[0]["id"] if data else None,
                "last_id": page.last_id and video_objects.id_of(page.last_id),
                "has_more": page.has_more,
            }
        )


class VideoView(TaskApiView):
    """GET shows one video; DELETE cancels a queued one, and deletes the files of an ended one."""

    def get(self, request: Request, video_id: str) -> Response:
        film = films.find_one(self.caller.key_id, task_id_of(video_id))
        if film is None:
            raise TaskNotFound(video_objects.NOT_FOUND)
        return Response(video_objects.shown(film), headers=poll_headers(film))

    def delete(self, request: Request, video_id: str) -> Response:
        task_id = task_id_of(video_id)
        if films.find_one(self.caller.key_id, task_id) is None:
            raise TaskNotFound(video_objects.NOT_FOUND)
        deletion.delete(self.caller.key_id, task_id)
        return Response({"id": video_id, "object": "video.deleted", "deleted": True})


def task_id_of(video_id: str) -> str:
    """Raises TaskNotFound, with the words of every video that is not there."""
    task_id = video_objects.task_id_of(video_id)
    if task_id is None:
        raise TaskNotFound(video_objects.NOT_FOUND)
    return task_id


def poll_headers(film: FilmView) -> Mapping[str, str]:
    """When OpenAI's SDKs look at a live video again."""
    if film.status not in LIVE:
        return {}
    return {"openai-poll-after-ms": str(1000 * views.poll_after(film.created_at))}
