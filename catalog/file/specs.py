"""The entries of a catalog file, typed. `path` is where an entry stands in the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    path: str
    name: str
    modality: str
    aliases: list[str]
    default_plan: str
    pricing_mode: str
    prices: Mapping[str, str]
    params: Mapping[str, Any]
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelModelSpec:
    path: str
    model: str
    modality: str | None
    upstream_model: str
    capabilities: Mapping[str, Any]
    extra_fields: list[str]
    fixed: Mapping[str, Any]
    cost: Mapping[str, str] | None
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """`credentials`: one that the channel has, or a list of all that it has; None: those that are stored stay."""

    path: str
    name: str
    adapter: str
    base_url: str
    credentials: Mapping[str, str] | list[dict[str, str]] | None
    max_running: int | None
    options: Mapping[str, Any]
    enabled: bool
    models: list[ChannelModelSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    path: str
    model: str
    modality: str | None
    channel: str
    priority: int
    weight: int
    resubmit_ambiguous: bool
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSpec:
    path: str
    name: str
    price_multiplier: Decimal
    routes: list[RouteSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChannelSpec:
    """`name` is None where the file leaves it to us; `credentials` as of a channel."""

    path: str
    name: str | None
    base_url: str
    credentials: Mapping[str, str] | list[dict[str, str]] | None
    priority: int
    weight: int
    dialects: list[str]
    upstream_models: Mapping[str, str]
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    path: str
    name: str
    platform: str
    image_generation: bool
    channels: list[GroupChannelSpec]
    models: list[str] | None
    prices: Mapping[str, Any]
    image_prices: Mapping[str, Any]
    tool_prices: Mapping[str, str]
    extra_fields: list[str]
    extra_betas: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole file."""

    models: list[ModelSpec]
    channels: list[ChannelSpec]
    plans: list[PlanSpec]
    groups: list[GroupSpec]
