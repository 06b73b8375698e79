"""What each dialect's usage means: every count on its own, parts and wholes, and totals that show what is missing."""

import json
from typing import Any

import pytest

from catalog.token_prices import of_row
from common.token_usage import TokenUsage
from relay.families import counts
from relay.families.base import AskedCall
from relay.families.registry import CHAT, GENERATE_CONTENT, MESSAGES, RESPONSES
from tests.relay.families.asking import event, taken

ASKED = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0, 0),
        (12, 12),
        (12.0, 12),
        (100_000_000, 100_000_000),
        (10**12, 10**12),
        (10**12 + 1, 10**12),
        (10**40, 10**12),
        (12.5, None),
        (-1, None),
        (-0.0, 0),
        (float("nan"), None),
        (float("inf"), 10**12),
        (True, None),
        ("12", None),
        ([], None),
        ({}, None),
        (None, None),
    ],
)
def test_a_count_is_a_whole_number_however_large(value, number):
    assert counts.whole(value) == number


def told(**numbers: Any) -> dict[str, Any]:
    """OpenAI's usage in short: p(rompt), c(ompletion), t(otal), and details."""
    names = {"p": "prompt_tokens", "c": "completion_tokens", "t": "total_tokens"}
    usage = {names.get(name, name): number for name, number in numbers.items()}
    for name, parent in (
        ("cached_tokens", "prompt_tokens_details"),
        ("cache_write_tokens", "prompt_tokens_details"),
        ("reasoning_tokens", "completion_tokens_details"),
    ):
        if name in usage:
            usage.setdefault(parent, {})[name] = usage.pop(name)
    return usage


@pytest.mark.parametrize(
    ("usage", "inputs", "cached", "outputs"),
    [
        (told(p=479, c=373, t=14164, cached_tokens=13312), 13791, 13312, 373),
        (told(p=100, c=20, t=120, cached_tokens=60), 100, 60, 20),
        (told(p=100, c=20, cached_tokens=300), 400, 300, 20),
        (told(p=100, c=20, t=420, cached_tokens=300), 400, 300, 20),
        (told(p=100, c=20, t=200, cached_tokens=60, cache_write_tokens=20), 180, 60, 20),
        (told(p=700, c=100, t=1100, cached_tokens=600, cache_write_tokens=300), 1000, 600, 100),
        (told(p=700, c=100, t=800, cached_tokens=500, cache_write_tokens=100), 700, 500, 100),
        (told(p=100, c=5, t=40), 100, 0, 5),
        (told(p=10, c=5, t=100_000), 10, 0, 5),
        (told(p=10, c=5, t=40, reasoning_tokens=25), 10, 0, 30),
        (told(p=10, c=30, t=40, reasoning_tokens=25), 10, 0, 30),
        (told(p=10, c=30, reasoning_tokens=25), 10, 0, 30),
        (told(p=10, c=5, t=140, reasoning_tokens=25, cached_tokens=100), 110, 100, 30),
        (told(c=20, t=120), 100, 0, 20),
        (told(p=100, t=120), 100, 0, 20),
        (told(p=100, c=-1, t=120), 100, 0, 20),
        (told(p="100", c=20, t=120), 100, 0, 20),
        (told(p=100, c=None), 100, 0, 0),
        (told(p=100, c=20, t=-5), 100, 0, 20),
        (told(p=100, c=20, t=True), 100, 0, 20),
        (told(p=0, c=20, t=120), 0, 0, 20),
        (told(p=100.0, c=20.0), 100, 0, 20),
        (told(p=100, t=20), 100, 0, 0),
        ({"input_tokens": 100, "output_tokens": 20}, 100, 0, 20),
        ({"prompt_tokens": 100, "completion_tokens": 20, "input_tokens": 0, "output_tokens": 0}, 100, 0, 20),
    ],
)
def test_parts_and_totals_of_openais_usage(usage, inputs, cached, outputs):
    used = CHAT.usage({"usage": usage}, ASKED)
    assert (used.input_tokens, used.cached_tokens, used.output_tokens) == (inputs, cached, outputs)


def test_what_stands_beside_the_prompt_costs_its_own_price():
    price = of_row("*", {"input": 1, "output": 10, "cached_input": "0.1"})
    usage = CHAT.usage({"usage": told(p=479, c=373, t=14164, cached_tokens=13312)}, ASKED)
    assert price.cost_micros(usage) == 5_540


@pytest.mark.parametrize("usage", [{}, told(p=0, c=0, t=0), told(t=120), told(p=-1, c="x"), told(p=0, c=0.0)])
def test_a_usage_of_zeros_is_none(usage):
    assert CHAT.usage({"usage": usage}, ASKED) is None


