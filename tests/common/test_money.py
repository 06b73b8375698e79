"""USD outside, integer micro-USD inside."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import money


@pytest.mark.parametrize(
    ("usd", "micros"),
    [
        (0.04, 40_000),
        ("0.04", 40_000),
        (Decimal("0.04"), 40_000),
        (1, 1_000_000),
        (-2.5, -2_500_000),
        ("0.0000005", 1),
        ("0.0000004999", 0),
        ("-0.0000005", -1),
        (1_000_000_000, 10**15),
    ],
)
def test_usd_becomes_micros_rounded_half_up(usd, micros):
    assert money.micros(usd) == micros


NOT_FINITE = ["", "ten", "NaN", "Infinity", "-Infinity", float("inf"), float("nan"), "1e999999"]
MORE_THAN_A_BILLION = ["1000000000.000001", 10**12, -(10**12)]


@pytest.mark.parametrize("amounts", [NOT_FINITE, MORE_THAN_A_BILLION], ids=["not finite", "more than a billion"])
def test_what_is_no_finite_amount_of_up_to_a_billion_is_refused(amounts):
    for amount in amounts:
        with pytest.raises(ValueError):
            pytest.fail(f"{amount} is {money.micros(amount)}")


@pytest.mark.parametrize(
    ("price", "multiplier", "micros"),
    [
        ("0.04", "1", 40_000),
        ("0.04", "1.25", 50_000),
        ("0.000001", "0.5", 1),
        ("0.000001", "0.49", 0),
        (0.1, "3", 300_000),
    ],
)
def test_a_multiplied_price_is_rounded_half_up_once(price, multiplier, micros):
    assert money.times(price, Decimal(multiplier)) == micros


def test_whole_dollars_are_shown_as_integers():
    assert json.dumps([money.usd(5_000_000), money.usd(0), money.usd(-1_000_000)]) == "[5, 0, -1]"


@given(st.integers(-(10**15), 10**15))
def test_micros_survive_being_shown(amount):
    assert money.micros(json.loads(money.dumps(money.usd(amount)))) == amount


@given(st.integers(-(10**15), 10**15))
def test_at_most_six_decimals_are_shown(amount):
    shown = Decimal(money.dumps(money.usd(amount)))
    assert -shown.normalize().as_tuple().exponent <= 6
