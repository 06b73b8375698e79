"""Step 3: `POST /v1/tasks` and its quote, and the list of what was submitted.

A submission passes, in this order: authentication and a look for its Idempotency-Key, the key's scope, the form of the
Idempotency-Key, the rate; then `post`: a replay is answered, a paused service refuses, and the body is examined,
routed, priced and made a draft. The view ends in a PendingSubmission, whose draft the front submits.
"""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Replay, paused
from common import strict_json
from common.errors import InvalidRequest
from common.http.asgi import REPEATED_HEADERS
from tasks.intake import drafts, examination
from tasks.shown import listing, quotes, representation
from tasks_api import body_digests, responses
from tasks_api.authentication import IDEMPOTENCY_KEY
from tasks_api.base_view import KeyScope, TaskApiView
from tasks_api.responses import PendingSubmission, TaskResponse


class WellFormedIdempotencyKey(BasePermission):
    """Gives a submission's view its `idempotency_key`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises InvalidRequest naming an Idempotency-Key that is none. Repeated ones come joined, and one may hold a
        comma itself."""
        sent: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if request.method != "POST" or sent is None:
            return True
        if "idempotency-key" in request.META.get(REPEATED_HEADERS, ()):
            problem = "given more than once"
        elif not sent.strip():
            problem = "must not be blank"
        elif not IDEMPOTENCY_KEY.fullmatch(sent):
            problem = "must be 1 to 255 printable ASCII characters"
        else:
            view.idempotency_key = sent
            return True
        raise InvalidRequest(f"Idempotency-Key: {problem}.", param="Idempotency-Key")


class SubmissionView(TaskApiView):
    """A path whose POST makes a task, of whichever API."""

    permission_classes = [KeyScope, WellFormedIdempotencyKey]
    reads_body_first = True
    idempotency_key: str | None = None

    @property
    def rate(self) -> str:
        if self.request.method != "POST":
            return super().rate
        return "replay" if self.admission.replay else "submit"

    def post(self, request: Request) -> Response:
        """Answer a replay, whatever else is wrong with the request; else submit."""
        if replay := self.admission.replay:
            return self.replayed(request, replay)
        if self.admission.service.is_paused:
            raise paused(self.admission.service)
        return self.submitted(request)

    def replayed(self, request: Request, replay: Replay) -> Response:
        """The answer that shows the task of an Idempotency-Key once more."""
        raise NotImplementedError

    def submitted(self, request: Request) -> PendingSubmission:
        """The draft of a new task."""
        raise NotImplementedError


class TasksView(SubmissionView):
    """POST submits, GET lists."""

    query_names = listing.PARAMETERS

    def replayed(self, request: Request, replay: Replay) -> Response:
        is_same = replay.body_digest == body_digests.of(request._request.body)
        return TaskResponse(responses.replayed(self.caller.key_id, replay.task_id, is_same_body=is_same))

    def submitted(self, request: Request) -> PendingSubmission:
        document, version = self.document(request), self.admission.service.catalog_version
        draft = drafts.draft(
            examination.prepare(self.caller.key_id, document, catalog_version=version),
            caller=self.caller,
            body_digest=strict_json.digest_of(document),
            idempotency_key=self.idempotency_key,
        )
        return PendingSubmission(draft, responses.receipt_of)

    def get(self, request: Request) -> Response:
        found = listing.page(self.caller.key_id, self.parameters)
        tasks = [representation.represent(task) for task in found.tasks]
        return Response({"object": "list", "data": tasks, "next_cursor": found.next_cursor})


class QuoteView(TaskApiView):
    """POST prices a submission without storing anything."""

    reads_body_first = True

    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        version = self.admission.service.catalog_version
        prepared = examination.prepare(self.caller.key_id, self.document(request), catalog_version=version)
        return Response(quotes.shown(quotes.of(self.caller, prepared)))
