"""Step 1: HTTP. Each view parses, calls one domain function and represents; nothing is decided here."""

import re
from contextlib import suppress
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from catalog import listing as catalog_listing
from catalog import snapshot
from common import strict_json
from common.errors import (
    ApiError,
    ApiPaused,
    AuthenticationError,
    BillingUnsupported,
    InvalidRequest,
    ScopeRequired,
    TaskNotFound,
)
from common.ids import is_task_id
from common.money import usd
from tasks import cancellation, submission
from tasks.drafts import Plan
from tasks.gate import Admission, Caller, admit
from tasks.limits import Known
from tasks.shown import listing, representation, usage
from tasks.shown.representation import TaskView
from tasks.submission import Created
from tasks_api import json_body, model_list, rates

IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,255}")
WAIT = re.compile(r"[0-9]+")
SECONDS_OF_AGE_PER_SECOND_OF_POLLING = 6


class TaskApiView(APIView):
    """Admits the caller before anything else."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    admission: Admission

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.admission = admit(request.headers.get("Authorization"))
        rates.check("read", self.caller.key_id)

    @property
    def caller(self) -> Caller:
        return self.admission.caller

    def task(self, task_id: str) -> TaskView:
        """The caller's own task. Raises TaskNotFound."""
        found = representation.find_one(self.caller.key_id, task_id) if is_task_id(task_id) else None
        if found is None:
            raise TaskNotFound()
        return found

    def document(self, request: Request) -> dict[str, Any]:
        """The body of a submission. Raises BillingUnsupported, UnsupportedMediaType, InvalidRequest, in this order."""
        if self.caller.is_subscription:
            raise BillingUnsupported()
        return json_body.document(request)

    def plan(self, document: dict[str, Any]) -> Plan:
        """The checks from fields to pricing. Raises the ApiError of the first that fails."""
        version = self.admission.service.catalog_version
        return submission.prepare(self.caller, document, catalog_version=version)


class TasksView(TaskApiView):
    """POST submits, GET lists."""

    idempotency_key: str | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "POST":
            return super().initial(request, *args, **kwargs)
        sent = request.headers.get("Idempotency-Key")
        is_valid = sent is None or IDEMPOTENCY_KEY.fullmatch(sent) is not None
        self.admission = admit(request.headers.get("Authorization"), idempotency_key=sent if is_valid else None)
        if not is_valid:
            raise InvalidRequest("Idempotency-Key: must be 1 to 255 printable ASCII characters.")
        self.idempotency_key = sent
        return None

    def post(self, request: Request) -> Response:
        """The order of checks is the contract's (section 1): a replay answers whatever else is wrong."""
        if replay := self.admission.replay:
            return self.replayed(replay.task_id, replay.body_digest == strict_json.digest(json_body.raw(request)))
        rates.check("submit", self.caller.key_id)
        refuse_while_paused(self.admission)
        document = self.document(request)
        plan, digest = self.plan(document), strict_json.digest_of(document)
        outcome = submission.submit_one(
            submission.draft(plan, body_digest=digest, idempotency_key=self.idempotency_key)
        )
        if isinstance(outcome, ApiError):
            raise outcome
        if isinstance(outcome, Known):
            return self.replayed(outcome.task_id, outcome.body_digest == digest)
        return accepted(created(plan, outcome))

    def replayed(self, task_id: str, is_same_body: bool) -> Response:
        response = accepted(representation.submission(self.task(task_id)))
        response["Idempotency-Replayed"] = "true"
        if not is_same_body:
            response["Idempotency-Body-Mismatch"] = "true"
        return response

    def get(self, request: Request) -> Response:
        found = listing.page(self.caller.key_id, single_values(request))
        tasks = [representation.represent(task) for task in found.tasks]
        return Response({"object": "list", "data": tasks, "next_cursor": found.next_cursor})