@pytest.mark.parametrize(
    "document",
    [
        {"usage": {**told(p=100, c=20), "cached_tokens": 60}},
        {"usage": {**told(p=100, c=20), "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40}},
        {"usage": {**told(p=100, c=20), "prompt_cache_hit_tokens": 60, "prompt_tokens_details": {"cached_tokens": 60}}},
        {"usage": {**told(p=100, c=20), "cache_read_input_tokens": 60}},
        {"usage": {**told(p=100, c=20), "cached_tokens": 0, "prompt_tokens_details": {"cached_tokens": 60}}},
        {"choices": [{"usage": told(p=100, c=20, cached_tokens=60)}]},
        {"usage": None, "choices": [{"usage": told(p=100, c=20, cached_tokens=60)}]},
        {"usage": told(p=0, c=0), "choices": [{"usage": {**told(p=100, c=20), "cached_tokens": 60}}]},
    ],
)
def test_other_places_of_the_usage_are_read_whole_and_in_a_stream(document):
    used = TokenUsage(input_tokens=100, cached_tokens=60, output_tokens=20)
    assert CHAT.usage(document, ASKED) == used
    reader = CHAT.stream(ASKED, "m")
    taken(reader, event(document))
    assert reader.usage == used


def test_sound_pictures_and_the_cache_are_parts_that_never_exceed_their_whole():
    details = {"cached_tokens": 50, "cache_write_tokens": 20, "audio_tokens": 20, "image_tokens": 40}
    usage = {
        "input_tokens": 100,
        "output_tokens": 20,
        "input_tokens_details": details,
        "output_tokens_details": {"image_tokens": 15, "audio_tokens": 15, "reasoning_tokens": 99},
    }
    assert RESPONSES.usage({"usage": usage}, ASKED) == TokenUsage(
        input_tokens=100,
        cached_tokens=50,
        cache_write_tokens=20,
        audio_input_tokens=20,
        image_input_tokens=10,
        output_tokens=20,
        image_tokens=15,
        audio_output_tokens=5,
        reasoning_tokens=20,
    )


@pytest.mark.parametrize(
    ("creation", "written", "written_1h"),
    [
        ({"cache_creation_input_tokens": 1200}, 1200, 0),
        ({"cache_creation_input_tokens": 1200, "cache_creation": None}, 1200, 0),
        ({"cache_creation_input_tokens": 1200, "cache_creation": {"ephemeral_1h_input_tokens": 1200}}, 0, 1200),
        ({"cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 1000}}, 200, 1000),
        ({"cache_creation_input_tokens": 1200, "cache_creation": {"ephemeral_1h_input_tokens": 1000}}, 200, 1000),
        (
            {
                "cache_creation_input_tokens": 1200,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            },
            1200,
            0,
        ),
        (
            {
                "cache_creation_input_tokens": 100,
                "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 900},
            },
            100,
            900,
        ),
        ({"cache_creation_input_tokens": -5, "cache_creation": {"ephemeral_5m_input_tokens": 7}}, 7, 0),
    ],
)
def test_writes_to_anthropics_cache_are_divided_by_their_hours(creation, written, written_1h):
    usage = MESSAGES.usage({"usage": {"input_tokens": 10, "output_tokens": 5, **creation}}, ASKED)
    assert (usage.cache_write_tokens, usage.cache_write_1h_tokens) == (written, written_1h)
    assert usage.input_tokens == 10 + written + written_1h


@pytest.mark.parametrize(
    ("metadata", "used"),
    [
        (
            {"promptTokenCount": 500, "candidatesTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": 515},
            TokenUsage(input_tokens=500, output_tokens=15, reasoning_tokens=5),
        ),
        (
            {"promptTokenCount": 500, "candidatesTokenCount": 15, "thoughtsTokenCount": 5, "totalTokenCount": 515},
            TokenUsage(input_tokens=500, output_tokens=15, reasoning_tokens=5),
        ),
        (
            {"promptTokenCount": 500, "thoughtsTokenCount": 5, "totalTokenCount": 505},
            TokenUsage(input_tokens=500, output_tokens=5, reasoning_tokens=5),
        ),
        (
            {"promptTokenCount": 500, "candidatesTokenCount": 10, "totalTokenCount": 9_999},
            TokenUsage(input_tokens=500, output_tokens=10),
        ),
        (
            {"candidatesTokenCount": 10, "thoughtsTokenCount": 5, "totalTokenCount": 515},
            TokenUsage(input_tokens=500, output_tokens=15, reasoning_tokens=5),
        ),
        (
            {"promptTokenCount": 500, "thoughtsTokenCount": -1, "candidatesTokenCount": 10},
            TokenUsage(input_tokens=500, output_tokens=10),
        ),
        (
            {
                "promptTokenCount": 500,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 100},
                    {"modality": "AUDIO", "tokenCount": 300},
                    {"modality": "IMAGE", "tokenCount": 100},
                ],
                "cachedContentTokenCount": 150,
                "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 150}],
                "candidatesTokenCount": 90,
                "candidatesTokensDetails": [
                    {"modality": "IMAGE", "tokenCount": 60},
                    {"modality": "AUDIO", "tokenCount": 20},
                ],
            },
            TokenUsage(
                input_tokens=500,
                cached_tokens=150,
                cached_kinds={"audio": 150},
                audio_input_tokens=150,
                image_input_tokens=100,
                output_tokens=90,
                image_tokens=60,
                audio_output_tokens=20,
            ),
        ),
    ],
)
def test_googles_usage(metadata, used):
    assert GENERATE_CONTENT.usage({"usageMetadata": metadata}, ASKED) == used


@pytest.mark.parametrize(
    "later",
    [
        {"candidatesTokenCount": 15, "totalTokenCount": 515},
        {"promptTokenCount": 0, "candidatesTokenCount": 15, "totalTokenCount": 515},
        {"promptTokenCount": None, "candidatesTokenCount": 15, "totalTokenCount": -1},
        {"promptTokenCount": "no", "candidatesTokenCount": 15},
    ],
)
def test_a_later_usage_of_googles_stream_completes_the_earlier(later):
    reader = GENERATE_CONTENT.stream(ASKED, "m")
    first = {"promptTokenCount": 500, "candidatesTokenCount": 2, "totalTokenCount": 502}
    taken(reader, event({"usageMetadata": first}), event({"usageMetadata": later}))
    assert reader.usage == TokenUsage(input_tokens=500, output_tokens=15)


def test_a_usage_is_kept_small_whatever_a_stream_tells():
    reader = GENERATE_CONTENT.stream(ASKED, "m")
    taken(reader, event({"usageMetadata": {"promptTokenCount": 5}}))
    for number in range(3):
        many = {f"name{number}-{place}": 1 for place in range(200)}
        taken(reader, event({"usageMetadata": {**many, "promptTokenCount": 7 + number}}))
    assert len(json.dumps(reader._usage.told)) < 3_000
    assert reader.usage.input_tokens == 9


@pytest.mark.parametrize(
    ("family", "told"),
    [
        (CHAT, lambda output: {"usage": {"prompt_tokens": 9, "completion_tokens": output}}),
        (MESSAGES, lambda output: {"type": "message_delta", "usage": {"input_tokens": 9, "output_tokens": output}}),
        (GENERATE_CONTENT, lambda output: {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": output}}),
    ],
)
@pytest.mark.parametrize("outputs", [(50, 2), (5, 15, 1), (60, 2, 0), (1, 60)])
def test_counts_of_a_stream_never_fall(family, told, outputs):
    reader = family.stream(ASKED, "m")
    taken(reader, *(event(told(output)) for output in outputs))
    assert reader.usage == TokenUsage(input_tokens=9, output_tokens=max(outputs))


def test_counts_of_a_stream_that_came_as_an_array_never_fall():
    chunks = [{"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": output}} for output in (60, 2)]
    assert GENERATE_CONTENT.usage(chunks, ASKED) == TokenUsage(input_tokens=9, output_tokens=60)


def test_an_input_is_greater_as_a_whole_and_not_by_its_parts():
    reader = MESSAGES.stream(ASKED, "m")
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 1200, "output_tokens": 1}}}
    last = {
        "type": "message_delta",
        "usage": {"input_tokens": 200, "cache_read_input_tokens": 1000, "output_tokens": 7},
    }
    taken(reader, event(start), event(last))
    assert reader.usage == TokenUsage(input_tokens=1200, cached_tokens=1000, output_tokens=7)


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20}, TokenUsage(input_tokens=100, output_tokens=20)),
        ({"input_tokens": 100, "completion_tokens": 20}, TokenUsage(input_tokens=100, output_tokens=20)),
        (
            {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "cache_read_input_tokens": 90},
            TokenUsage(input_tokens=100, cached_tokens=90, output_tokens=20),
        ),
        (
            {"input_tokens": 100, "output_tokens": 20, "total_tokens": 210, "cache_read_input_tokens": 90},
            TokenUsage(input_tokens=190, cached_tokens=90, output_tokens=20),
        ),
        (
            {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 90},
            TokenUsage(input_tokens=190, cached_tokens=90, output_tokens=20),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 90}},
            TokenUsage(input_tokens=100, cached_tokens=90, output_tokens=20),
        ),
    ],
)
def test_usage_of_messages_in_other_words_and_with_totals(usage, used):
    assert MESSAGES.usage({"content": [], "usage": usage}, ASKED) == used
    reader = MESSAGES.stream(ASKED, "m")
    taken(reader, event({"type": "message_delta", "usage": usage}))
    assert reader.usage == used


@pytest.mark.parametrize(("modality", "pictured"), [("image", 60), ("IMAGE", 60), (2, 60), (1, 0), (None, 0), ([], 0)])
def test_kinds_of_googles_tokens_have_names_or_numbers(modality, pictured):
    details = [{"modality": modality, "tokenCount": 60}]
    told = {"promptTokenCount": 5, "candidatesTokenCount": 90, "candidatesTokensDetails": details}
    assert GENERATE_CONTENT.usage({"usageMetadata": told}, ASKED).image_tokens == pictured


def test_sound_from_a_cache_costs_as_sound_where_the_cache_has_no_price():
    told = {
        "promptTokenCount": 1000,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 900}],
        "cachedContentTokenCount": 850,
        "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 800}, {"modality": "TEXT", "tokenCount": 50}],
        "candidatesTokenCount": 1,
    }
    price = of_row("*", {"input": 1, "output": 10, "audio_input": 40})
    assert price.cost_micros(GENERATE_CONTENT.usage({"usageMetadata": told}, ASKED)) == 900 * 40 + 100 + 10
