"""What the books are told of a call, for each way in which it can end."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.tariffs import Tariff
from catalog.token_prices import TokenPrice
from common import token_usage
from common.token_usage import TokenUsage
from relay.calls import reservation
from relay.calls.ending import CallSettlement, Finish, Progress, settle
from relay.families.base import AskedCall, Delivered
from tests.relay.pricing import PICTURES, TOKENS, asked

FORTY = Delivered(output_bytes=40)
MUCH = Delivered(output_bytes=4_000_000)
SENT = Progress(was_sent=True)
WHOLE = replace(SENT, is_complete=True)
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
        (Finish.DONE, replace(WHOLE, usage=SEEN, delivered=MUCH), BY_USAGE),
        (Finish.DONE, replace(WHOLE, delivered=FORTY), estimated(580, 250, 10)),
        (Finish.LEFT, Progress(), RELEASED),
        (Finish.LEFT, SENT, estimated(500, 250, 0)),
        (Finish.LEFT, replace(SENT, delivered=FORTY), estimated(580, 250, 10)),
        (Finish.LEFT, replace(SENT, usage=BEGUN, delivered=FORTY), estimated(280, 100, 10)),
        (Finish.LEFT, replace(WHOLE, usage=SEEN, delivered=MUCH), BY_USAGE),
        (Finish.CUT, replace(SENT, usage=SEEN), BY_USAGE),
        (Finish.CUT, replace(SENT, delivered=FORTY), LOSS),
        (Finish.CUT, replace(SENT, delivered=FORTY, was_held_up=True), estimated(580, 250, 10)),
        (Finish.CUT, replace(SENT, usage=BEGUN, delivered=FORTY, was_held_up=True), estimated(280, 100, 10)),
        (Finish.REFUSED, SENT, RELEASED),
        (Finish.UNKNOWN, SENT, LOSS),
    ],
)
def test_each_end_is_charged_by_what_is_known_of_it(finish, progress, told) -> None:
    assert settle(finish, progress, asked(), TOKENS, reserved=10_000) == told


def test_an_estimate_is_never_above_the_hold() -> None:
    told = settle(Finish.LEFT, replace(SENT, delivered=MUCH), asked(), TOKENS, reserved=700)
    assert (told.actual_micros, told.is_estimated) == (700, True)


@pytest.mark.parametrize("finish", [Finish.DONE, Finish.LEFT, Finish.CUT])
def test_a_usage_beyond_the_hold_is_charged_as_the_hold_and_told_to_the_operator(finish) -> None:
    told = settle(finish, replace(WHOLE, usage=SEEN), asked(), TOKENS, reserved=100)
    assert (told.actual_micros, told.overrun_micros, told.flags) == (100, 180, {"usage_exceeds_hold": 180})
    assert told.usage == SEEN


@pytest.mark.parametrize(
    ("usage", "delivered", "charged", "parts"),
    [
        (TokenUsage(output_tokens=10), FORTY, 580, ["input"]),
        (TokenUsage(input_tokens=100), FORTY, 280, ["output"]),
        (TokenUsage(input_tokens=100), Delivered(pictures=1), 200 + 1056 * 40, ["output"]),
        (TokenUsage(input_tokens=100), Delivered(), 200, None),
        (TokenUsage(input_tokens=100, output_tokens=800), Delivered(pictures=1), 200 + 800 * 40, ["pictures"]),
        (
            TokenUsage(input_tokens=100, output_tokens=800, reasoning_tokens=90),
            Delivered(output_bytes=40, pictures=1),
            200 + 100 * 8 + 700 * 40,
            ["pictures"],
        ),
        (TokenUsage(output_tokens=800), Delivered(pictures=1), 500 + 800 * 40, ["input", "pictures"]),
        (TokenUsage(input_tokens=100), Delivered(sound_bytes=25_600), 200 + 10 * 8, ["output"]),
        (TokenUsage(input_tokens=100, output_tokens=8), Delivered(sound_bytes=25_600), 264, ["sound"]),
        (TokenUsage(input_tokens=100, output_tokens=8, audio_output_tokens=8), Delivered(sound_bytes=9), 264, None),
        (TokenUsage(input_tokens=100, output_tokens=8), Delivered(output_bytes=40, pictures=1), 264, None),
        (TokenUsage(input_tokens=100, output_tokens=80, image_tokens=50), Delivered(pictures=1), 200 + 2240, None),
        (TokenUsage(input_tokens=100, output_tokens=80), FORTY, 200 + 640, None),
    ],
)
def test_a_part_that_is_told_as_nothing_is_completed_by_an_estimate(usage, delivered, charged, parts) -> None:
    told = settle(Finish.DONE, replace(WHOLE, usage=usage, delivered=delivered), asked(), TOKENS, reserved=100_000)
    flags = {"usage_completed": parts} if parts else {}
    assert (told.actual_micros, told.is_estimated, told.flags) == (charged, bool(parts), flags)


def test_pictures_that_nobody_made_cost_nothing() -> None:
    assert settle(Finish.LEFT, SENT, asked(images=2), PICTURES, reserved=80_000) == LOSS
    assert settle(Finish.DONE, WHOLE, asked(images=2), PICTURES, reserved=80_000).actual_micros == 0


def test_pictures_without_their_tokens_are_estimated_where_tokens_are_priced() -> None:
    made = replace(WHOLE, usage=TokenUsage(images=2), delivered=Delivered(pictures=2))
    by_piece = settle(Finish.DONE, made, asked(images=2), PICTURES, reserved=80_000)
    assert (by_piece.actual_micros, by_piece.is_estimated) == (80_000, False)
    told = settle(Finish.DONE, made, asked(images=2), TOKENS, reserved=100_000)
    assert (told.actual_micros, told.is_estimated, told.usage.images) == (500 + 2 * 1056 * 40, True, 2)
    assert settle(Finish.CUT, made, asked(images=2), TOKENS, reserved=10_000) == LOSS


AMOUNTS = st.decimals(0, 100, places=3)
TOKEN_PRICES = st.builds(
    TokenPrice,
    pattern=st.just("*"),
    **dict.fromkeys(("input", "output", "cached_input", "cache_write", "image_output", "image_input"), AMOUNTS),
    **dict.fromkeys(("cache_write_1h", "audio_input", "audio_output"), st.none() | AMOUNTS),
    image_tokens=st.integers(0, 50_000),
    **dict.fromkeys(("max_input_tokens", "max_output_tokens"), st.none() | st.integers(1, 200_000)),
)
NAMES = st.sampled_from(("web_search", "web_fetch", "mcp"))
TOOLS = st.dictionaries(NAMES, AMOUNTS)
TARIFFS = st.builds(Tariff, tokens=TOKEN_PRICES, picture=st.none() | AMOUNTS, tools=TOOLS)
CALLS = st.builds(
    AskedCall,
    model=st.just("m"),
    is_stream=st.booleans(),
    **dict.fromkeys(("input_bound", "input_estimate"), st.integers(0, 100_000)),
    pictures_in=st.integers(0, 20),
    file_path=st.sampled_from(("", "messages[0]")),
    amounts=st.frozensets(st.sampled_from(("cache_write_1h", "audio_input", "audio_output"))),
    tools=st.dictionaries(NAMES, st.none() | st.integers(1, 20)),
    tool_calls=st.none() | st.integers(1, 20),
    output_limit=st.none() | st.integers(1, 100_000),
    choices=st.integers(1, 8),
    images=st.integers(0, 10),
)
COUNTS = st.integers(0, 10**8)
USAGES = st.builds(
    TokenUsage,
    **dict.fromkeys(token_usage.COUNTS, COUNTS),
    tools=st.dictionaries(NAMES, st.integers(0, 1000)),
)
PROGRESS = st.builds(
    Progress,
    was_sent=st.booleans(),
    is_complete=st.booleans(),
    was_held_up=st.booleans(),
    usage=st.none() | USAGES,
    delivered=st.builds(Delivered, output_bytes=COUNTS, pictures=st.integers(0, 100)),
)


@given(finish=st.sampled_from(Finish), progress=PROGRESS, call=CALLS, tariff=TARIFFS)
def test_no_call_is_charged_below_nothing_or_above_its_hold(finish, progress, call, tariff) -> None:
    hold = reservation.bound_micros(call, tariff, default_output=8192)
    told = settle(finish, progress, call, tariff, reserved=hold)
    assert 0 <= (told.actual_micros or 0) <= hold
    assert told.overrun_micros >= 0
    assert (told.flags.get("usage_exceeds_hold", 0)) == told.overrun_micros
    assert not told.overrun_micros or told.actual_micros == hold


@st.composite
def runs(draw, call: AskedCall) -> list[str]:
    """Tools that a provider has run within the limits of a request, one after the other."""
    names = draw(st.lists(st.sampled_from(sorted(call.tools)), max_size=40)) if call.tools else []
    most = {name: limit or (10 if call.tool_calls is None else 40) for name, limit in call.tools.items()}
    within = [name for place, name in enumerate(names) if names[:place].count(name) < most[name]]
    return within[: call.tool_calls]


@given(call=CALLS, tariff=TARIFFS, data=st.data())
def test_an_honest_provider_that_reads_all_again_after_each_tool_costs_no_more_than_the_hold(call, tariff, data):
    context = tariff.max_input_tokens or 10**9
    file = context if call.file_path and tariff.max_input_tokens else 0
    prompt = data.draw(st.integers(0, call.input_bound + call.pictures_in * tariff.image_tokens + file))
    left = max(call.choices, call.images, 1) * tariff.output_bound(call.output_limit, default=8192)
    ran = data.draw(runs(call))
    read, written = min(prompt, context), 0
    for name in ran:
        written += data.draw(st.integers(0, left - written))
        prompt += context if name == "web_fetch" and tariff.max_input_tokens else data.draw(st.integers(0, 65_536))
        read += min(prompt + written, context)
    usage = TokenUsage(
        input_tokens=read,
        cached_tokens=data.draw(st.integers(0, read)),
        cache_write_tokens=data.draw(st.integers(0, read)),
        output_tokens=left,
        image_tokens=data.draw(st.integers(0, left)),
        images=max(call.images, 1),
        tools=Counter(ran),
    )
    hold = reservation.bound_micros(call, tariff, default_output=8192)
    told = settle(Finish.DONE, replace(WHOLE, usage=usage), replace(call, input_estimate=0), tariff, reserved=hold)
    assert "usage_exceeds_hold" not in told.flags
