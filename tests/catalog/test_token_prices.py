"""Prices of tokens: what usage costs, and what it can cost at most."""

import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import dearer_prices, token_prices
from catalog.token_prices import AMOUNTS, INPUTS, NOT_ALWAYS_USED, OUTPUTS, SOLD_APART, MostUsed, TokenPrice
from common.token_usage import COUNTS, TokenUsage

PLAIN = token_prices.of_row("gpt-*", {"input": "1.25", "output": "10", "cached_input": "0.125"})
FULL = token_prices.of_row(
    "claude-*",
    {"input": "3", "output": "15", "cached_input": "0.3", "cache_write": "3.75", "image_output": "40"}
    | {
        "cache_write_1h": "6",
        "audio_input": "7",
        "audio_output": "20",
        "image_input": "4",
        "max_output_tokens": 64_000,
    },
)
HEARD = token_prices.of_row("gpt-audio", {"input": "1", "output": "10", "audio_input": "40"})
LONG = token_prices.of_row(
    "gemini-*",
    {"input": "2", "output": "12", "cached_input": "0.2", "audio_input": "4", "image_output": "120"}
    | {"long_context": {"above": 1000, "input": "4", "output": "18", "audio_input": "5"}},
)


@pytest.mark.parametrize(
    ("price", "usage", "micros"),
    [
        (PLAIN, {"input_tokens": 1000, "output_tokens": 100}, 2_250),
        (PLAIN, {"input_tokens": 1000, "cached_tokens": 800, "output_tokens": 100}, 1_350),
        (PLAIN, {"input_tokens": 1000, "cache_write_tokens": 400}, 1_250),
        (PLAIN, {"input_tokens": 2}, 3),  # 2.5, half up, once
        (PLAIN, {"input_tokens": 1}, 1),
        (PLAIN, {"input_tokens": 10, "cached_tokens": 99}, 1),  # more than there were is read as all
        (PLAIN, {"output_tokens": 10, "reasoning_tokens": 10, "image_tokens": 5}, 100),
        (PLAIN, {"input_tokens": 10, "image_input_tokens": 10}, 13),
        (FULL, {"input_tokens": 100, "cached_tokens": 40, "cache_write_tokens": 50}, 230),
        (FULL, {"output_tokens": 100, "image_tokens": 90}, 3_750),
        (FULL, {"output_tokens": 10**30}, 10**15),
        (
            FULL,
            {"input_tokens": 1000, "cache_write_tokens": 100, "cache_write_1h_tokens": 200},
            375 + 1200 + 2100,
        ),
        (FULL, {"input_tokens": 100, "audio_input_tokens": 50, "image_input_tokens": 10}, 350 + 40 + 120),
        (FULL, {"output_tokens": 100, "audio_output_tokens": 40, "image_tokens": 10}, 800 + 400 + 750),
        (HEARD, {"input_tokens": 1000, "audio_input_tokens": 900, "cached_tokens": 900}, 900 * 40 + 100),
        (HEARD, {"input_tokens": 1000, "cached_tokens": 900, "cached_kinds": {"audio": 800}}, 800 * 40 + 200),
        (LONG, {"input_tokens": 1000, "cached_tokens": 900, "cached_kinds": {"audio": 800}}, 180 + 200),
    ],
)
def test_what_usage_costs(price: TokenPrice, usage: dict[str, Any], micros: int) -> None:
    assert price.cost_micros(TokenUsage(**usage)) == micros


def test_parts_share_the_whole_in_their_order() -> None:
    parts = {"cached": 10, "cache_write": 10, "cache_write_1h": 10, "audio_input": 10, "image_input": 10}
    usage = {f"{name}_tokens": count for name, count in parts.items()}
    costs = [FULL.cost_micros(TokenUsage(input_tokens=total, **usage)) for total in (0, 10, 20, 30, 40, 50, 60)]
    assert costs == [0, 3, 41, 101, 171, 211, 241]  # 40.5, half up
    spoken = TokenUsage(output_tokens=10, image_tokens=8, audio_output_tokens=8)
    assert FULL.cost_micros(spoken) == 8 * 40 + 2 * 20


