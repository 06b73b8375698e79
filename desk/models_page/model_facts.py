"""Data of a model's page beside its form: prices by plan, costs and margins by channel, routes, and the public
representation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from billing import modes
from catalog import listing, model_params, pausing, prices, snapshot
from catalog.listing import ModelOffer
from catalog.models import ChannelModel, MediaModel, Plan, Route
from catalog.snapshot import Catalog
from common import money
from desk.models_page import param_forms
from tasks.shown import model_face


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Own cost of one unit on a channel and the margin under the plan's price; None if the cost is unknown."""

    channel: str
    cost_micros: int | None
    left_micros: int | None

    price_micros: int

    @property
    def is_loss(self) -> bool:
        return self.left_micros is not None and self.left_micros < 0

    @property
    def lost_micros(self) -> int:
        return -(self.left_micros or 0)

    @property
    def share(self) -> int | None:
        """Compute the margin in percent of the price."""
        if self.left_micros is None or not self.price_micros:
            return None
        return round(100 * self.left_micros / self.price_micros)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Price and margins of a tier under a plan."""

    plan: str
    price_micros: int
    margins: tuple[Margin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    """Base price of a tier and its cells by plan."""

    tier: str
    base_micros: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRoutes:
    """Plan with its routes for the model, in order of priority."""

    plan: Plan
    is_default: bool
    routes: tuple[Route, ...]

    @property
    def multiplier(self) -> str:
        """Format the multiplier without trailing zeros."""
        return format(self.plan.price_multiplier.normalize(), "f")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Data of one model: `unpriced` tiers can be requested but have no price, `unasked` ones the reverse."""

    unit: str
    plans: tuple[PlanRoutes, ...]
    tiers: tuple[TierRow, ...]
    offers: tuple[ChannelModel, ...]
    unpriced: tuple[str, ...]
    unasked: tuple[str, ...]

    @property
    def from_micros(self) -> int | None:
        """Find the lowest price under the default plan."""
        return min((row.cells[0].price_micros for row in self.tiers), default=None)


def read(model: MediaModel) -> ModelFacts:
    """Read the data of a stored model."""
    offers = tuple(model.channel_models.select_related("channel").order_by("channel__name"))
    plans = _plans(model)
    costs = {offer.channel_id: prices.exact(offer.cost) for offer in offers}
    asked = _asked_tiers(model)
    return ModelFacts(
        unit=modes.noun(model.pricing_mode),
        plans=plans,
        tiers=tuple(_tier(tier, Decimal(str(usd)), plans, costs) for tier, usd in model.prices.items()),
        offers=offers,
        unpriced=tuple(tier for tier in asked if tier not in model.prices),
        unasked=tuple(tier for tier in model.prices if asked and tier not in asked),
    )


def _asked_tiers(model: MediaModel) -> list[str]:
    """List the tiers that requests may ask for, if the model is priced by tier."""
    if param_forms.unreadable(model.modality, model.params):
        return []
    return model_params.listed_tiers(model.pricing_mode, model.params)


def effective(model: MediaModel) -> tuple[tuple[str, int], ...]:
    """Compute the prices under the default plan, in micro-USD by tier."""
    factor = model.default_plan.price_multiplier
    return tuple((tier, money.times(str(usd), factor)) for tier, usd in model.prices.items())


def _plans(model: MediaModel) -> tuple[PlanRoutes, ...]:
    """List the default plan first, then the others that have routes."""
    found: dict[int, list[Route]] = defaultdict(list)
    for route in model.routes.select_related("plan", "channel").order_by("priority", "id"):
        found[route.plan_id].append(route)
    plans = {model.default_plan_id: model.default_plan} | {
        routes[0].plan_id: routes[0].plan for routes in found.values()
    }
    ordered = sorted(plans.values(), key=lambda plan: (plan.pk != model.default_plan_id, plan.name))
    return tuple(
        PlanRoutes(plan=plan, is_default=plan.pk == model.default_plan_id, routes=tuple(found[plan.pk]))
        for plan in ordered
    )


def _tier(tier: str, usd: Decimal, plans: Sequence[PlanRoutes], costs: Mapping[int, Mapping[str, Decimal]]) -> TierRow:
    cells = []
    for entry in plans:
        price = money.times(usd, entry.plan.price_multiplier)
        margins = tuple(_margin(route, price, costs.get(route.channel_id, {}), tier) for route in entry.routes)
        cells.append(Cell(plan=entry.plan.name, price_micros=price, margins=margins))
    return TierRow(tier=tier, base_micros=money.micros(usd), cells=tuple(cells))


def _margin(route: Route, price: int, costs: Mapping[str, Decimal], tier: str) -> Margin:
    cost = prices.cost_micros(costs, tier)
    return Margin(
        channel=route.channel.name,
        cost_micros=cost,
        left_micros=None if cost is None else price - cost,
        price_micros=price,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """Public representation of the model under its default plan, or why it has none. Prices in micro-USD."""

    shown: dict[str, Any] | None = None
    prices: tuple[tuple[str, int], ...] = ()
    why_not: str = ""

    @property
    def roles(self) -> list[tuple[str, Any]]:
        return list(self.shown["inputs"]["roles"].items()) if self.shown else []


def face(model: MediaModel) -> Face:
    """Represent the model as `GET /v1/tasks/models` does for a key without a chosen plan."""
    if offer := offer_of(model, snapshot.latest()):
        return Face(shown=model_face.shown(offer), prices=tuple(offer.prices.items()))
    return Face(why_not=missing(model))


def offer_of(model: MediaModel, catalog: Catalog) -> ModelOffer | None:
    """Find the model's offer under its default plan; None if it is not on offer."""
    entry = next((each for each in catalog.models() if each.id == model.pk), None)
    if entry is None or param_forms.unreadable(model.modality, model.params):
        return None
    return listing.offer_of(catalog, entry, catalog.plan(entry.default_plan_id), False)


def missing(model: MediaModel) -> str:
    """Explain why the model is not on offer, and what to do."""
    if not model.enabled:
        return "It is disabled: enable it in the form."
    if pausing.standing(model) == "drained":
        return "It is drained: resume it."
    if strange := param_forms.unreadable(model.modality, model.params):
        return f"Its params cannot be read: {', '.join(strange)}. Remove them in the form."
    if not model.prices:
        return "It has no price: enter one in the form."
    if modes.find(model.pricing_mode) is None:
        return f"No pricing mode is named {model.pricing_mode}: choose another in the form."
    if model_params.lacks_tiers(model.pricing_mode, model.params):
        return "It is priced by tier but declares none: enter the values of image size in the form."
    return (
        f"Plan {model.default_plan.name} has no route that can run it. It needs an enabled route to an enabled channel "
        "that offers the model, whose adapter supports its modality and can express a priced request of its params."
    )
