"""Step 1: `POST /v1/tasks` and its quote, and the list of what was submitted."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import InvalidRequest
from common.http import rates
from common.http.asgi import REPEATED_HEADERS
from tasks import gate
from tasks.gate import Replay
from tasks.intake import submission
from tasks.intake.drafts import Draft
from tasks.intake.submission import Outcome
from tasks.shown import listing, quotes, representation
from tasks_api import admissions, body_digests, drafting, json_body, receipts
from tasks_api.base_view import TaskApiView
from tasks_api.receipts import Receipt, Shown

Promised = Callable[[Draft, "Future[Outcome]"], None]


class SubmissionView(TaskApiView):
    """A path whose POST makes a task, by whichever front. Its query is refused with its fields: a replay answers
    whatever it holds."""

    idempotency_key: str | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "POST":
            return super().initial(request, *args, **kwargs)
        sent = request.headers.get("Idempotency-Key")
        problem = key_problem(sent, is_repeated="idempotency-key" in request.META.get(REPEATED_HEADERS, ()))
        self.admission = admissions.of(request, idempotency_key=None if problem else sent)
        if problem:
            raise InvalidRequest(f"Idempotency-Key: {problem}.", param="Idempotency-Key")
        self.idempotency_key = sent
        return None

    def post(self, request: Request) -> Response:
        """The order of checks is the contract's (section 1): a replay answers whatever is wrong, at its own rate."""
        if replay := self.admission.replay:
            rates.check("replay", self.caller.key_id)
            return self.replayed(request, replay)
        rates.check("submit", self.caller.key_id)
        gate.refuse_while_paused(self.admission.service)
        return self.submitted(request)

    def replayed(self, request: Request, replay: Replay) -> Response:
        """The answer that shows the task of an Idempotency-Key once more."""
        raise NotImplementedError

    def submitted(self, request: Request) -> Response:
        """The answer to a new task; it ends in `handed_on`."""
        raise NotImplementedError

    def handed_on(self, request: Request, draft: Draft, shown: Shown, promised: Promised | None = None) -> Response:
        """The draft goes to the front, which will answer; where there is no front, this does. `promised` is told of
        the outcome that the front waits for."""
        submit = request.META.get(receipts.SUBMIT)
        if submit is None:
            return whole(shown(draft, submission.submit_one(draft)))
        promise = submit(draft, shown)
        if promised:
            promised(draft, promise)
        return Response(status=202)


class TasksView(SubmissionView):
    """POST submits, GET lists."""

    query_names = listing.PARAMETERS

    def replayed(self, request: Request, replay: Replay) -> Response:
        is_same = replay.body_digest == body_digests.of(json_body.raw(request))
        return whole(receipts.replayed(self.caller.key_id, replay.task_id, is_same_body=is_same))

    def submitted(self, request: Request) -> Response:
        draft = drafting.draft(self.admission, self.document(request), idempotency_key=self.idempotency_key)
        return self.handed_on(request, draft, receipts.of)

    def get(self, request: Request) -> Response:
        found = listing.page(self.caller.key_id, self.parameters)
        tasks = [representation.represent(task) for task in found.tasks]
        return Response({"object": "list", "data": tasks, "next_cursor": found.next_cursor})


class QuoteView(TaskApiView):
    """POST prices a submission without storing anything."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.admit(request)  # its query is refused with its fields, as that of a submission

    def post(self, request: Request) -> Response:
        prepared = self.prepared(self.document(request))
        return Response(quotes.shown(quotes.of(self.caller, prepared)))


def key_problem(sent: str | None, *, is_repeated: bool) -> str | None:
    """What is wrong with the Idempotency-Key; repeated ones come joined, and one may hold a comma itself."""
    if is_repeated:
        return "given more than once"
    if sent is not None and not sent.strip():
        return "must not be blank"
    if sent is not None and not admissions.IDEMPOTENCY_KEY.fullmatch(sent):
        return "must be 1 to 255 printable ASCII characters"
    return None


def whole(answer: Receipt) -> Response:
    return Response(answer.document, status=answer.status, headers=answer.headers)