def test_a_part_that_is_not_sold_costs_as_the_one_that_it_is_nearest_to() -> None:
    price = replace(FULL, cache_write_1h=None, audio_input=None, audio_output=None)
    assert [price.has(name) for name in SOLD_APART] == [False, False, False]
    assert [FULL.has(name) for name in SOLD_APART] == [True, True, True]
    usage = TokenUsage(input_tokens=100, cache_write_1h_tokens=40, audio_input_tokens=60, audio_output_tokens=9)
    assert price.cost_micros(replace(usage, output_tokens=10)) == 150 + 180 + 150


@pytest.mark.parametrize(
    ("usage", "micros"),
    [
        ({"input_tokens": 1000, "output_tokens": 10}, 2_120),
        ({"input_tokens": 1001, "output_tokens": 10}, 4_184),
        ({"input_tokens": 2000, "cached_tokens": 1000}, 4_400),  # cached costs twice as much, as input does
        ({"input_tokens": 2000, "audio_input_tokens": 1000}, 9_000),  # sound has an amount of its own
        ({"input_tokens": 2000, "output_tokens": 10, "image_tokens": 10}, 8_000 + 1_800),  # 120 × 18 / 12
    ],
)
def test_a_long_context_has_its_amounts_for_the_whole_call(usage: dict[str, int], micros: int) -> None:
    assert LONG.cost_micros(TokenUsage(**usage)) == micros


def test_where_nothing_is_priced_without_a_long_context_its_parts_cost_as_the_whole() -> None:
    row = {"input": "0", "output": "0", "cached_input": "0", "long_context": {"above": 10, "input": "5"}}
    price = token_prices.of_row("free", row)
    assert price.cost_micros(TokenUsage(input_tokens=10, output_tokens=10)) == 0
    assert price.cost_micros(TokenUsage(input_tokens=20, cached_tokens=10, output_tokens=10)) == 100
    named = token_prices.of_row("free", row | {"long_context": {"above": 10, "input": "5", "cached_input": "0"}})
    assert named.cost_micros(TokenUsage(input_tokens=20, cached_tokens=10)) == 50


@pytest.mark.parametrize(
    ("price", "most", "micros"),
    [
        (FULL, {"input_tokens": 100, "output_tokens": 10}, 375 + 10 * 40),
        (FULL, {"input_tokens": 100, "amounts": frozenset({"image_input"})}, 100 * 4),
        (FULL, {"input_tokens": 100, "amounts": frozenset({"cache_write_1h"})}, 600),
        (FULL, {"input_tokens": 100, "amounts": frozenset({"cache_write_1h", "audio_input"})}, 700),
        (replace(FULL, image_output=Decimal(15)), {"output_tokens": 10}, 150),
        (replace(FULL, image_output=Decimal(15)), {"output_tokens": 10, "amounts": frozenset({"audio_output"})}, 200),
        (PLAIN, {"input_tokens": 1}, 2),
        (PLAIN, {"input_tokens": 100, "amounts": frozenset(SOLD_APART)}, 125),
        (LONG, {"input_tokens": 1000, "output_tokens": 1}, 2_120),
        (LONG, {"input_tokens": 1001, "output_tokens": 1}, 4_184),
        (LONG, {"input_tokens": 1001, "amounts": frozenset({"audio_input"})}, 5_005),
        (FULL, {"input_tokens": 10**30}, 10**15),
    ],
)
def test_the_bound_takes_the_dearest_kind_that_may_be_used_and_rounds_up(
    price: TokenPrice, most: dict[str, Any], micros: int
) -> None:
    assert price.bound_micros(MostUsed(**most)) == micros


amounts = st.decimals(min_value=0, max_value=100_000, places=6) | st.sampled_from([Decimal(0), Decimal("1e-12")])
counts = st.integers(min_value=0, max_value=3_000) | st.integers(min_value=0, max_value=10**18)


@st.composite
def rows(draw: st.DrawFn) -> Mapping[str, Any]:
    row: dict[str, Any] = {"input": draw(amounts), "output": draw(amounts)}
    row |= draw(st.dictionaries(st.sampled_from(AMOUNTS[2:]), amounts))
    if draw(st.booleans()):
        price = token_prices.of_row("m", row)
        named = draw(st.sets(st.sampled_from(sorted(price.amounts()))))
        dearer = {name: str(price.amounts()[name] + draw(amounts)) for name in sorted(named)}
        row["long_context"] = {"above": draw(st.integers(min_value=1, max_value=2_000)), **dearer}
    return {name: str(value) if isinstance(value, Decimal) else value for name, value in row.items()}


