"""What a queued task waits for, route by route, in words for the operator."""

from collections.abc import Callable, Mapping

from catalog import pausing, snapshot
from catalog.entries import RouteEntry
from catalog.health.words import briefly
from catalog.models import Channel, MediaModel
from catalog.snapshot import Catalog
from tasks.claims import queue_state
from tasks.claims.dealing import Occupancy
from tasks.failover import Obstacle, Way
from tasks.models import Task


def of(task: Task) -> list[str]:
    """One clause for each open route that cannot be taken now; empty where the task is not queued."""
    if task.status != "queued":
        return []
    catalog = snapshot.latest()
    taken = queue_state.occupancy(catalog)
    ways = queue_state.ways(task.open_routes_id, catalog, taken, account_id=task.account_id)
    found = (_words(way, catalog, taken, task.account_id) for way in ways if way.obstacle)
    return list(dict.fromkeys(found))


def _words(way: Way, catalog: Catalog, taken: Occupancy, account_id: int) -> str:
    route = catalog.route(way.route_id)
    if route is None:
        return f"route #{way.route_id} is in the catalog no more"
    if way.obstacle == "cooling down":
        return f"channel {route.channel.name} {briefly(taken.available(route, account_id).cause)}"
    return WORDS[way.obstacle](route)


def _paused(route: RouteEntry) -> str:
    rows = (*Channel.objects.filter(pk=route.channel.id), *MediaModel.objects.filter(pk=route.model_id))
    return " and ".join(pausing.told(row) for row in rows if pausing.standing(row) == "paused")


WORDS: Mapping[Obstacle, Callable[[RouteEntry], str]] = {
    "busy": lambda route: f"channel {route.channel.name} runs as many tasks as it may",
    "paused": _paused,
    "disabled": lambda route: f"every credential of channel {route.channel.name} is disabled",
}
