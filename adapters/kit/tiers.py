"""What tier an image request means, and whether a protocol can express its tier and its ratio."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from adapters.base import TaskRequest, Unsupported
from adapters.kit import checks
from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, by_area


def size_table(capabilities: Mapping[str, Any], default: SizeTable) -> SizeTable:
    """The capability that replaces the protocol's table."""
    table: SizeTable = capabilities.get("size_table", default)
    return table


def asked(request: TaskRequest, capabilities: Mapping[str, Any], known: Callable[[], Sequence[str]]) -> str | None:
    """The tier asked for; with only a ratio the first of the capability `tiers`, else of those that the protocol knows,
    smallest first; None with neither."""
    if request.image_size is not None or request.aspect_ratio is None:
        return request.image_size
    tiers: Sequence[str] = capabilities.get("tiers") or known()
    return tiers[0]


def tabled(request: TaskRequest, capabilities: Mapping[str, Any], table: SizeTable) -> Iterator[Unsupported]:
    """Of a protocol that takes pixels: the tier and the ratio must have a size in the table."""
    tier = asked(request, capabilities, partial(by_area, table))
    if tier is None or "size" in request.extra_body:
        return
    ratio = request.aspect_ratio or DEFAULT_RATIO
    problems = list(_allowed(tier, ratio, capabilities, list(table)))
    if not problems and tier not in table:
        problems = [Unsupported(field="params.image_size", reason=f"{tier} has no pixel size here")]
    if not problems:
        problems = list(checks.listed("params.aspect_ratio", ratio, list(table[tier])))
    yield from problems


def named(
    request: TaskRequest, capabilities: Mapping[str, Any], names: Mapping[str, str], ratios: Collection[str]
) -> Iterator[Unsupported]:
    """Of a protocol that takes names of tiers, {our tier: its name}, and ratios, each where `extra_body` does not stand
    for it."""
    tier = (
        None
        if {"size", "resolution"} & request.extra_body.keys()
        else asked(request, capabilities, partial(list, names))
    )
    if tier is not None:
        allowed = [name for name in names if name in capabilities.get("tiers", names)]
        yield from checks.listed("params.image_size", tier, allowed)
    if request.aspect_ratio is not None and "aspect_ratio" not in request.extra_body:
        allowed = [ratio for ratio in ratios if ratio in capabilities.get("ratios", ratios)]
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, allowed)


def _allowed(tier: str, ratio: str, capabilities: Mapping[str, Any], tiers: list[str]) -> Iterator[Unsupported]:
    yield from checks.listed("params.image_size", tier, capabilities.get("tiers", tiers))
    yield from checks.listed("params.aspect_ratio", ratio, capabilities.get("ratios"))
