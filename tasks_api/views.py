"""Views of what exists: each parses, calls one domain function and represents; nothing is decided here."""

import re
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import listing, snapshot
from common.errors import AuthenticationError, InvalidRequest, ScopeRequired, TaskNotFound
from common.ids import is_task_id
from tasks import cancellation
from tasks.assets import retention
from tasks.shown import model_face, representation, usage
from tasks_api import byte_ranges
from tasks_api.authentication import TaskKeyAuthentication
from tasks_api.base_view import TaskApiView

WAIT = re.compile(r"[0-9]+")
SECONDS_OF_AGE_PER_SECOND_OF_POLLING = 6


class TaskDetailView(TaskApiView):
    """GET shows one task; `?wait` is served by the front, and only checked here."""

    query_names = ("wait",)

    def get(self, request: Request, task_id: str) -> Response:
        wait = self.parameters.get("wait")
        if wait is not None and not WAIT.fullmatch(wait):
            raise InvalidRequest("wait: must be a whole number of seconds; more than 60 count as 60.")
        task = self.task(task_id)
        headers = {"ETag": representation.etag(task)}
        if task.finished_at is None:
            headers["Retry-After"] = str(poll_after(task.created_at))
        if byte_ranges.is_known([request.META.get("HTTP_IF_NONE_MATCH", "")], headers["ETag"]):
            return Response(status=304, headers=headers | {"Cache-Control": "no-store"})
        return Response(representation.represent(task), headers=headers)


class CancelView(TaskApiView):
    """POST cancels a queued task."""

    def post(self, request: Request, task_id: str) -> Response:
        if not is_task_id(task_id):
            raise TaskNotFound()
        cancellation.cancel(self.caller.key_id, task_id)
        return Response(representation.represent(self.task(task_id)))


class TaskAssetsView(TaskApiView):
    """DELETE deletes the files of an ended task; their downloads are elsewhere (`tasks_api/assets.py`)."""

    def delete(self, request: Request, task_id: str) -> Response:
        if not is_task_id(task_id):
            raise TaskNotFound()
        retention.delete_now(self.caller.key_id, task_id)
        return Response(status=204)


class ModelsView(TaskApiView):
    """GET lists what this key can run now, at its prices."""

    def get(self, request: Request) -> Response:
        catalog = snapshot.current(self.admission.service.catalog_version)
        offers = listing.offers(catalog, self.caller.key_id)
        return Response({"object": "list", "data": [model_face.shown(offer) for offer in offers]})


class UsageView(TaskApiView):
    """GET sums up the key's own tasks."""

    def get(self, request: Request) -> Response:
        return Response(usage.of(self.caller))


class UnknownPathView(TaskApiView):
    """Any other path below /v1/tasks."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No key is needed to learn that a path does not exist; a disabled API says so first."""
        with suppress(AuthenticationError, ScopeRequired):
            TaskKeyAuthentication().authenticate(request)
        raise TaskNotFound("No such path.")


def poll_after(created_at: datetime) -> int:
    """Seconds: 1 for a young task, up to 10 with its age."""
    age = (timezone.now() - created_at).total_seconds()
    return max(1, min(10, int(age / SECONDS_OF_AGE_PER_SECOND_OF_POLLING)))
