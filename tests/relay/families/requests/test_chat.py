"""Chat requests: what they may cost, what opens their fields, and what goes upstream."""

import pytest

from tests.relay.families.requests.asking import CHAT, paths, refused, said_no, sent, understood

SOUND = {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AA"}}]}]}


@pytest.mark.parametrize(
    "fields",
    [
        {"enable_search": True},
        {"search_options": {}},
        {"search_parameters": {"mode": "on"}},
        {"web_search": {"enable": True}},
        {"preset": "p"},
        {"route": "fallback"},
        {"models": ["dear"]},
        {"provider": {"order": ["x"]}},
        {"plugins": [{"id": "web"}]},
        {"transforms": ["middle-out"]},
        {"service_tier": "priority"},
        {"best_of": 8},
    ],
)
def test_what_costs_beyond_every_price_is_refused(fields):
    [name] = fields
    assert paths(CHAT, fields) == [name]


def test_what_is_switched_off_costs_nothing():
    off = {"enable_search": False, "plugins": [], "web_search": None, "audio": None, "best_of": 1, "modalities": None}
    assert understood(CHAT, off)[0].amounts == frozenset()
    assert refused(CHAT, off) == []


@pytest.mark.parametrize(
    ("fields", "path", "amount"),
    [
        ({"modalities": ["text", "audio"]}, "modalities", "audio_output"),
        ({"modalities": "AUDIO"}, "modalities", "audio_output"),
        ({"audio": {"voice": "alloy", "format": "mp3"}}, "audio", "audio_output"),
        (SOUND, "messages[0].content[0].input_audio", "audio_input"),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, "cache_control.ttl", "cache_write_1h"),
        (
            {"tools": [{"type": "function", "function": {}, "cache_control": {"ttl": "1h"}}]},
            "tools[0].cache_control.ttl",
            "cache_write_1h",
        ),
    ],
)
def test_an_amount_that_not_every_price_has_is_told(fields, path, amount):
    call, [field] = understood(CHAT, fields)
    assert (call.amounts - {"image_input"}, field.path, field.amount) == ({amount}, path, amount)


def test_a_kind_of_output_that_no_price_has_is_refused():
    call, [field] = understood(CHAT, {"modalities": ["text", "video"]})
    assert (field.path, field.amount, call.amounts) == ("modalities", "", frozenset())
    assert refused(CHAT, {"modalities": ["text", "image"]}) == []


def test_extra_bodies_are_looked_into():
    google = {"thinking_config": {"thinking_budget": 9}}
    assert refused(CHAT, {"extra_body": {"google": google}}) == []
    cached = {"google": {**google, "cached_content": "cachedContents/1"}}
    assert paths(CHAT, {"extra_body": cached}) == ["extra_body.google.cached_content"]
    assert paths(CHAT, {"extra_body": {"thinking": {}}}) == ["extra_body.thinking"]


def test_a_longer_cache_of_openais_costs():
    assert refused(CHAT, {"prompt_cache_options": {"ttl": "30m"}, "prompt_cache_retention": "24h"}) == []
    assert paths(CHAT, {"prompt_cache_options": {"ttl": "12h"}}) == ["prompt_cache_options.ttl"]
    part = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"ttl": "12h"}}
    said = {"messages": [{"role": "user", "content": [part]}]}
    assert paths(CHAT, said) == ["messages[0].content[0].prompt_cache_breakpoint"]


@pytest.mark.parametrize("name", ["m ", " m", "m\u00a0"])
def test_a_model_with_blanks_around_it_is_named(name):
    assert said_no(CHAT, {"model": name}) == "model"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"model": "m"}', '{"max_completion_tokens":9,"model": "m"}'),
        ('{"model":"m", "max_completion_tokens" : null}', '{"model":"m", "max_completion_tokens" : 9}'),
        ('{"max_tokens":null}', '{"max_completion_tokens":9,"max_tokens":null}'),
        ("{}", '{"max_completion_tokens":9}'),
    ],
)
def test_a_limit_that_nobody_set_goes_upstream(before, after):
    assert sent(CHAT, before, 9) == after
    assert sent(CHAT, before) == before


def test_of_two_limits_the_smaller_holds_and_goes_upstream():
    call, _ = understood(CHAT, {"max_tokens": 30, "max_completion_tokens": 10})
    assert (call.output_limit, call.sent_limit) == (10, 10)
    both = '{"max_tokens": 30, "max_completion_tokens": 10}'
    assert sent(CHAT, both, 10) == '{"max_tokens": 10, "max_completion_tokens": 10}'
    call, _ = understood(CHAT, {"max_tokens": 30, "max_completion_tokens": 30})
    assert (call.output_limit, call.sent_limit) == (30, None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"stream_options": {"a":[1]}}', "{}"),
        ('{"stream_options": {} , "model":"m"}', '{"model":"m"}'),
        ('{"model":"m" , "stream_options": null,"n":1}', '{"model":"m","n":1}'),
        ('{"model":"m", "stream_options": {}}', '{"model":"m"}'),
        ('{"model":"m"}', '{"model":"m"}'),
    ],
)
def test_an_upstream_that_knows_no_stream_options_gets_none(before, after):
    assert sent(CHAT, before, takes_stream_options=False) == after


def test_fields_of_compatible_servers_pass():
    usual = {
        "top_k": 5, "min_p": 0.1, "repetition_penalty": 1.1, "seed": 1, "logit_bias": {"1": 2},
        "chat_template_kwargs": {"enable_thinking": False}, "enable_thinking": True, "thinking": {"type": "enabled"},
        "reasoning": {"effort": "high", "exclude": True}, "reasoning_effort": "low", "include_reasoning": True,
        "usage": {"include": True}, "stream": True, "stream_options": {"include_usage": True}, "store": False,
        "guided_json": {}, "metadata": {"a": "b"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"Model": 1}}},
        "prediction": {"type": "content", "content": "x"}, "safety_identifier": "x", "verbosity": "low",
        "functions": [], "function_call": "auto", "tool_choice": "auto", "parallel_tool_calls": True,
    }  # fmt: skip
    echoed = {"role": "assistant", "content": None, "reasoning_content": "x", "annotations": [], "audio": None}
    assert refused(CHAT, {**usual, "messages": [echoed, {"role": "tool", "tool_call_id": "1", "content": "x"}]}) == []


@pytest.mark.parametrize(("budget", "held"), [(30_000, 30_000), (0, 0), (-1, 0), (None, 0), ("5", 0)])
def test_thoughts_with_a_budget_of_their_own_are_held_beside_the_limit(budget, held):
    call, found = understood(CHAT, {"max_tokens": 1, "enable_thinking": True, "thinking_budget": budget})
    assert (call.output_limit, call.thoughts_bound, found) == (1, held, [])
