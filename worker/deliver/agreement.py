"""What was agreed when a task was priced, read from its request at hand or from its rows; and how what a provider
reports differs from that and from the bill: each difference is told to the operator, none is billed.

Contract 11.6; the settlement itself is `billing/pricing.py`'s.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.base import Target, TaskRequest, UpstreamRequest
from adapters.kit.sizes import pixels
from billing.pricing import Price, Settlement
from common.documents import elements, shown
from common.money import MICROS
from tasks.assets.assets import NewAsset
from tasks.models import Task
from tasks.request import stored_params
from worker.deliver.copies import CallResult

logger = logging.getLogger(__name__)
LONGEST = 500
TOLERATED_SECONDS = 1  # films run up to half a second over at no charge
# Of the area of a tier: ratios differ, and so do providers' ideas of 4K.
MUCH, LITTLE_FILM, LITTLE_PICTURE = 1.5, 1 / 2, 1 / 3
NEAR = 0.1
LINES = re.compile(r"([0-9]{3,4})p", re.IGNORECASE)
THOUSANDS = re.compile(r"([0-9]{1,2}(?:\.[0-9])?)k", re.IGNORECASE)
FILM_LINES = {"2k": 1440, "4k": 2160}


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """What the calls of one attempt were to make together, as it was priced. `count` and `tier` are None where nobody
    knows; `tier` is the resolution of a film, which has `seconds`. `sizes` are the pixels of each tier by ratio."""

    count: int | None
    tier: str | None = None
    calls: int = 1
    seconds: int | None = None
    has_sound: bool = False
    sizes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def count_of_call(self) -> int | None:
        """What each call bought; None where nobody knows."""
        return None if self.count is None else max(1, self.count // self.calls)

    @property
    def is_film(self) -> bool:
        return self.seconds is not None


def of_request(request: TaskRequest, upstream: UpstreamRequest, target: Target) -> Agreed:
    """What is agreed with a request that is about to be bought."""
    return Agreed(
        count=upstream.billed.count,
        tier=upstream.billed.tier,
        calls=upstream.calls,
        seconds=request.duration,
        has_sound=_has_sound(target, request.generate_audio),
        sizes=_sizes(target),
    )


def of_task(task: Task, price: Price, target: Target, *, calls: int) -> Agreed:
    """What a task's rows tell long after: of a price by request the routes of the decision tell the tier. Raises
    Unreadable for a duration that cannot be read."""
    params = shown(task.payload.params)
    count, tier = _bought(task, price)
    return Agreed(
        count=count,
        tier=_text(params.get("resolution")) if task.modality == "video" else tier,
        calls=calls,
        seconds=stored_params.duration(task.payload.params or {}),
        has_sound=_has_sound(target, params.get("generate_audio")),
        sizes=_sizes(target),
    )


def _sizes(target: Target) -> dict[str, Mapping[str, Any]]:
    table = target.capabilities.get("size_table")
    return {tier: shown(sizes) for tier, sizes in shown(table).items()} if table else {}


def _bought(task: Task, price: Price) -> tuple[int | None, str | None]:
    if task.modality == "video":
        return 1, None
    if agreed := price.bought:
        return agreed.count, agreed.tier
    routes = elements(shown(task.payload.trace).get("routes"))
    billed = next((found for route in routes if (found := shown(shown(route).get("billed")))), {})
    return price.results, _text(billed.get("tier"))


def _has_sound(target: Target, asked: object) -> bool:
    """Where the model has a switch, the request decides."""
    mode = target.capabilities.get("audio", "switch")
    return mode == "always" or (mode != "never" and asked is True)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def mismatches(
    agreed: Agreed,
    results: Sequence[CallResult],
    stored: Mapping[int, Sequence[NewAsset]],
    settlement: Settlement,
) -> dict[int, str]:
    """How what each call reports differs from what is billed, by the call's id; empty texts where nothing does."""
    found = {each.call_id: differences(agreed, each, stored[each.call_id], settlement) for each in results}
    first = results[0].call_id
    found[first] = "; ".join(filter(None, (found[first], cost_difference(results, settlement))))
    for call_id, words in found.items():
        if words:
            logger.warning("call %d differs from what is billed: %s", call_id, words)
    return found


def differences(agreed: Agreed, result: CallResult, stored: Sequence[NewAsset], settlement: Settlement) -> str:
    """In words, of one call and its stored files; empty where there is none."""
    found = [
        *_count(agreed, result, stored),
        *(_seconds(agreed.seconds, result, stored, settlement) if agreed.seconds is not None else ()),
        *_size(agreed, result, stored),
    ]
    return "; ".join(found)[:LONGEST]


