"""What a call costs by the price of its tokens, by that of its pictures, and by those of tools."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import picture_prices, tariffs, token_prices
from catalog.groups import GroupEntry
from catalog.tariffs import Tariff
from catalog.token_prices import MostUsed
from common.errors import InvalidRequest, ModelNotFound, PricingUnavailable
from common.token_usage import TokenUsage
from tests.relay.pricing import PICTURES, TOKENS

TIERS = picture_prices.of_row({"1024x1024": {"low": "0.01", "high": "0.17"}, "*": "0.04"})
SEARCH = {"web_search": Decimal("0.01"), "odd": Decimal("0.0000004")}
GROUP = GroupEntry(
    id=1,
    name="text",
    platform="openai",
    image_generation=True,
    models=("gpt-5", "later"),
    prices={
        pattern: token_prices.of_row(pattern, {"input": amount, "output": amount})
        for pattern, amount in {"gpt-*": "1", "gpt-5-pro": "5", "gpt-image-2": "7"}.items()
    },
    image_prices={"gpt-image-*": TIERS},
    tool_prices=SEARCH,
)


def test_pictures_cost_their_price_whatever_tokens_they_took() -> None:
    usage = TokenUsage(input_tokens=10, output_tokens=4000, images=2)
    assert PICTURES.cost_micros(usage) == 80_000
    assert TOKENS.cost_micros(usage) == 20 + 32_000
    assert PICTURES.document() == {"picture": "0.04"}


@pytest.mark.parametrize(
    ("tools", "micros"),
    [
        ({"web_search": 3}, 30_000),
        ({"web_search": 1, "file_search": 9}, 10_000),
        ({"web_search": -1}, 0),
        ({"odd": 1}, 0),
        ({"odd": 2}, 1),
        ({"web_search": 10**30}, 10**15),
    ],
)
def test_tools_cost_their_price_a_call_and_one_without_a_price_nothing(tools: dict[str, int], micros: int) -> None:
    tariff = Tariff(tokens=None, tools=SEARCH)
    assert tariff.cost_micros(TokenUsage(tools=tools)) == micros


def test_tools_are_part_of_cost_and_bound_and_all_is_rounded_once() -> None:
    price = token_prices.of_row("m", {"input": "0.3", "output": "1"})
    tariff = Tariff(tokens=price, tools={"web_search": Decimal("0.0000003")})
    assert tariff.cost_micros(TokenUsage(input_tokens=1, tools={"web_search": 1})) == 1  # 0.6
    assert tariff.cost_micros(TokenUsage(input_tokens=1)) == 0
    assert tariff.bound_micros(MostUsed(input_tokens=1, tools={"web_search": 2, "other": 5})) == 1
    assert tariff.bound_micros(MostUsed(input_tokens=1, tools={"web_search": 3})) == 2
    pictured = replace(PICTURES, tools=SEARCH)
    assert pictured.cost_micros(TokenUsage(images=2, tools={"web_search": 1})) == 90_000
    assert pictured.bound_micros(MostUsed(images=2, tools={"web_search": 3})) == 110_000


def test_a_picture_is_held_as_asked_and_charged_as_told_but_never_above_that() -> None:
    tariff = tariffs.of(GROUP, "images", "gpt-image-2", size="1024x1024", quality="low")
    assert tariff.bound_micros(MostUsed(images=3)) == 30_000
    assert tariff.cost_micros(TokenUsage(images=3, size="1024x1024", quality="high")) == 30_000
    automatic = tariffs.of(GROUP, "images", "gpt-image-2")
    assert automatic.bound_micros(MostUsed(images=1)) == 170_000
    assert automatic.cost_micros(TokenUsage(images=1, size="1536x1024", quality="high")) == 40_000
    assert automatic.cost_micros(TokenUsage(images=1, size="1024x1024", quality="low")) == 10_000
    assert automatic.cost_micros(TokenUsage(images=1)) == 170_000


def test_a_size_or_quality_without_a_price_is_refused_unless_the_operator_opens_it() -> None:
    for asked in ({"size": "3840x2160"}, {"quality": "ultra"}):
        with pytest.raises(InvalidRequest, match=rf"^{next(iter(asked))}: "):
            tariffs.of(GROUP, "images", "gpt-image-2", **asked)
    opened = replace(GROUP, extra_fields=frozenset({"size"}))
    assert tariffs.of(opened, "images", "gpt-image-2", size="3840x2160").picture == Decimal("0.04")


@pytest.mark.parametrize(
    ("dialect", "model", "micros"),
    [
        ("chat", "gpt-5", 1_000),
        ("chat", "gpt-5-pro", 5_000),
        ("chat", "gpt-5-PRO", 5_000),
        ("chat", "gpt-image-2", 7_000),
        ("images", "gpt-5", 1_000),
    ],
)
def test_the_price_of_a_model_is_that_of_its_pattern_or_a_dearer_one(dialect: str, model: str, micros: int) -> None:
    assert tariffs.of(GROUP, dialect, model).cost_micros(TokenUsage(input_tokens=1000)) == micros


@pytest.mark.parametrize("model", ["GPT-5", "gpt-5:online", "o3", " gpt-5", "gpt-5\u200b", "", "x" * 301])
def test_a_name_that_no_pattern_fits_is_unknown(model: str) -> None:
    with pytest.raises(ModelNotFound) as refusal:
        tariffs.of(GROUP, "chat", model)
    assert refusal.value.param == "model"


def test_a_listed_model_without_a_price_has_none_yet() -> None:
    with pytest.raises(PricingUnavailable):
        tariffs.of(GROUP, "chat", "later")


def test_the_price_is_frozen_with_its_tiers_and_tools() -> None:
    frozen = json.loads(json.dumps(tariffs.of(GROUP, "images", "gpt-image-2", quality="low", tools=SEARCH).document()))
    assert frozen == {
        "picture": "0.04",
        "pictures": {"1024x1024": {"low": "0.01", "high": "0.17"}, "*": "0.04"},
        "asked": ["", "low"],
        "tools": {"web_search": "0.01", "odd": "0.0000004"},
    }
    assert tariffs.of(GROUP, "chat", "gpt-5", tools={"web_search_20250305"}).document()["tools"] == {
        "web_search": "0.01"
    }
    assert "tools" not in tariffs.of(GROUP, "chat", "gpt-5", tools={"unpriced"}).document()


@pytest.mark.parametrize(
    ("asked", "usd"),
    [
        ({"web_search"}, "0.01"),
        ({"web_search_preview"}, "0.025"),
        ({"web_search_preview_2025_03_11"}, "0.025"),
        ({"web_search_2025_08_26"}, "0.02"),
        ({"web_search_20260318"}, "0.01"),
        ({"web_search", "web_search_preview"}, "0.025"),
    ],
)
def test_a_tool_costs_as_its_own_type_or_as_the_tool_of_which_it_is_a_version(asked, usd) -> None:
    prices = {"web_search": "0.01", "web_search_preview": "0.025", "web_search_2025_08_26": "0.02"}
    group = replace(GROUP, tool_prices={name: Decimal(price) for name, price in prices.items()})
    tariff = tariffs.of(group, "chat", "gpt-5", tools=asked)
    assert tariff.tools == {"web_search": Decimal(usd)}
    assert tariff.cost_micros(TokenUsage(tools={"web_search": 3})) == 3 * int(Decimal(usd) * 1_000_000)


def test_a_version_alone_may_have_a_price() -> None:
    group = replace(GROUP, tool_prices={"web_search_preview": Decimal(1)})
    found = {
        kind: group.tool_price(kind) for kind in ("web_search", "web_search_preview", "web_search_preview_2025_03_11")
    }
    assert found == {"web_search": None, "web_search_preview": 1, "web_search_preview_2025_03_11": 1}


counts = st.integers(min_value=0, max_value=10**9)


words = st.sampled_from(["", "auto", "low", "high", "ultra", "1024x1024", "512x512", "1536x1024", "4096x4096"])


@given(counts, counts, counts, counts, st.decimals(min_value=0, max_value=1000, places=9), st.tuples(*[words] * 4))
def test_nothing_within_what_a_call_can_use_costs_more_than_its_bound(
    inputs: int, outputs: int, images: int, searches: int, usd: Decimal, said: tuple[str, str, str, str]
) -> None:
    opened = replace(GROUP, extra_fields=frozenset({"size", "quality"}))
    tiered = tariffs.of(opened, "images", "gpt-image-2", size=said[0], quality=said[1])
    most = MostUsed(input_tokens=inputs, output_tokens=outputs, images=images, tools={"web_search": searches})
    used = TokenUsage(input_tokens=inputs, output_tokens=outputs, images=images, tools={"web_search": searches, "x": 1})
    used = replace(used, size=said[2], quality=said[3])
    for tariff in (TOKENS, PICTURES, tiered):
        priced = replace(tariff, tools={"web_search": usd})
        assert priced.cost_micros(used) <= priced.bound_micros(most)
