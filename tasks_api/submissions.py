"""Step 1: `POST /v1/tasks` and its quote, and the list of what was submitted."""

import re
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from common import moments, strict_json
from common.asgi import REPEATED_HEADERS
from common.errors import ApiError, ApiPaused, InvalidRequest
from common.money import usd
from tasks import submission
from tasks.drafts import PreparedSubmission
from tasks.gate import Admission, Replay, admit
from tasks.shown import listing, representation
from tasks.submission import Created
from tasks_api import body_digests, json_body, rates
from tasks_api.base_view import TaskApiView

IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")


class TasksView(TaskApiView):
    """POST submits, GET lists. A submission's query is refused with its fields: a replay answers whatever it holds."""

    query_names = listing.PARAMETERS
    idempotency_key: str | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "POST":
            return super().initial(request, *args, **kwargs)
        sent = request.headers.get("Idempotency-Key")
        problem = key_problem(sent, is_repeated="idempotency-key" in request.META.get(REPEATED_HEADERS, ()))
        self.admission = admit(request.headers.get("Authorization"), idempotency_key=None if problem else sent)
        if problem:
            raise InvalidRequest(f"Idempotency-Key: {problem}.")
        self.idempotency_key = sent
        return None

    def post(self, request: Request) -> Response:
        """The order of checks is the contract's (section 1): a replay answers whatever is wrong, at its own rate."""
        if replay := self.admission.replay:
            rates.check("replay", self.caller.key_id)
            return self.replayed(replay.task_id, replay.body_digest == body_digests.of(json_body.raw(request)))
        rates.check("submit", self.caller.key_id)
        refuse_while_paused(self.admission)
        document = self.document(request)
        prepared, digest = self.prepared(document), strict_json.digest_of(document)
        draft = submission.draft(prepared, caller=self.caller, body_digest=digest, idempotency_key=self.idempotency_key)
        outcome = submission.submit_one(draft)
        if isinstance(outcome, ApiError):
            raise outcome
        if isinstance(outcome, Replay):
            return self.replayed(outcome.task_id, outcome.body_digest == digest)
        return accepted(created(prepared, outcome))

    def replayed(self, task_id: str, is_same_body: bool) -> Response:
        response = accepted(representation.submission(self.task(task_id)))
        response["Idempotency-Replayed"] = "true"
        if not is_same_body:
            response["Idempotency-Body-Mismatch"] = "true"
        return response

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
        left = self.caller.balance_micros - self.caller.held_micros - prepared.price.estimate_micros
        return Response(
            {
                "model": prepared.body.model,
                "modality": prepared.model.modality,
                "plan": prepared.decision.plan.name,
                "estimated_cost": usd(prepared.price.estimate_micros),
                "currency": "USD",
                "balance_after": usd(left),
                "affordable": left >= 0,
                "eligible_routes": len(prepared.decision.kept),
            }
        )


def key_problem(sent: str | None, *, is_repeated: bool) -> str | None:
    """What is wrong with the Idempotency-Key; repeated ones come joined, and one may hold a comma itself."""
    if is_repeated:
        return "given more than once"
    if sent is not None and not IDEMPOTENCY_KEY.fullmatch(sent):
        return "must be 1 to 255 printable ASCII characters"
    return None


def refuse_while_paused(admission: Admission) -> None:
    service = admission.service
    if service.is_paused:
        raise ApiPaused(service.message, headers={"Retry-After": str(service.retry_after_seconds)})


def created(prepared: PreparedSubmission, outcome: Created) -> dict[str, Any]:
    """The six fields of a new task, as `representation.submission` gives those of an existing one."""
    return {
        "id": outcome.task_id,
        "status": "queued",
        "modality": prepared.model.modality,
        "model": prepared.body.model,
        "created_at": moments.iso(outcome.created_at),
        "estimated_cost": usd(prepared.price.estimate_micros),
    }


def accepted(answer: dict[str, Any]) -> Response:
    return Response(answer, status=202, headers={"Location": f"/v1/tasks/{answer['id']}", "Retry-After": "1"})