def cost_difference(results: Sequence[CallResult], settlement: Settlement) -> str:
    """Where the provider charges more than is billed for all of it. What is given away has no margin to lose."""
    known = [result.done.reported.cost_micros for result in results]
    reported = sum(cost for cost in known if cost is not None)
    if not 0 < settlement.actual_micros < reported:
        return ""
    return f"cost: billed ${settlement.actual_micros / MICROS:g}, reported ${reported / MICROS:g}"


def _count(agreed: Agreed, result: CallResult, stored: Sequence[NewAsset]) -> Iterator[str]:
    most, reported = agreed.count_of_call, max(result.done.reported.count or 0, result.made)
    if most is None:
        return
    billed = min(most, sum(asset.kind == result.kind for asset in stored))
    if reported != billed:
        yield f"count: billed {billed}, reported {reported}"


def _seconds(asked: int, result: CallResult, stored: Sequence[NewAsset], settlement: Settlement) -> Iterator[str]:
    billed, reported, used = settlement.seconds, result.done.duration, result.done.reported.used_seconds
    if reported is not None and (_differ(reported, asked) or _differ(reported, billed)):
        yield f"duration: asked {asked} s, billed {billed:g} s, reported {reported:g} s"
    if used is not None and used > billed and _differ(used, billed):
        yield f"usage: billed {billed:g} s, reported {used:.4g} s"
    for asset in stored:
        probed = asset.duration_seconds
        if asset.kind == "video" and probed and _differ(probed, billed):
            yield f"duration: billed {billed:g} s, the file has {probed:g} s"


def _differ(one: float, other: float) -> bool:
    return abs(one - other) >= TOLERATED_SECONDS


def _size(agreed: Agreed, result: CallResult, stored: Sequence[NewAsset]) -> Iterator[str]:
    """By what is reported; of pictures, where that is no difference, by their own pixels, if they are more."""
    reported = result.done.reported
    if reported.has_sound and agreed.is_film and not agreed.has_sound:
        yield "sound: billed without, reported with"
    if agreed.tier is None:
        return
    if reported.resolution and not _is_same(agreed.tier, reported.resolution):
        yield f"resolution: billed {agreed.tier}, reported {reported.resolution}"
    if reported.size and _is_off(agreed, reported.size):
        yield f"size: billed {agreed.tier}, reported {reported.size}"
    elif not agreed.is_film:
        yield from _large_pictures(agreed, stored)


def _large_pictures(agreed: Agreed, stored: Sequence[NewAsset]) -> Iterator[str]:
    bounds = _areas(agreed)
    for asset in stored:
        area = (asset.width or 0) * (asset.height or 0)
        if asset.kind == "image" and bounds and area > bounds[1] * MUCH:
            yield f"size: billed {agreed.tier}, the file has {asset.width}x{asset.height}"
            return


def _is_same(tier: str, resolution: str) -> bool:
    lines = _lines(tier)
    return tier.casefold() == resolution.casefold() or (lines is not None and lines == _lines(resolution))


def _is_off(agreed: Agreed, size: str) -> bool:
    """Whether pixels are clearly of another tier; false where the tier's own pixels are not known."""
    area, bounds, tier = pixels(size), _areas(agreed), agreed.tier or ""
    if area is None or bounds is None or size in agreed.sizes.get(tier, {}).values():
        return False
    lines = _lines(tier) if agreed.is_film else None
    if lines and abs(min(map(int, size.split("x"))) - lines) <= NEAR * lines:
        return False
    little = LITTLE_FILM if agreed.is_film else LITTLE_PICTURE
    return not bounds[0] * little <= area <= bounds[1] * MUCH


def _areas(agreed: Agreed) -> tuple[float, float] | None:
    """The least and the largest number of pixels of the agreed tier."""
    tier = agreed.tier or ""
    if areas := [area for size in agreed.sizes.get(tier, {}).values() if (area := pixels(size))]:
        return min(areas), max(areas)
    if agreed.is_film:
        lines = _lines(tier)
        return None if lines is None else (lines * lines * 16 / 9,) * 2
    match = THOUSANDS.fullmatch(tier)
    return ((float(match[1]) * 1024) ** 2,) * 2 if match else None


def _lines(resolution: str) -> int | None:
    """The height of a film at 16:9."""
    match = LINES.fullmatch(resolution)
    return int(match[1]) if match else FILM_LINES.get(resolution.lower())
