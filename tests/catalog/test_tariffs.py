"""What a call costs by the price of its tokens, and by that of its pictures."""

from common.token_usage import TokenUsage
from tests.relay.pricing import PICTURES, TOKENS


def test_pictures_cost_their_price_whatever_tokens_they_took() -> None:
    usage = TokenUsage(input_tokens=10, output_tokens=4000, images=2)
    assert PICTURES.cost_micros(usage) == 80_000
    assert TOKENS.cost_micros(usage) == 20 + 32_000
    assert PICTURES.document() == {"picture": "0.04"}
