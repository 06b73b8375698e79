"""Explanation of a request under a plan: route, price and upstream request, for pasted JSON or a task."""

from dataclasses import dataclass
from typing import Any

from accounts.models import ApiKey
from billing.pricing import Price
from catalog import routing, snapshot
from catalog.models import Plan, Route
from catalog.snapshot import Catalog
from common.documents import Unreadable
from common.errors import ApiError, InvalidRequest, UnsupportedModel
from desk.commands import explain
from tasks.assets import inputs
from tasks.intake import examination
from tasks.intake.drafts import PreparedSubmission
from tasks.intake.examination import Examination
from tasks.models import Task, TaskPayload
from tasks.request import stored_params
from tasks.request.values import SubmissionBody

NOBODY = 0  # no key has this id, and so it owns no asset
LOOKED_AT = 200
RECENT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Explained request; `plan` serves it, None if the checks ended earlier."""

    answer: dict[str, Any]
    plan: str | None
    price: Price | None


def document(plan: Plan, submitted: dict[str, Any], key: ApiKey | None) -> Explained:
    """Explain the body of a submission, for a key, or for one that has chosen this plan for every model."""
    if key is not None:
        return _told(explain.explain(key, submitted))
    return _told(examination.examine(NOBODY, submitted, snapshot.latest().under(plan.pk)))


def task(plan: Plan, found: Task) -> Explained:
    """Explain a task's request by today's catalog under this plan."""
    return _told(_examined(found, snapshot.latest().under(plan.pk)))


def _told(found: Examination) -> Explained:
    answer = explain.shown(found)
    price = None if isinstance(found.outcome, ApiError) else found.outcome.price
    return Explained(answer=answer, plan=answer["plan"], price=price)


def _examined(found: Task, catalog: Catalog) -> Examination:
    request, survey = None, None
    try:
        stored = TaskPayload.objects.filter(task_id=found.pk).values_list("params", flat=True).first()
        request = inputs.with_upload_urls(inputs.judged(stored_params.load(found.modality, stored)), found.pk)
        model = next((each for each in catalog.models() if each.id == found.media_model_id and each.enabled), None)
        if model is None:
            raise UnsupportedModel("model: it was deleted or disabled.")
        survey = routing.survey(catalog.resolved(NOBODY, model), request)
        decision = routing.decide(survey)
        price = examination.price_of(examination.terms(catalog, model, decision.plan), decision, request)
    except Unreadable as unreadable:
        return Examination(outcome=InvalidRequest(f"The task's params can no longer be read: {unreadable}"))
    except ApiError as error:
        return Examination(request=request, survey=survey, outcome=error)
    body = SubmissionBody(model=found.model_name, modality=found.modality, params={}, metadata=None, callback_url=None)
    prepared = PreparedSubmission(body=body, model=model, request=request, decision=decision, price=price)
    return Examination(request=request, survey=survey, outcome=prepared)


def recent(plan: Plan) -> list[Task]:
    """List recent tasks with a route of the plan, among the newest of all tasks."""
    routes = set(Route.objects.filter(plan=plan).values_list("id", flat=True))
    newest = Task.objects.order_by("-id").select_related("route_set").only("id", "model_name", "status", "route_set")
    return [task for task in newest[:LOOKED_AT] if routes & set(task.route_set.routes)][:RECENT]