def prices() -> st.SearchStrategy[TokenPrice]:
    one = rows().map(lambda row: token_prices.of_row("m", row))
    return one | st.tuples(one, one).map(lambda pair: dearer_prices.of_tokens(pair) or pair[0])


@st.composite
def usages(draw: st.DrawFn) -> TokenUsage:
    return TokenUsage(**{name: draw(counts) for name in COUNTS})


def within(usage: TokenUsage, most: MostUsed) -> TokenUsage:
    """The same, with no more than the call can use."""
    unused = {f"{name}_tokens": 0 for name in NOT_ALWAYS_USED if name not in most.amounts}
    total = {"input_tokens": min(usage.input_tokens, most.input_tokens)}
    return replace(usage, output_tokens=min(usage.output_tokens, most.output_tokens), **total, **unused)


@given(prices(), usages(), counts, counts, st.frozensets(st.sampled_from(sorted(NOT_ALWAYS_USED))))
def test_nothing_within_what_a_call_can_use_costs_more_than_its_bound(
    price: TokenPrice, usage: TokenUsage, inputs: int, outputs: int, sold: frozenset[str]
) -> None:
    most = MostUsed(input_tokens=inputs, output_tokens=outputs, amounts=sold)
    assert 0 <= price.cost_micros(within(usage, most)) <= price.bound_micros(most) <= 10**15


@given(prices(), usages(), counts, counts)
def test_more_tokens_never_cost_less(price: TokenPrice, usage: TokenUsage, inputs: int, outputs: int) -> None:
    more = replace(usage, input_tokens=usage.input_tokens + inputs, output_tokens=usage.output_tokens + outputs)
    assert price.cost_micros(usage) <= price.cost_micros(more)
    few, many = (MostUsed(input_tokens=each.input_tokens, output_tokens=each.output_tokens) for each in (usage, more))
    assert price.bound_micros(few) <= price.bound_micros(many)


@given(rows(), rows(), usages())
def test_the_dearer_of_two_prices_costs_at_least_what_each_does(
    one: Mapping[str, Any], other: Mapping[str, Any], usage: TokenUsage
) -> None:
    pair = token_prices.of_row("one", one), token_prices.of_row("other", other)
    both = dearer_prices.of_tokens(pair)
    assert both is not None
    sold = replace(usage, **{f"{name}_tokens": 0 for name in SOLD_APART})
    assert both.cost_micros(sold) >= max(price.cost_micros(sold) for price in pair)


def test_the_dearer_of_two_prices_has_the_higher_of_each_amount_and_sells_what_both_sell() -> None:
    both = dearer_prices.of_tokens([FULL, replace(LONG, image_tokens=20_000)])
    assert both is not None
    assert (both.pattern, both.input, both.cached_input, both.image_output) == (
        "claude-* and gemini-*",
        3,
        Decimal("0.3"),
        120,
    )
    assert (both.audio_input, both.cache_write_1h, both.image_tokens, both.max_output_tokens) == (7, None, 20_000, None)
    assert both.cost_micros(TokenUsage(input_tokens=1001)) == 4_004
    assert dearer_prices.of_tokens([FULL]) is FULL
    assert dearer_prices.of_tokens([]) is None


def test_a_frozen_price_tells_each_amount_exactly() -> None:
    for price in (PLAIN, FULL, LONG):
        frozen = json.loads(json.dumps(price.document()))
        assert {name: Decimal(frozen[name]) for name in AMOUNTS if name in frozen} == price.amounts()
        assert frozen["pattern"] == price.pattern
    assert frozen["long_context"]["above"] == 1000
    assert (frozen["long_context"]["input"], Decimal(frozen["long_context"]["cached_input"])) == ("4", Decimal("0.4"))
    counted = {name: FULL.document()[name] for name in token_prices.COUNTS}
    assert counted == {"image_tokens": 16_384, "max_input_tokens": None, "max_output_tokens": 64_000}
    assert (PLAIN.cache_write, PLAIN.image_input, PLAIN.audio_input) == (Decimal("1.25"), Decimal("1.25"), None)
    assert set(INPUTS) | set(OUTPUTS) == set(AMOUNTS)
