"""Views of `/v1/videos`: OpenAI's Videos API over the same tasks (contract section 12). The films themselves are sent
by `tasks_api/assets.py`.
"""

from collections.abc import Mapping

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Replay
from catalog import snapshot
from common.errors import ApiError, AssetInUse, InvalidRequest, NotCancelable, TaskNotFound
from tasks import deletion
from tasks.intake import drafts, examination
from tasks.intake.drafts import Draft
from tasks.intake.submission import Created, Outcome
from tasks.models import LIVE
from tasks.shown import films
from tasks.shown.films import FilmView
from tasks_api import responses, views
from tasks_api.base_view import TaskApiView
from tasks_api.openai import bodies, video_objects, video_requests
from tasks_api.openai.bodies import SentBody
from tasks_api.openai.form_view import FormSubmissionView
from tasks_api.responses import PendingSubmission, Receipt, TaskResponse


class VideosView(FormSubmissionView):
    """POST makes a video; GET lists every video task of the key, whichever front it came by."""

    query_names = films.PARAMETERS
    files = video_requests.FILES

    def replayed(self, request: Request, replay: Replay) -> Response:
        is_same = replay.body_digest == bodies.digest_of(request, files=video_requests.FILES)
        return TaskResponse(replayed(self.caller.key_id, replay.task_id, is_same_body=is_same))

    def submitted(self, request: Request) -> PendingSubmission:
        return PendingSubmission(self.draft(self.sent(request)), shown)

    def draft(self, sent: SentBody) -> Draft:
        """Raises the ApiError of the first check that fails, in the client's words."""
        key_id, version = self.caller.key_id, self.admission.service.catalog_version
        try:
            asked = video_requests.parse(sent, key_id=key_id, catalog=snapshot.current(version))
            prepared = examination.prepare(key_id, asked.document, catalog_version=version)
        except ApiError as error:
            raise video_requests.WORDS.of(error) from None
        return drafts.draft(
            prepared,
            caller=self.caller,
            body_digest=sent.digest,
            idempotency_key=self.idempotency_key,
            origin="videos",
            asked={"size": asked.size},
        )

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
        try:
            deletion.delete(self.caller.key_id, task_id)
        except (AssetInUse, NotCancelable) as error:  # which SDKs would ask again at once
            raise type(error)(error.message, may_have_cost=True) from None
        return Response({"id": video_id, "object": "video.deleted", "deleted": True})


def shown(draft: Draft, outcome: Outcome) -> Receipt:
    """The answer to a draft. Raises the outcome where it is an error. Only a replay asks the database."""
    match outcome:
        case ApiError():
            raise video_requests.WORDS.of(outcome)
        case Replay():
            is_same_body = outcome.body_digest == draft.body_digest
            return replayed(draft.caller.key_id, outcome.task_id, is_same_body=is_same_body)
        case Created():
            return _receipt(films.of_draft(draft, outcome.created_at))


def replayed(key_id: int, task_id: str, *, is_same_body: bool) -> Receipt:
    """The video that an Idempotency-Key has made. Raises InvalidRequest where it made something else."""
    film = films.find_one(key_id, task_id)
    if film is None:
        message = "Idempotency-Key: was used for a task that is no video."
        raise InvalidRequest(message, param="Idempotency-Key", may_have_cost=True)
    told = responses.told_of_replay(is_same_body=is_same_body)
    return _receipt(film, told)


def _receipt(film: FilmView, told: Mapping[str, str] | None = None) -> Receipt:
    return Receipt(status=200, document=video_objects.shown(film), headers={**poll_headers(film), **(told or {})})


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