class TaskDetailView(TaskApiView):
    """GET shows one task; `?wait` is served by the front, and only checked here."""

    def get(self, request: Request, task_id: str) -> Response:
        wait = request.query_params.get("wait")
        if wait is not None and not WAIT.fullmatch(wait):
            raise InvalidRequest("wait: must be a whole number of seconds; more than 60 count as 60.")
        task = self.task(task_id)
        headers = {"ETag": representation.etag(task)}
        if task.finished_at is None:
            headers["Retry-After"] = str(poll_after(task))
        if is_known(request.headers.get("If-None-Match", ""), headers["ETag"]):
            return Response(status=304, headers=headers | {"Cache-Control": "no-store"})
        return Response(representation.represent(task), headers=headers)


class CancelView(TaskApiView):
    """POST cancels a queued task."""

    def post(self, request: Request, task_id: str) -> Response:
        if not is_task_id(task_id):
            raise TaskNotFound()
        cancellation.cancel(self.caller.key_id, task_id)
        return Response(representation.represent(self.task(task_id)))


class QuoteView(TaskApiView):
    """POST prices a submission without storing anything."""

    def post(self, request: Request) -> Response:
        plan = self.plan(self.document(request))
        left = self.caller.balance_micros - self.caller.held_micros - plan.price.estimate_micros
        return Response(
            {
                "model": plan.body.model,
                "modality": plan.model.modality,
                "plan": plan.decision.plan.name,
                "estimated_cost": usd(plan.price.estimate_micros),
                "currency": "USD",
                "balance_after": usd(left),
                "affordable": left >= 0,
                "eligible_routes": len(plan.decision.kept),
            }
        )


class ModelsView(TaskApiView):
    """GET lists what this key can run now, at its prices."""

    def get(self, request: Request) -> Response:
        catalog = snapshot.current(self.admission.service.catalog_version)
        offers = catalog_listing.offers(catalog, self.caller.key_id)
        return Response({"object": "list", "data": [model_list.shown(offer) for offer in offers]})


class UsageView(TaskApiView):
    """GET sums up the key's own tasks."""

    def get(self, request: Request) -> Response:
        return Response(usage.of(self.caller))


class UnknownPathView(TaskApiView):
    """Any other path below /v1/tasks."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """No key is needed to learn that a path does not exist; a disabled API says so first."""
        with suppress(AuthenticationError, ScopeRequired):
            admit(request.headers.get("Authorization"))
        raise TaskNotFound("No such path.")


def refuse_while_paused(admission: Admission) -> None:
    service = admission.service
    if service.is_paused:
        raise ApiPaused(service.message, headers={"Retry-After": str(service.retry_after_seconds)})


def created(plan: Plan, outcome: Created) -> dict[str, Any]:
    """The six fields of a new task, as `representation.submission` gives those of an existing one."""
    return {
        "id": outcome.task_id,
        "status": "queued",
        "modality": plan.model.modality,
        "model": plan.body.model,
        "created_at": representation.iso(outcome.created_at),
        "estimated_cost": usd(plan.price.estimate_micros),
    }


def accepted(answer: dict[str, Any]) -> Response:
    return Response(answer, status=202, headers={"Location": f"/v1/tasks/{answer['id']}", "Retry-After": "1"})


def poll_after(task: TaskView) -> int:
    """Seconds: 1 for a young task, up to 10 with its age."""
    age = (representation.now() - task.created_at).total_seconds()
    return max(1, min(10, int(age / SECONDS_OF_AGE_PER_SECOND_OF_POLLING)))


def is_known(if_none_match: str, etag: str) -> bool:
    """Whether the client has this state of the task; tags are compared weakly (RFC 9110, 13.1.2)."""
    known = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in known or known == ["*"]


def single_values(request: Request) -> dict[str, str]:
    """The query's parameters, each at most once. Raises InvalidRequest naming the one that is repeated."""
    query = request.query_params
    for name, values in query.lists():
        if len(values) > 1:
            raise InvalidRequest(f"{name}: given more than once.")
    return query.dict()
