"""Cards of the models that a key can run: name, price, usual time, and its latest own result."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlencode

from django.urls import reverse

from billing import modes
from billing.modes import ANY_TIER
from catalog.listing import ModelOffer
from common import modalities
from pages import words
from tasks.models import Asset, Task
from tasks.origins import LISTED
from tasks.shown import eta, exhibits
from tasks.shown.exhibits import Exhibit

SCANNED = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Card of a model; `url` is the address of its form with the carried query."""

    name: str
    modality: str
    price: str
    usual: str
    sample: Exhibit | None
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRow:
    """Cards of one modality."""

    heading: str
    cards: tuple[Card, ...]


def list_rows(offers: Sequence[ModelOffer], key_id: int, carried: Mapping[str, str]) -> list[CardRow]:
    """List cards by modality, in the order of the offers; `carried` is a query that links to forms keep. Two
    statements, plus one every 15 s."""
    samples = _samples(key_id, [offer.model.id for offer in offers])
    cards = [_card(offer, samples.get(offer.model.id), address(offer, offers, carried)) for offer in offers]
    return [CardRow(heading=_heading(name), cards=tuple(found)) for name, found in groupby(cards, lambda c: c.modality)]


def _heading(modality: str) -> str:
    """Name a row of cards: Pictures, Films, 3D models."""
    noun = modalities.BY_NAME[modality].noun
    return f"{noun[0].upper()}{noun[1:]}s"


def _card(offer: ModelOffer, sample: Exhibit | None, url: str) -> Card:
    return Card(
        name=offer.model.name,
        modality=offer.model.modality,
        price=price(offer),
        usual=usual(offer.model.id),
        sample=sample,
        url=url,
    )


def address(offer: ModelOffer, offers: Sequence[ModelOffer], carried: Mapping[str, str]) -> str:
    """Build the address of a model's form; with its modality if another one has a model of the same name."""
    name = offer.model.name
    is_alone = sum(other.model.name == name for other in offers) == 1
    query = urlencode(dict(carried) if is_alone else {**carried, "modality": offer.model.modality})
    return reverse("console:form", args=[name]) + (f"?{query}" if query else "")


def price(offer: ModelOffer) -> str:
    """Describe the price, the cheapest first: $0.04 per picture at 1K, $0.08 at 2K."""
    mode = modes.get(offer.model.pricing_mode)
    unit = mode.page_noun if mode.measures_length else modalities.BY_NAME[offer.model.modality].noun
    tiers = sorted(offer.prices.items(), key=lambda each: (each[0] == ANY_TIER, each[1]))
    told = [(words.usd(micros), _tier(tier, len(tiers))) for tier, micros in tiers]
    (amount, tier), *others = told
    return ", ".join([f"{amount} per {unit}{tier}", *(f"{amount}{tier}" for amount, tier in others)])


def _tier(tier: str, count: int) -> str:
    if tier == ANY_TIER:
        return " otherwise" if count > 1 else ""
    return f" at {tier}"


def usual(model_id: int) -> str:
    """Describe the usual time; empty if unknown."""
    took = eta.usual(model_id)
    if took is None:
        return ""
    median, late = words.span(took["p50"]), words.span(took["p90"])
    return f"Usually {median}" + (f", 90 % within {late}" if late != median else "")


def _samples(key_id: int, model_ids: Collection[int]) -> Mapping[int, Exhibit]:
    """Find a displayable file of the key's latest result of each model, among its latest SCANNED tasks."""
    listed = Task.objects.filter(key_id=key_id).order_by("-id").values_list("id", "media_model_id", "status", "origin")
    made = {
        task: model for task, model, status, origin in listed[:SCANNED] if status == "succeeded" and origin in LISTED
    }
    found: dict[int, tuple[str, Exhibit]] = {}
    for asset in Asset.objects.filter(task_id__in=made, deleted_at=None).order_by("-task_id", "position"):
        model = made[asset.task_id]
        known = found.get(model)
        if model not in model_ids or (known and (known[0] != asset.task_id or known[1].shown_as == "picture")):
            continue
        (shown,) = exhibits.exhibits([asset])
        if shown.url and shown.shown_as in (("picture",) if known else ("picture", "film")):
            found[model] = asset.task_id, shown
    return {model: shown for model, (_, shown) in found.items()}
