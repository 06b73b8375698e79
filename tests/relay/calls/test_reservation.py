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
KNOWN = Tariff(tokens=replace(PRICE, max_output_tokens=10, max_input_tokens=9000, image_tokens=50))
HOURS = Tariff(tokens=replace(PRICE, max_output_tokens=10, cache_write_1h=Decimal(6), audio_output=Decimal(70)))
TOOLS = {"web_search": Decimal("0.01"), "code": Decimal("0.03")}
LARGE = Tariff(tokens=replace(PRICE, max_output_tokens=10, max_input_tokens=10**6))
SEARCHED = replace(KNOWN, tools=TOOLS)
WIDE = Tariff(tokens=replace(PRICE, max_output_tokens=10, max_input_tokens=150_000), tools=TOOLS)
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
        (asked(pictures_in=2), TOKENS, 1000 * 3 + 2 * 16_384 * 3 + 8192 * 40),
        (asked(pictures_in=2), KNOWN, 1100 * 3 + 10 * 40),
        (asked(file_path="input[0]"), KNOWN, 10_000 * 3 + 10 * 40),
        (asked(file_path="input[0]", pictures_in=1), KNOWN, 10_050 * 3 + 10 * 40),
        (asked(amounts=frozenset({"cache_write_1h"})), HOURS, 1000 * 6 + 10 * 40),
        (asked(amounts=frozenset({"audio_output"})), HOURS, 1000 * 3 + 10 * 70),
        (asked(amounts=frozenset({"cache_write_1h", "audio_output"})), KNOWN, 1000 * 3 + 10 * 40),
        (asked(tools={"web_search": 3}), SEARCHED, (1000 + 3 * 9000) * 3 + 10 * 40 + 30_000),
        (asked(tools={"web_search": 3}), WIDE, (1000 + 66_546 + 132_082 + 150_000) * 3 + 10 * 40 + 30_000),
        (asked(tools={"other": 2}, output_limit=100), TOKENS, (1000 + 66_636 + 132_172) * 3 + 100 * 40),
        (asked(tools={"other": 1}, pictures_in=1, output_limit=1), TOKENS, (2 * 17_384 + 65_537) * 3 + 40),
        (asked(tools={"web_fetch": 1}), LARGE, (1000 + 10**6) * 3 + 10 * 40),
        (asked(tools={"web_search": 1}, choices=2), SEARCHED, (1000 + 18_000) * 3 + 20 * 40 + 20_000),
        (asked(tools={"web_search": None, "code": None}, tool_calls=3), SEARCHED, 28_000 * 3 + 10 * 40 + 90_000),
        (asked(tools={"web_search": 1}), replace(LARGE, tools=TOOLS), (1000 + 66_546) * 3 + 10 * 40 + 10_000),
        (asked(tools={"web_search": None, "code": 0}), SEARCHED, (1000 + 10 * 9000) * 3 + 10 * 40 + 100_000),
        (asked(passes=2, pictures_in=1, file_path="a"), KNOWN, 2 * 10_050 * 3 + 2 * 10 * 40),
        (asked(output_limit=100, thoughts_bound=200), LIMITED, 1000 * 3 + 300 * 40),
        (asked(output_limit=100, thoughts_bound=3000), LIMITED, 1000 * 3 + 500 * 40),
        (asked(thoughts_bound=300), LIMITED, 1000 * 3 + 500 * 40),
        (asked(output_limit=100, thoughts_bound=3000), TOKENS, 1000 * 3 + 3100 * 40),
        (asked(output_limit=100, predicted_bound=500), TOKENS, 1000 * 3 + 600 * 40),
        (asked(tools={"other": None}), replace(PICTURES, tools=TOOLS), 40_000),
        (asked(images=2, tools={"code": 1}), replace(PICTURES, tools=TOOLS), 110_000),
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
