"""Data of a plan's page beside its routes: prices for keys, and models that it cannot serve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from billing import modes
from catalog.models import MediaModel, Plan
from common import money


@dataclass(frozen=True, slots=True, kw_only=True)
class Pay:
    """Price of one unit of a model for a key of the plan, in micro-USD by tier."""

    unit: str
    prices: tuple[tuple[str, int], ...]


def pay(model: MediaModel, plan: Plan) -> Pay:
    prices = ((tier, money.times(str(usd), plan.price_multiplier)) for tier, usd in model.prices.items())
    return Pay(unit=modes.noun(model.pricing_mode), prices=tuple(prices))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroup:
    """Form rows of one model's routes, in order of priority."""

    model: MediaModel
    pay: Pay
    forms: tuple[Any, ...]

    @property
    def is_on(self) -> bool:
        return any(form.instance.enabled and form.instance.channel.enabled for form in self.forms)


def groups(plan: Plan, forms: Sequence[Any]) -> list[ModelGroup]:
    """Group the formset's stored rows by model."""
    found: dict[int, list[Any]] = {}
    for form in forms:
        if form.instance.pk:
            found.setdefault(form.instance.model_id, []).append(form)
    groups = [
        ModelGroup(
            model=rows[0].instance.model,
            pay=pay(rows[0].instance.model, plan),
            forms=tuple(sorted(rows, key=lambda form: (form.instance.priority, form.instance.pk))),
        )
        for rows in found.values()
    ]
    return sorted(groups, key=lambda group: (group.model.modality, group.model.name))


def unserved(plan: Plan, served: Sequence[ModelGroup]) -> list[MediaModel]:
    """List models with this default plan but without an enabled route in it."""
    on: Mapping[int, ModelGroup] = {group.model.pk: group for group in served if group.is_on}
    return [model for model in plan.default_of.order_by("modality", "name") if model.pk not in on]
