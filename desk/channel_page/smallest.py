"""Search for the smallest request that a channel model can run, which a test of its channel buys."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from adapters import expression, registry
from adapters.base import Adapter, Target, TaskRequest, Unsupported, UpstreamRequest
from billing import modes
from catalog import prices
from catalog.models import ChannelModel

PROMPT = "A grey circle on white."
# Usual values, for models that declare none.
SECONDS = (5, 4, 6, 8, 10)
TIERS = ("1K", "2K", "512")
RESOLUTIONS = ("720p", "768p", "1080p", "480p")


class Untestable(Exception):
    """Raised when a channel model cannot be tested; the message is a sentence for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """Request with its upstream form and own cost in micro-USD, None if the catalog has none."""

    request: TaskRequest
    upstream: UpstreamRequest
    cost_micros: int | None

    @property
    def words(self) -> str:
        """Describe what is bought."""
        tier = self.upstream.billed.tier
        what = "1 picture" if self.request.modality == "image" else f"a film of {self.request.duration or '?'} s"
        return f"{what} of {tier}" if tier else what


def build_target(offer: ChannelModel) -> Target:
    channel = offer.channel
    return Target(
        adapter=channel.adapter,
        base_url=channel.base_url,
        upstream_model=offer.upstream_model,
        capabilities=offer.capabilities,
        options=channel.options,
        extra_fields=offer.extra_fields,
        fixed=offer.fixed,
    )


def find(offer: ChannelModel, prompt: str = PROMPT) -> Smallest:
    """Find the request with the lowest own cost, or the lowest price if own costs are unknown. Raises Untestable."""
    adapter = registry.get(offer.channel.adapter)
    if adapter is None or offer.model.modality not in adapter.modalities:
        raise Untestable(f"adapter {offer.channel.adapter} runs no {offer.model.modality} models")
    if modes.find(offer.model.pricing_mode) is None:
        raise Untestable(f"its model has the pricing mode {offer.model.pricing_mode}, which does not exist")
    target, refused = build_target(offer), list[Unsupported]()
    for requests in _rounds(offer, prompt):
        found = list[Smallest]()
        for request in requests:
            if reasons := expression.check(adapter, request, target):
                refused = refused or reasons
            else:
                found.append(_built(adapter, request, target, offer))
        if found:
            return min(found, key=lambda each: _rank(each, offer))
    why = "; ".join(f"{each.field} {each.reason}" for each in refused)
    raise Untestable(f"no request with a prompt alone can be expressed: {why}")


def _rounds(offer: ChannelModel, prompt: str) -> Iterator[Iterator[TaskRequest]]:
    """Yield rounds of small requests, the most usual first; undeclared lengths are tried one at a time."""
    if offer.model.modality == "image":
        yield _pictures(offer, prompt)
        return
    said = offer.capabilities.get("durations", ())
    spans = said if isinstance(said, list) else said.values() if said else ()
    declared = _once(*spans, *_values(offer, "duration"))
    for seconds in [declared] if declared else [[each] for each in SECONDS]:
        yield _films(offer, prompt, seconds)


def _pictures(offer: ChannelModel, prompt: str) -> Iterator[TaskRequest]:
    sizes = _once(*offer.capabilities.get("tiers", ()), *_priced(offer), *_values(offer, "image_size")) or TIERS
    for size, ratio in product([*sizes, None], (None, "1:1")):
        yield TaskRequest(modality="image", prompt=prompt, image_size=size, aspect_ratio=ratio)


def _films(offer: ChannelModel, prompt: str, seconds: Sequence[int]) -> Iterator[TaskRequest]:
    declared = _once(*offer.capabilities.get("resolutions", ()), *_priced(offer), *_values(offer, "resolution"))
    sizes = [*(declared or RESOLUTIONS), None]
    for size, ratio, length, sound in product(sizes, ("16:9", None), seconds, (False, None)):
        yield TaskRequest(
            modality=offer.model.modality,
            prompt=prompt,
            resolution=size,
            aspect_ratio=ratio,
            duration=length,
            generate_audio=sound,
        )


def _values(offer: ChannelModel, param: str) -> Sequence[Any]:
    """Get the values that the model declares for a param."""
    values: Sequence[Any] = offer.model.params.get(param, {}).get("values", ())
    return values


def _priced(offer: ChannelModel) -> list[str]:
    """List the tiers that have an own cost or a price."""
    return [tier for tiers in (offer.cost or {}, offer.model.prices) for tier in tiers if tier != "*"]


def _once(*values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def _built(adapter: Adapter, request: TaskRequest, target: Target, offer: ChannelModel) -> Smallest:
    upstream = expression.build(adapter, request, target)
    cost = prices.cost_micros(prices.exact(offer.cost), upstream.billed.tier or "", _units(request, upstream, offer))
    return Smallest(request=request, upstream=upstream, cost_micros=cost)


def _units(request: TaskRequest, upstream: UpstreamRequest, offer: ChannelModel) -> float:
    mode = modes.get(offer.model.pricing_mode)
    return mode.units(files=upstream.billed.count, seconds=request.duration or 1)


def _rank(smallest: Smallest, offer: ChannelModel) -> tuple[Any, ...]:
    """Rank by known cost, then price, then named tier."""
    request, upstream = smallest.request, smallest.upstream
    mode, tier = modes.get(offer.model.pricing_mode), upstream.billed.tier
    price = mode.price_at(prices.exact(offer.model.prices), mode.tier(tier) or "")
    return (
        *_known(smallest.cost_micros),
        *_known(None if price is None else float(price) * _units(request, upstream, offer)),
        tier is None,
    )


def _known(amount: Any) -> tuple[bool, Any]:
    return amount is None, amount or 0
