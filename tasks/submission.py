"""Step 3: submissions become queued tasks. `prepare` decides everything that needs no lock; `submit` opens the one
transaction in which tasks, holds and events are written, for a list of drafts (one request is a list of one).
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from adapters.base import StoredFile, TaskRequest
from billing import ledger
from billing.pricing import Price
from catalog import prices, routing, snapshot
from catalog.routing import Decision
from catalog.snapshot import ModelEntry
from common import ids, sql
from common.errors import ApiError, PricingUnavailable, StorageUnavailable
from storage import blobs
from tasks import limits, route_sets
from tasks.assets import assets
from tasks.drafts import Draft, Plan
from tasks.events import events
from tasks.gate import Caller
from tasks.limits import Known
from tasks.request import url_policy
from tasks.request.body import parse
from tasks.request.params import Blob, ParamRules, with_stored
from tasks.request.params import parse as parse_params

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A new task, committed."""

    task_id: str
    created_at: datetime


Outcome = Created | Known | ApiError


def prepare(caller: Caller, document: dict[str, Any], *, catalog_version: int) -> Plan:
    """Validate, route and price, in the contract's order of checks. Raises the ApiError of the first that fails."""
    policy = url_policy.current()
    body = parse(document, policy)
    catalog = snapshot.current(catalog_version)
    model = routing.resolve(catalog, caller.key_id, body.model, body.modality)
    rules = ParamRules(catalog=model.params, urls=policy, own_asset=lambda url: assets.own_asset(caller.key_id, url))
    parsed = parse_params(model.modality, body.params, model_name=body.model, rules=rules)
    decision = routing.choose(catalog, key_id=caller.key_id, model=model, request=parsed.request)
    return Plan(
        caller=caller,
        body=body,
        model=model,
        parsed=parsed,
        decision=decision,
        price=price_of(model, decision, parsed.request),
    )


def price_of(model: ModelEntry, decision: Decision, request: TaskRequest) -> Price:
    """The frozen price: unit price of the final tier under the plan, times images, seconds or one."""
    billed = decision.kept[0].billed
    tier = "*" if model.pricing_mode == "per_request" else billed.tier
    unit = prices.unit_micros(model, decision.plan, tier) if tier else None
    if unit is None or tier is None:
        raise PricingUnavailable(
            f"No price is configured for {tier or 'the requested size'} of this model.", headers={"Retry-After": "300"}
        )
    units = {"image_matrix": billed.count, "video_duration": request.duration or 0, "per_request": 1}
    return Price(mode=model.pricing_mode, tier=tier, unit_micros=unit, quantity=units[model.pricing_mode])


def draft(plan: Plan, *, body_digest: str, idempotency_key: str | None) -> Draft:
    """Put the Data URLs into storage and find the route set. Raises StorageUnavailable."""
    blobs.check()
    route_set_id = route_sets.identify(plan.decision.kept)
    return Draft(
        plan=replace(plan, parsed=with_stored(plan.parsed, _stored(plan.parsed.blobs))),
        task_id=ids.new_task_id(),
        route_set_id=route_set_id,
        body_digest=body_digest,
        idempotency_key=idempotency_key,
    )


def _stored(found: Sequence[Blob]) -> list[StoredFile]:
    """All of them, or none."""
    files: list[StoredFile] = []
    try:
        for blob in found:
            files.append(blobs.put_input(blob.content, blob.content_type))
    except StorageUnavailable:
        _discard(files)
        raise
    return files


def submit(drafts: Sequence[Draft]) -> list[Outcome]:
    """Write the drafts that the locked accounts and limits allow, in order; a refusal touches nothing of its own.

    Seven statements in one transaction, whatever the number of drafts.
    """
    with transaction.atomic():
        accounts = ledger.lock_accounts(d.plan.caller.account_id for d in drafts)
        outcomes = limits.decide(drafts, accounts, limits.read_standing(drafts))
        fresh = [d for d, outcome in zip(drafts, outcomes, strict=True) if outcome is None]
        created = insert(fresh) if fresh else {}
    for d, outcome in zip(drafts, outcomes, strict=True):
        if outcome is not None:
            discard_blobs(d)
    return [
        outcome or Created(task_id=d.task_id, created_at=created[d.task_id])
        for d, outcome in zip(drafts, outcomes, strict=True)
    ]


