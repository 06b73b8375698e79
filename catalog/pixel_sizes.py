"""What the routes of a key's effective plan for a model make of tiers and ratios, in pixels."""

from collections.abc import Iterator

from adapters import expression, registry
from adapters.kit.sizes import SizeTable
from catalog.entries import ModelEntry, RouteEntry
from catalog.snapshot import Catalog


def tables(catalog: Catalog, key_id: int, model: ModelEntry) -> list[SizeTable]:
    """The size tables, best route first; none of a route whose protocol has only names."""
    found = (_table(route) for route in _routes(catalog, key_id, model))
    return [table for table in found if table]


def ratios(catalog: Catalog, key_id: int, model: ModelEntry) -> list[str]:
    """The ratios that are known of the routes, each once: those that a channel model allows, else those of its table.
    None where nobody has said any."""
    found: dict[str, None] = {}
    for route in _routes(catalog, key_id, model):
        named = route.capabilities.get("ratios") or [ratio for row in _table(route).values() for ratio in row]
        found.update(dict.fromkeys(named))
    return list(found)


def _routes(catalog: Catalog, key_id: int, model: ModelEntry) -> Iterator[RouteEntry]:
    plan, _ = catalog.plan_for(key_id, model)
    yield from catalog.routes(plan.id, model.id)


def _table(route: RouteEntry) -> SizeTable:
    adapter = registry.get(route.channel.adapter)
    return expression.pixel_sizes(adapter, route.target) if adapter else {}
