"""Interned sets of routes: tasks that may take the same routes share one row, and the claim groups by it."""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache

from tasks.models import RouteSet


def identify(route_ids: Iterable[int]) -> int:
    """The id of the set of exactly these routes, in any order; cached, since a set never changes."""
    return _identify(tuple(sorted(set(route_ids))))


@lru_cache(maxsize=10_000)
def _identify(route_ids: tuple[int, ...]) -> int:
    digest = hashlib.sha256(json.dumps(route_ids).encode()).hexdigest()
    return RouteSet.objects.get_or_create(digest=digest, defaults={"routes": route_ids})[0].id


@lru_cache(maxsize=10_000)
def routes_of(route_set_id: int) -> tuple[int, ...]:
    """The routes of a set, by id."""
    return tuple(RouteSet.objects.get(id=route_set_id).routes)


def forget() -> None:
    """Drop what is cached. Only for tests: where transactions are rolled back, ids repeat."""
    _identify.cache_clear()
    routes_of.cache_clear()