def submit_one(draft_: Draft) -> Outcome:
    """`submit` of a single draft; its Data URLs are deleted again when the transaction fails."""
    try:
        return submit([draft_])[0]
    except BaseException:
        discard_blobs(draft_)
        raise


def insert(drafts: Sequence[Draft]) -> dict[str, datetime]:
    """Tasks, payloads, events, holds and accounts: five statements. Returns the moments of creation by task id."""
    created = sql.fetch(
        INSERT_TASKS.format(now=sql.now(), deadline=sql.later("r.deadline"), rows=sql.rows(TASK_COLUMNS)),
        [sql.pack(_task_row(d) for d in drafts)],
    )
    sql.run(
        "INSERT INTO tasks_taskpayload (task_id, params, trace) SELECT r.id, r.params, r.trace "
        f"FROM {sql.rows('id text, params json, trace json')}",
        [
            sql.pack(
                {
                    "id": d.task_id,
                    "params": sql.document(d.plan.parsed.stored),
                    "trace": sql.document({"plan": d.plan.decision.plan.name, "routes": d.plan.decision.trace}),
                }
                for d in drafts
            )
        ],
    )
    events.record((d.task_id, d.plan.caller.key_id, "queued", 0) for d in drafts)
    ledger.reserve(
        [
            ledger.Reservation(
                reference=d.task_id,
                account_id=d.plan.caller.account_id,
                amount_micros=d.plan.price.estimate_micros,
            )
            for d in drafts
        ]
    )
    return {task_id: sql.as_moment(at) for task_id, at in created}


TASK_COLUMNS = (
    "id text, key bigint, secret bigint, account bigint, model_name text, media_model bigint, modality text, "
    "route_set bigint, idempotency_key text, body_digest text, estimated bigint, price json, deadline bigint, "
    "callback_url text, metadata json"
)
INSERT_TASKS = """
INSERT INTO tasks_task (id, key_id, secret_id, account_id, origin, model_name, media_model_id, modality, status,
    attempt, requeues, route_set_id, open_routes_id, idempotency_key, body_digest, estimated_micros, price,
    deadline_at, created_at, callback_url, metadata)
SELECT r.id, r.key, r.secret, r.account, 'async', r.model_name, r.media_model, r.modality, 'queued',
    0, 0, r.route_set, r.route_set, r.idempotency_key, r.body_digest, r.estimated, r.price,
    {deadline}, {now}, r.callback_url, r.metadata
FROM {rows} WHERE true RETURNING id, created_at
"""


def _task_row(d: Draft) -> dict[str, Any]:
    plan = d.plan
    return {
        "id": d.task_id,
        "key": plan.caller.key_id,
        "secret": plan.caller.secret_id,
        "account": plan.caller.account_id,
        "model_name": plan.body.model,
        "media_model": plan.model.id,
        "modality": plan.model.modality,
        "route_set": d.route_set_id,
        "idempotency_key": d.idempotency_key,
        "body_digest": d.body_digest,
        "estimated": plan.price.estimate_micros,
        "price": sql.document(plan.price.snapshot()),
        "deadline": settings.TASK_DEADLINES["queue"],
        "callback_url": plan.body.callback_url,
        "metadata": sql.document(plan.body.metadata),
    }


def discard_blobs(refused: Draft) -> None:
    """Delete the Data URLs of a draft that became no task."""
    _discard(image.stored for image in refused.plan.parsed.request.images if image.stored is not None)


def _discard(files: Iterable[StoredFile]) -> None:
    """Never raises for a faulty storage, so that the client learns what was refused."""
    for file in files:
        try:
            blobs.delete(file.key)
        except StorageUnavailable:
            logger.warning("input %s could not be discarded", file.key)
