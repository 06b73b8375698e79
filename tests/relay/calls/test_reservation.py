"""What a call may cost at most, and the estimate of one that told nothing."""

from dataclasses import replace
from decimal import Decimal

import pytest

from catalog.tariffs import Tariff
from common import money
from common.token_usage import TokenUsage
from relay.calls import reservation
from relay.families.base import Delivered
from tests.relay.pricing import PICTURES, PRICE, TOKENS, asked

LIMITED = Tariff(tokens=replace(PRICE, max_output_tokens=500))
UNREAL = Tariff(tokens=None, picture=Decimal(10) ** 12)


@pytest.mark.parametrize(
    ("call", "tariff", "micros"),
    [
        (asked(), TOKENS, 1000 * 3 + 8192 * 40),
        (asked(output_limit=100), TOKENS, 1000 * 3 + 100 * 40),
        (asked(output_limit=100), LIMITED, 1000 * 3 + 100 * 40),
        (asked(output_limit=9000), LIMITED, 1000 * 3 + 500 * 40),
        (asked(), LIMITED, 1000 * 3 + 500 * 40),
        (asked(output_limit=100, choices=3), TOKENS, 1000 * 3 + 300 * 40),
        (asked(output_limit=100, images=2), TOKENS, 1000 * 3 + 200 * 40),
        (asked(images=3), PICTURES, 120_000),
        (asked(), PICTURES, 40_000),
        (asked(images=10), UNREAL, money.LARGEST),
    ],
)
def test_the_reserve_is_what_a_call_can_cost_at_most(call, tariff, micros) -> None:
    assert reservation.bound_micros(call, tariff, default_output=8192) == micros


@pytest.mark.parametrize(
    ("seen", "output_bytes", "likely"),
    [
        (None, 0, TokenUsage(input_tokens=250)),
        (None, 9, TokenUsage(input_tokens=250, output_tokens=3)),
        (TokenUsage(input_tokens=90, output_tokens=1), 40, TokenUsage(input_tokens=90, output_tokens=10)),
        (TokenUsage(input_tokens=90, output_tokens=50), 40, TokenUsage(input_tokens=90, output_tokens=50)),
    ],
)
def test_an_estimate_completes_what_was_seen_by_what_was_delivered(seen, output_bytes, likely) -> None:
    assert reservation.estimate(asked(), seen, Delivered(output_bytes=output_bytes)) == likely
