"""Unit prices under a plan, and what a key is offered."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import listing, prices, snapshot
from catalog.entries import ModelEntry, PlanEntry
from catalog.models import Channel, MediaModel, Plan, PlanChoice
from tests.rows import IssuedKey, make_model, make_route


def model(mode: str, amounts: dict[str, str]) -> ModelEntry:
    return ModelEntry(
        id=1,
        name="m",
        aliases=(),
        modality="image",
        default_plan_id=1,
        pricing_mode=mode,
        prices={tier: Decimal(amount) for tier, amount in amounts.items()},
        params={"image_size": {"values": ["1K"]}},
        enabled=True,
    )


def plan_of(multiplier: str) -> PlanEntry:
    return PlanEntry(id=1, name="p", price_multiplier=Decimal(multiplier))


FOUND: list[tuple[str, dict[str, str], str | None, int | None]] = [
    ("image_matrix", {"1K": "0.04"}, "1K", 40_000),
    ("image_matrix", {"1K": "0.04"}, "4K", None),
    ("image_matrix", {"1K": "0.04"}, None, None),
    ("video_duration", {"720p": "0.1", "*": "0.2"}, "720p", 100_000),
    ("video_duration", {"720p": "0.1", "*": "0.2"}, "4k", 200_000),
    ("video_duration", {"720p": "0.1"}, "4k", None),
    ("video_duration", {"720p": "0.1", "*": "0.2"}, "720P", 100_000),
    ("video_duration", {"720p": "0.1", "720P": "0.3"}, "720P", 300_000),
    ("per_request", {"*": "1.5"}, "1K", 1_500_000),
    ("per_request", {}, "1K", None),
    ("image_matrix", {"1K": "0"}, "1K", 0),
]


def test_each_mode_finds_its_price() -> None:
    for mode, amounts, tier, expected in FOUND:
        assert prices.unit_micros(model(mode, amounts), plan_of("1"), tier) == expected, (mode, amounts, tier)


def test_price_times_multiplier_is_rounded_half_up_once() -> None:
    assert prices.unit_micros(model("image_matrix", {"1K": "0.000001"}), plan_of("0.5"), "1K") == 1
    assert prices.unit_micros(model("image_matrix", {"1K": "0.000001"}), plan_of("0.499999"), "1K") == 0


@given(st.decimals(0, 100, places=6), st.decimals(0, 10, places=6))
def test_the_price_shown_is_the_price_charged(price: Decimal, multiplier: Decimal) -> None:
    entry, plan = model("image_matrix", {"1K": str(price)}), plan_of(str(multiplier))
    assert prices.effective(entry, plan)["1K"] == prices.unit_micros(entry, plan, "1K")


def test_offers_are_what_the_key_can_run_at_its_prices(
    plan: Plan, routed: MediaModel, studio: Channel, key: IssuedKey
) -> None:
    gold = Plan.objects.create(name="gold", price_multiplier="0.5")
    make_route(gold, routed, studio, upstream_model="x")
    PlanChoice.objects.create(key=key.record, model=routed, plan=gold)
    make_model("marble", "3d", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    make_model("routeless", "image", plan=plan, prices={"1K": "1"})
    (offer,) = listing.offers(snapshot.latest(), key.id)
    assert (offer.model.name, offer.plan.name, offer.is_selected, offer.unit) == ("aurora", "gold", True, "image")
    assert offer.prices == {"1K": 20_000, "2K": 40_000}


@pytest.mark.parametrize(
    ("rows", "changed"),
    [
        (Channel, {"adapter": "vanished"}),
        (MediaModel, {"prices": {}}),
        (MediaModel, {"params": {"n": {"max": 4}}}),
        (MediaModel, {"enabled": False}),
    ],
)
def test_a_model_without_adapter_or_price_or_tiers_or_switched_off_is_not_offered(
    routed: MediaModel, key: IssuedKey, rows: Any, changed: dict[str, Any]
) -> None:
    rows.objects.update(**changed)
    assert listing.offers(snapshot.latest(), key.id) == []
