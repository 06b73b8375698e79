"""What routes make of tiers and ratios, in pixels."""

from collections.abc import Iterable

from adapters import expression
from adapters.kit.sizes import SizeTable
from catalog.entries import RouteEntry


def tables(routes: Iterable[RouteEntry]) -> list[SizeTable]:
    """The size tables, best route first; none of a route whose protocol has only names."""
    return [table for table in map(_table, routes) if table]


def ratios(routes: Iterable[RouteEntry]) -> list[str]:
    """The ratios that are known of the routes, each once: those that a channel model allows, else those of its table.
    None where nobody has said any."""
    found: dict[str, None] = {}
    for route in routes:
        named = route.capabilities.get("ratios") or [ratio for row in _table(route).values() for ratio in row]
        found.update(dict.fromkeys(named))
    return list(found)


def _table(route: RouteEntry) -> SizeTable:
    return expression.pixel_sizes(route.adapter, route.target) if route.adapter else {}
