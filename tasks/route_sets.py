"""Interned sets of routes: tasks that may take the same routes share one row, and the claim groups by it."""

import hashlib
import json
import logging
from functools import lru_cache

from common import documents
from common.documents import Unreadable
from tasks.models import RouteSet

logger = logging.getLogger(__name__)


@lru_cache(maxsize=10_000)
def identify(route_ids: frozenset[int]) -> int:
    """The id of the set of exactly these routes; cached, since a set never changes."""
    routes = sorted(route_ids)
    digest = hashlib.sha256(json.dumps(routes).encode()).hexdigest()
    return RouteSet.objects.get_or_create(digest=digest, defaults={"routes": routes})[0].id


@lru_cache(maxsize=10_000)
def routes_of(route_set_id: int) -> tuple[int, ...]:
    """The routes of a set, by id. Raises Unreadable."""
    routes = documents.listed(RouteSet.objects.get(id=route_set_id).routes, f"route set {route_set_id}")
    if not all(documents.fits(route, int) for route in routes):
        raise Unreadable(f"route set {route_set_id}: holds something else than ids")
    return tuple(routes)


@lru_cache(maxsize=10_000)
def is_readable(route_set_id: int) -> bool:
    """Whether this version can tell the routes of a set; said once in the log of a process where it cannot."""
    try:
        return routes_of(route_set_id) is not None
    except Unreadable as error:
        logger.error("no task with these open routes is claimed: %s", error)
        return False


def forget() -> None:
    """Drop what is cached. Only for tests: where transactions are rolled back, ids repeat."""
    is_readable.cache_clear()
    identify.cache_clear()
    routes_of.cache_clear()
