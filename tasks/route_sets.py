"""Interned lists of routes: tasks that may take the same routes share one row, and the claim groups by it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from catalog.routing import RouteOption
from tasks.models import RouteSet, Task

Routes = tuple[dict[str, Any], ...]


def identify(options: Sequence[RouteOption]) -> int:
    """The id of the set of exactly these routes, in this order. One statement when it is new to the process."""
    return intern(
        {
            "route": option.route_id,
            "channel": option.channel_id,
            "channel_model": option.channel_model_id,
            "priority": option.priority,
            "weight": option.weight,
            "resubmit_ambiguous": option.resubmit_ambiguous,
        }
        for option in options
    )


def intern(routes: Iterable[dict[str, Any]]) -> int:
    """The id of the set with these rows; cached, since a set never changes."""
    return _intern(json.dumps(list(routes), sort_keys=True))


@lru_cache(maxsize=10_000)
def _intern(text: str) -> int:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return RouteSet.objects.get_or_create(digest=digest, defaults={"routes": json.loads(text)})[0].id


@lru_cache(maxsize=10_000)
def routes_of(route_set_id: int) -> Routes:
    """The rows of a set, in order."""
    return tuple(RouteSet.objects.get(id=route_set_id).routes)


def forget() -> None:
    """Drop what is cached. Only for tests: where transactions are rolled back, ids repeat."""
    _intern.cache_clear()
    routes_of.cache_clear()


def without(route_set_id: int, route_id: int) -> int | None:
    """The set without one route; None if nothing would be left."""
    left = [row for row in routes_of(route_set_id) if row["route"] != route_id]
    return intern(left) if left else None


def only(route_set_id: int, route_ids: frozenset[int]) -> int | None:
    """The set with only these of its routes; None if none of them is in it."""
    kept = [row for row in routes_of(route_set_id) if row["route"] in route_ids]
    return intern(kept) if kept else None


def submitted(task_id: str) -> int:
    """The route set that a task was submitted with."""
    return Task.objects.values_list("route_set_id", flat=True).get(id=task_id)
