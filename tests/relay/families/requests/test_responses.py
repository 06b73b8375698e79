"""Requests of responses: what they may cost, what is stored elsewhere, and what goes upstream."""

import pytest

from tests.relay.families.requests.asking import RESPONSES, paths, refused, sent, understood

PICTURE = "data:image/png;base64,QUFB"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"background": True}, "background"),
        ({"background_options": {"completion_window": "8h"}}, "background_options"),
        ({"access_programs": {"cyber": "standard"}}, "access_programs"),
        ({"service_tier": "fast"}, "service_tier"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
        ({"prompt_cache_options": {"ttl": "12h"}}, "prompt_cache_options.ttl"),
        ({"prompt": {"id": "p"}}, "prompt.id"),
        ({"text": {"surprise": 1}}, "text.surprise"),
    ],
)
def test_what_costs_beyond_every_price_is_refused(fields, path):
    assert paths(RESPONSES, fields) == [path]


def test_stored_items_are_refused_with_their_cure():
    cure = 'send the items themselves, with store: false and include: ["reasoning.encrypted_content"]'
    for fields, path in (
        ({"input": [{"role": "user", "content": "x"}, {"type": "item_reference", "id": "rs_1"}]}, "input[1]"),
        ({"input": [{"id": "rs_1"}]}, "input[0]"),
        ({"input": {"type": "item_reference", "id": "rs_1"}}, "input"),
        ({"input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}, "input[0]"),
        ({"input": [{"type": "image_generation_call", "id": "ig_1", "result": None}]}, "input[0]"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
    ):
        [field] = refused(RESPONSES, fields)
        assert field.path == path
        assert field.reason.endswith(f"stored with the provider: {cure}")


def test_what_agents_say_beside_the_documented_passes():
    said = {
        "client_metadata": {"session_id": "1", "x-codex-window-id": "1:0"},
        "prompt_cache_key": "k",
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "reasoning": {"effort": "low", "summary": "auto", "context": "all_turns"},
        "text": {"verbosity": "low"},
        "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "stream_options": {"include_obfuscation": False},
        "input": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"},
            {"type": "local_shell_call", "id": "1", "action": {"type": "exec", "command": ["ls"], "env": {}}},
            {"type": "custom_tool_call", "call_id": "1", "name": "apply_patch", "input": "x"},
            {"type": "tool_search_call", "execution": "client", "arguments": {}},
        ],
    }
    assert refused(RESPONSES, said) == []


def test_pictures_in_what_tools_returned_count():
    items = [
        {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_image", "image_url": PICTURE}]},
        {"type": "computer_call_output", "output": {"type": "computer_screenshot", "image_url": PICTURE}},
        {"role": "user", "content": [{"type": "input_file", "file_data": "data:application/pdf;base64,QUFB"}]},
    ]
    call, _ = understood(RESPONSES, {"input": items})
    assert (call.pictures_in, call.file_path) == (2, "input[2].content[0].file_data")


def test_a_conversation_that_is_shortened_is_read_twice_and_written_twice():
    once, _ = understood(RESPONSES, {"store": False})
    twice, _ = understood(RESPONSES, {"context_management": [{"type": "compaction"}]})
    assert (once.choices, twice.choices) == (1, 2)
    assert twice.input_bound > 2 * once.input_bound


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"model":"m"}', '{"max_output_tokens":9,"model":"m"}'),
        ('{"max_output_tokens":null}', '{"max_output_tokens":9}'),
    ],
)
def test_a_limit_that_nobody_set_goes_upstream(before, after):
    assert sent(RESPONSES, before, 9) == after
