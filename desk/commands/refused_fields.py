"""Survey of fields in the tasks of the last 30 days that would be refused now: for `doctor`, after an upgrade or a
catalog change.

Only the newest tasks are read, each checked against the channel model that ran it, or those that may. The result has
paths and counts but no values: a customer may have put a secret there.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters import expression, registry
from adapters.base import TaskRequest
from catalog import snapshot
from catalog.entries import RouteEntry
from catalog.snapshot import Catalog
from common import ids
from common.documents import Unreadable
from tasks.models import RouteSet, Task, TaskPayload
from tasks.request import stored_params

DAYS = 30
MOST_TASKS = 5_000
BATCH = 20  # params may have megabytes
JUDGED = ("params.extra_body", "params.provider_options", "params.prompt")
INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedFields:
    """Number of tasks read, and of tasks with a refused field by channel, model and path. `is_whole`: all tasks of the
    period were read."""

    tasks: int
    is_whole: bool
    refused: Counter[tuple[str, str, str]] = field(default_factory=Counter)


def survey() -> RefusedFields:
    """Survey at most MOST_TASKS of the newest tasks, their params read in batches."""
    floor = ids.task_id_floor(time.time() - DAYS * 86_400)
    rows = Task.objects.filter(id__gte=floor).order_by("-id").values_list("id", "modality", "route_id", "route_set_id")
    tasks = list(rows[: MOST_TASKS + 1])
    refused: Counter[tuple[str, str, str]] = Counter()
    catalog = snapshot.latest()
    for start in range(0, min(len(tasks), MOST_TASKS), BATCH):
        refused.update(_of_batch(tasks[start : min(start + BATCH, MOST_TASKS)], catalog))
    return RefusedFields(tasks=min(len(tasks), MOST_TASKS), is_whole=len(tasks) <= MOST_TASKS, refused=refused)


def _of_batch(tasks: Sequence[Any], catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    params = dict(TaskPayload.objects.filter(task_id__in=[task[0] for task in tasks]).values_list("task_id", "params"))
    sets = dict(RouteSet.objects.filter(id__in={task[3] for task in tasks}).values_list("id", "routes"))
    names = {model.id: model.name for model in catalog.models()}
    for task_id, modality, route_id, set_id in tasks:
        request = _request(modality, params.get(task_id))
        if request is None:
            continue
        wanted = [route_id] if route_id is not None else sets.get(set_id, [])
        routes = filter(None, map(catalog.route, wanted))
        offers = {(route.channel.name, names[route.model_id]): route for route in routes}
        for (channel, model), route in offers.items():
            yield from ((channel, model, path) for path in _refused(request, route))


def _request(modality: str, params: object) -> TaskRequest | None:
    """Load the stored request; None if retention deleted the params or they cannot be read."""
    try:
        return stored_params.load(modality, params) if params is not None else None
    except Unreadable:
        return None


def _refused(request: TaskRequest, route: RouteEntry) -> set[str]:
    """Collect the refused paths, with `[]` for any list element."""
    adapter = registry.get(route.channel.adapter)
    if adapter is None or request.modality not in adapter.modalities:
        return set()
    problems = expression.check(adapter, request, route.target)
    return {INDEX.sub("[]", problem.field) for problem in problems if problem.field.startswith(JUDGED)}
