"""Prices of tokens: which pattern holds, what usage costs, and what it can cost at most."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import token_prices
from catalog.token_prices import AMOUNTS, TokenPrice
from common.token_usage import TokenUsage

PLAIN = token_prices.of_row("gpt-*", {"input": "1.25", "output": "10", "cached_input": "0.125"})
FULL = token_prices.of_row(
    "claude-*",
    {"input": "3", "output": "15", "cached_input": "0.3", "cache_write": "3.75", "image_output": "40"}
    | {"max_output_tokens": 64_000},
)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("gpt-5.2", "gpt-5.2"),
        ("gpt-5.2-mini", "gpt-5*"),
        ("gpt-4o", "gpt-*"),
        ("o3", "o?"),
        ("o33", "*"),
        ("GPT-5.2", "*"),
        ("a[b]c", "a[b]*"),
        ("abc", "*"),
        ("zebra-1", "zebra-*"),
        ("line\nbreak", "*"),
        ("x" * 300, "*"),
        ("x" * 301, None),
    ],
)
def test_the_exact_name_holds_and_then_the_pattern_with_the_most_letters(name: str, pattern: str | None) -> None:
    patterns = ["*", "gpt-*", "gpt-5*", "gpt-5.2", "o?", "a[b]*", "z*", "zebra-*"]
    assert token_prices.best(patterns, name) == pattern
    assert token_prices.best(patterns[::-1], name) == pattern


def test_a_name_that_no_pattern_fits_has_no_price() -> None:
    assert token_prices.best(["gpt-*"], "claude") is None


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
        (FULL, {"input_tokens": 100, "cached_tokens": 40, "cache_write_tokens": 50}, 230),
        (FULL, {"output_tokens": 100, "image_tokens": 90}, 3_750),
        (FULL, {"output_tokens": 10**30}, 10**15),
    ],
)
def test_what_usage_costs(price: TokenPrice, usage: dict[str, int], micros: int) -> None:
    assert price.cost_micros(TokenUsage(**usage)) == micros


counts = st.integers(min_value=0, max_value=10**9)


@given(counts, counts, counts, counts, counts)
def test_nothing_costs_more_than_the_bound_of_its_tokens(
    given_in: int, cached: int, written: int, made: int, images: int
) -> None:
    usage = TokenUsage(
        input_tokens=given_in,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=made,
        image_tokens=images,
    )
    for price in (PLAIN, FULL):
        assert price.cost_micros(usage) <= price.bound_micros(input_tokens=given_in, output_tokens=made)


def test_the_bound_takes_the_dearest_kind_and_rounds_up() -> None:
    assert FULL.bound_micros(input_tokens=100, output_tokens=10) == 775
    assert PLAIN.bound_micros(input_tokens=1, output_tokens=0) == 2


def test_a_frozen_price_tells_each_amount_exactly() -> None:
    for price in (PLAIN, FULL):
        frozen = json.loads(json.dumps(price.document()))
        assert {name: Decimal(frozen[name]) for name in AMOUNTS} == {name: getattr(price, name) for name in AMOUNTS}
        assert frozen["pattern"] == price.pattern
    assert frozen["max_output_tokens"] == 64_000
    assert PLAIN.cache_write == Decimal("1.25")
