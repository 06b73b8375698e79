"""What the books are told of a call, for each way in which it can end."""

import pytest

from common.token_usage import TokenUsage
from relay.calls.ending import CallSettlement, Finish, Progress, settlement
from relay.families.base import Delivered
from tests.relay.pricing import PICTURES, TOKENS, asked

FORTY = Delivered(output_bytes=40)
SENT = Progress(was_sent=True)
SEEN = TokenUsage(input_tokens=100, output_tokens=10)
BEGUN = TokenUsage(input_tokens=100, output_tokens=1)
BY_USAGE = CallSettlement(actual_micros=280, usage=SEEN)
RELEASED, LOSS = CallSettlement(), CallSettlement(is_loss=True)


def estimated(micros: int, inputs: int, outputs: int) -> CallSettlement:
    usage = TokenUsage(input_tokens=inputs, output_tokens=outputs)
    return CallSettlement(actual_micros=micros, usage=usage, is_estimated=True)


@pytest.mark.parametrize(
    ("finish", "progress", "told"),
    [
        (Finish.DONE, Progress(was_sent=True, usage=SEEN, delivered=Delivered(output_bytes=999)), BY_USAGE),
        (Finish.DONE, Progress(was_sent=True, delivered=FORTY), estimated(580, 250, 10)),
        (Finish.LEFT, Progress(), RELEASED),
        (Finish.LEFT, SENT, estimated(500, 250, 0)),
        (Finish.LEFT, Progress(was_sent=True, delivered=FORTY), estimated(580, 250, 10)),
        (
            Finish.LEFT,
            Progress(was_sent=True, usage=BEGUN, delivered=FORTY),
            estimated(280, 100, 10),
        ),
        (Finish.CUT, Progress(was_sent=True, usage=SEEN), BY_USAGE),
        (Finish.CUT, Progress(was_sent=True, delivered=FORTY), LOSS),
        (Finish.REFUSED, SENT, RELEASED),
        (Finish.UNKNOWN, SENT, LOSS),
    ],
)
def test_each_end_is_charged_by_what_is_known_of_it(finish, progress, told) -> None:
    assert settlement(finish, progress, asked(), TOKENS, reserved=10_000) == told


def test_an_estimate_is_never_above_the_reserve() -> None:
    delivered = Progress(was_sent=True, delivered=Delivered(output_bytes=4_000_000))
    assert settlement(Finish.LEFT, delivered, asked(), TOKENS, reserved=700).actual_micros == 700


def test_what_was_seen_counts_though_it_is_above_the_reserve() -> None:
    seen = Progress(was_sent=True, usage=SEEN)
    assert settlement(Finish.LEFT, seen, asked(), TOKENS, reserved=100).actual_micros == 280
    assert settlement(Finish.DONE, seen, asked(), TOKENS, reserved=100).actual_micros == 280


def test_pictures_that_nobody_got_cost_nothing_and_are_the_operators_loss() -> None:
    assert settlement(Finish.LEFT, SENT, asked(images=2), PICTURES, reserved=80_000) == LOSS


def test_pictures_without_their_tokens_are_estimated_where_tokens_are_priced() -> None:
    made = Progress(was_sent=True, usage=TokenUsage(images=2), delivered=FORTY)
    assert settlement(Finish.DONE, made, asked(images=2), PICTURES, reserved=80_000).is_estimated is False
    told = settlement(Finish.DONE, made, asked(images=2), TOKENS, reserved=10_000)
    assert (told.actual_micros, told.is_estimated, told.usage.images) == (580, True, 2)
    assert settlement(Finish.CUT, made, asked(images=2), TOKENS, reserved=10_000) == LOSS
