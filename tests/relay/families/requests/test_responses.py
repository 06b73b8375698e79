"""Requests of responses: what they may cost, what is stored elsewhere, and what goes upstream."""

import pytest

from tests.relay.families.requests.asking import RESPONSES, paths, refused, said_no, sent, understood

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
        ({"input": [{"type": "ITEM_REFERENCE ", "id": "rs_1"}]}, "input[0]"),
        ({"input": [{"type": "compaction", "id": "cmp_1"}]}, "input[0]"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
    ):
        [field] = refused(RESPONSES, fields)
        assert field.path == path
        assert field.reason.endswith(f"stored with the provider: {cure}")


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ({"type": "code_interpreter", "container": "cntr_1"}, "tools[0].container"),
        ({"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["f"]}}, "tools[0].container.file_ids"),
        ({"type": "shell", "environment": {"container_id": "cntr_1"}}, "tools[0].environment.container_id"),
        ({"type": "image_generation", "input_image_mask": {"file_id": "f"}}, "tools[0].input_image_mask.file_id"),
    ],
)
def test_tools_that_name_objects_of_the_account_are_refused_whatever_they_cost(tool, path):
    assert [field.path for field in refused(RESPONSES, {"tools": [tool]}) if not field.tool] == [path]


def test_a_tool_of_the_providers_is_found_wherever_it_stands():
    held = {"type": "custom", "name": "f", "tools": [{"type": "web_search"}]}
    assert paths(RESPONSES, {"tools": [held]}) == ["tools[0].tools[0]"]


def test_a_template_that_is_no_object_is_refused():
    assert said_no(RESPONSES, {"prompt": "pmpt_1"}) == "prompt"


def test_chosen_tools_have_but_a_name():
    chosen = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}
    assert paths(RESPONSES, {"tool_choice": chosen}) == []
    chosen["tools"] = [{"type": "mcp", "server_label": "s", "server_url": "u"}]
    assert paths(RESPONSES, {"tool_choice": chosen}) == ["tool_choice.tools[0].server_url"]


def test_skills_of_the_account_are_none_of_the_clients():
    shell = {
        "type": "shell",
        "environment": {"type": "local", "skills": [{"type": "skill_reference", "skill_id": "s"}]},
    }
    assert paths(RESPONSES, {"tools": [shell]}) == [
        "tools[0].environment.skills[0].type",
        "tools[0].environment.skills[0].skill_id",
    ]


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
    assert (once.passes, twice.passes) == (1, 2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"model":"m"}', '{"max_output_tokens":9,"model":"m"}'),
        ('{"max_output_tokens":null}', '{"max_output_tokens":9}'),
    ],
)
def test_a_limit_that_nobody_set_goes_upstream(before, after):
    assert sent(RESPONSES, before, 9) == after
