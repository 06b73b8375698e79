"""What a picture of the catalog (`catalog/snapshot.py`) is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from adapters import registry
from adapters.base import Adapter, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A public model; `prices` are USD per unit by tier, before any plan's multiplier. One that is drained counts as
    disabled: nothing new is taken for it."""

    id: int
    name: str
    aliases: tuple[str, ...]
    modality: str
    default_plan_id: int
    pricing_mode: str
    prices: Mapping[str, Decimal]
    params: Mapping[str, Any]
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    id: int
    name: str
    price_multiplier: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelEntry:
    """`standing` as `catalog/pausing.py` has it."""

    id: int
    name: str
    adapter: str
    base_url: str
    options: Mapping[str, Any]
    max_running: int | None
    enabled: bool
    standing: str = "on"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEntry:
    """An enabled route together with the channel model that it leads to. `cost` is the operator's own, in USD; `target`
    is always the same object, and `adapter` None where none is registered."""

    id: int
    plan_id: int
    model_id: int
    channel: ChannelEntry
    priority: int
    weight: int
    resubmit_ambiguous: bool
    upstream_model: str
    capabilities: Mapping[str, Any]
    extra_fields: Sequence[str]
    fixed: Mapping[str, Any]
    cost: Mapping[str, Decimal]
    target: Target = field(init=False, repr=False, compare=False)
    adapter: Adapter | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "adapter", registry.get(self.channel.adapter))
        target = Target(
            adapter=self.channel.adapter,
            base_url=self.channel.base_url,
            upstream_model=self.upstream_model,
            capabilities=self.capabilities,
            options=self.channel.options,
            extra_fields=self.extra_fields,
            fixed=self.fixed,
        )
        object.__setattr__(self, "target", target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A model as a key gets it: under its effective plan, which it may have selected, with the plan's routes for it."""

    model: ModelEntry
    plan: PlanEntry
    is_selected: bool
    routes: tuple[RouteEntry, ...]
