"""Lengths, resolutions and ratios of films to try on a route: what its channel model names, what has a price, what is
usual. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from adapters import expression
from adapters.base import TaskRequest
from billing.modes import ANY_TIER
from catalog.entries import RouteEntry
from catalog.runnable.trials import PROMPT, Trials
from common import documents

Size = tuple[str, str]
"""A resolution and a ratio."""

SECONDS = (5, 4, 6, 8, 10, *range(1, 61))
RESOLUTIONS = ("720p", "1080p", "480p", "768p", "4k", "2k", "360p", "540p")
RATIOS = ("16:9", "adaptive", "9:16", "1:1", "4:3", "3:4", "21:9", "3:2", "2:3", "9:21")
LENGTH = "params.duration"


def of_some_length(trials: Trials, size: Size) -> TaskRequest:
    """A request with a length that the route does not complain of, if there is one."""
    (route,) = trials.routes
    request = TaskRequest(
        modality="video", prompt=PROMPT, duration=SECONDS[0], resolution=size[0], aspect_ratio=size[1]
    )
    said = route.capabilities.get("durations")
    spans = said if isinstance(said, list) else documents.shown(said).values()
    named = [int(text) for text in _mapped(route, "duration") if text.isdecimal()]
    known = [each for each in (*spans, *named) if isinstance(each, int)]
    for seconds in dict.fromkeys([*known, *SECONDS]):
        if LENGTH not in trials.tried(lasting := replace(request, duration=seconds)).complaints:
            return lasting
    return request


def of(trials: Trials) -> list[Size]:
    """Resolutions with ratios that may run, the declared ones first."""
    (route,) = trials.routes
    table = expression.pixel_sizes(route.adapter, route.target) if route.adapter else {}
    priced = [tier for tier in trials.model.prices if tier != ANY_TIER]
    spelled = [*priced, *(tier.lower() for tier in priced)]
    declared = route.capabilities.get("resolutions")
    resolutions = _once(declared, table, _mapped(route, "resolution"), spelled, RESOLUTIONS)
    ratios = _once(
        route.capabilities.get("ratios"),
        [ratio for row in table.values() for ratio in row],
        _mapped(route, "aspect_ratio"),
        RATIOS,
    )
    return list(product(resolutions, ratios))


def _once(*lists: Iterable[str] | None) -> list[str]:
    return list(dict.fromkeys(text for listed in lists for text in listed or ()))


def _mapped(route: RouteEntry, name: str) -> Mapping[str, Any]:
    """The values that a described provider has words for."""
    places = (route.capabilities, documents.shown(route.channel.options.get("template")))
    maps = (documents.shown(place.get("maps")) for place in places)
    return {value: word for each in maps for value, word in documents.shown(each.get(name)).items()}
