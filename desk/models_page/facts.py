"""What a model's page shows beside its form: what each plan makes of its prices, what its channels cost and leave, its
routes, and its public face."""

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
    """What one unit costs us on a channel, and what is left of the plan's price; None where no cost is known."""

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
        """What is left, in percent of the price."""
        if self.left_micros is None or not self.price_micros:
            return None
        return round(100 * self.left_micros / self.price_micros)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A tier under a plan."""

    plan: str
    price_micros: int
    margins: tuple[Margin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRow:
    tier: str
    base_micros: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRoutes:
    """A plan and its routes for the model, the first to be tried first."""

    plan: Plan
    is_default: bool
    routes: tuple[Route, ...]

    @property
    def multiplier(self) -> str:
        """Without the zeros at its end that the column adds."""
        return format(self.plan.price_multiplier.normalize(), "f")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """`unpriced` are tiers that requests may ask for and that have no price, `unasked` the other way round."""

    unit: str
    plans: tuple[PlanRoutes, ...]
    tiers: tuple[TierRow, ...]
    offers: tuple[ChannelModel, ...]
    unpriced: tuple[str, ...]
    unasked: tuple[str, ...]

    @property
    def from_micros(self) -> int | None:
        """The lowest price under the default plan."""
        return min((row.cells[0].price_micros for row in self.tiers), default=None)


def of(model: MediaModel) -> ModelFacts:
    """As it is stored."""
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
    """The tiers that requests of a model that is priced by them may ask for."""
    if param_forms.unreadable(model.modality, model.params):
        return []
    return model_params.listed_tiers(model.pricing_mode, model.params)


def effective(model: MediaModel) -> tuple[tuple[str, int], ...]:
    """Its prices under its default plan, in micro-USD by tier."""
    factor = model.default_plan.price_multiplier
    return tuple((tier, money.times(str(usd), factor)) for tier, usd in model.prices.items())


def _plans(model: MediaModel) -> tuple[PlanRoutes, ...]:
    """The default plan first, then the others that have routes."""
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
    """What the model's clients see under its default plan, with its prices in micro-USD; or why they see nothing."""

    shown: dict[str, Any] | None = None
    prices: tuple[tuple[str, int], ...] = ()
    why_not: str = ""

    @property
    def roles(self) -> list[tuple[str, Any]]:
        return list(self.shown["inputs"]["roles"].items()) if self.shown else []


def face(model: MediaModel) -> Face:
    """As `GET /v1/tasks/models` shows it to a key that has chosen no plan."""
    if offer := offer_of(model, snapshot.latest()):
        return Face(shown=model_face.shown(offer), prices=tuple(offer.prices.items()))
    return Face(why_not=missing(model))


def offer_of(model: MediaModel, catalog: Catalog) -> ModelOffer | None:
    """The model under its default plan; None where it is not on offer there."""
    entry = next((each for each in catalog.models() if each.id == model.pk), None)
    if entry is None or param_forms.unreadable(model.modality, model.params):
        return None
    return listing.offer_of(catalog, entry, catalog.plan(entry.default_plan_id), False)


def missing(model: MediaModel) -> str:
    """Why it is not on offer, and what to do about it."""
    if not model.enabled:
        return "It is disabled: enable it in the form."
    if pausing.standing(model) == "drained":
        return "It is drained: resume it."
    if strange := param_forms.unreadable(model.modality, model.params):
        return f"Its params cannot be read: {', '.join(strange)}. Drop them in the form."
    if not model.prices:
        return "It has no price: enter one in the form."
    if modes.find(model.pricing_mode) is None:
        return f"No pricing mode is named {model.pricing_mode}: choose another in the form."
    if model_params.lacks_tiers(model.pricing_mode, model.params):
        return "It is priced by tier and offers none: enter the values of image size in the form."
    return (
        f"Plan {model.default_plan.name} has no route that can run it: it needs an enabled route to an enabled channel "
        "that offers the model, by an adapter of its modality, and that can express a priced request of its params."
    )
