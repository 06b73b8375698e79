"""What a queued task waits for, route by route, in words for the operator."""

from collections.abc import Callable, Mapping

from catalog import pausing, snapshot
from catalog.entries import RouteEntry
from catalog.models import Channel, MediaModel
from catalog.snapshot import Catalog
from tasks.claims import occupancy
from tasks.failover import Obstacle
from tasks.models import Task


def of(task: Task) -> list[str]:
    """One clause for each open route that cannot be taken now; empty where the task is not queued."""
    if task.status != "queued":
        return []
    catalog = snapshot.latest()
    ways = occupancy.ways(task.open_routes_id, catalog, occupancy.read(catalog))
    found = (_words(way.obstacle, way.route_id, catalog) for way in ways if way.obstacle)
    return list(dict.fromkeys(found))


def _words(obstacle: Obstacle, route_id: int, catalog: Catalog) -> str:
    route = catalog.route(route_id)
    return f"route #{route_id} is in the catalog no more" if route is None else WORDS[obstacle](route)


def _paused(route: RouteEntry) -> str:
    rows = (*Channel.objects.filter(pk=route.channel.id), *MediaModel.objects.filter(pk=route.model_id))
    return " and ".join(pausing.told(row) for row in rows if pausing.standing(row) == "paused")


WORDS: Mapping[Obstacle, Callable[[RouteEntry], str]] = {
    "busy": lambda route: f"channel {route.channel.name} runs as many tasks as it may",
    "paused": _paused,
    "cooling down": lambda route: f"channel {route.channel.name} cools down",
    "disabled": lambda route: f"every credential of channel {route.channel.name} is disabled",
}
