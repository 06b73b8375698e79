"""A field passes if its dialect is known to have it; one that only looks like a known one never does."""

import pytest

from relay.families.requests.known_fields import DialectFields
from tests.relay.families.requests.asking import CHAT, GEMINI, GENERATIONS, MESSAGES, RESPONSES, paths, refused, said_no

TABLE = DialectFields("model n tools", stream_options=DialectFields("include_usage"))


def in_chat(part: object) -> dict:
    """A request whose message holds a part of a content."""
    return {"messages": [{"role": "user", "content": [part]}]}


EVERY_PATH = [CHAT, RESPONSES, MESSAGES, GEMINI, GENERATIONS]


@pytest.mark.parametrize("path", EVERY_PATH)
def test_an_unknown_field_is_named_and_an_operator_can_list_it(path):
    [field] = refused(path, {"brand_new": 1})
    assert field.name == ("brandNew" if path == GEMINI else "brand_new")
    assert (field.path, field.reason) == ("brand_new", "is not known to this service")
    assert refused(path, {"brand_new": None}) == []


def test_an_unknown_field_of_an_inner_object_goes_by_its_path():
    [field] = refused(CHAT, {"stream_options": {"deep": 1}})
    assert (field.name, field.path) == ("stream_options.deep", "stream_options.deep")
    [field] = refused(RESPONSES, {"context_management": [{"type": "compaction"}, {"deep": 1}]})
    assert (field.name, field.path) == ("context_management[].deep", "context_management[1].deep")
    assert paths(GEMINI, {"generationConfig": {"thinkingConfig": {"deep": 1}}}) == [
        "generationConfig.thinkingConfig.deep"
    ]


@pytest.mark.parametrize(
    ("path", "fields", "unknown"),
    [
        (CHAT, {"messages": [{"role": "user", "deep": 1}]}, "messages[0].deep"),
        (CHAT, in_chat({"type": "text", "deep": 1}), "messages[0].content[0].deep"),
        (CHAT, in_chat({"type": "image_url", "image_url": {"deep": 1}}), "messages[0].content[0].image_url.deep"),
        (CHAT, {"messages": [{"tool_calls": [{"function": {"deep": 1}}]}]}, "messages[0].tool_calls[0].function.deep"),
        (CHAT, {"tools": [{"type": "function", "function": {"deep": 1}}]}, "tools[0].function.deep"),
        (CHAT, {"tool_choice": {"deep": 1}}, "tool_choice.deep"),
        (CHAT, {"response_format": {"json_schema": {"deep": 1}}}, "response_format.json_schema.deep"),
        (CHAT, {"thinking": {"deep": 1}}, "thinking.deep"),
        (RESPONSES, {"input": [{"role": "user", "content": "x", "deep": 1}]}, "input[0].deep"),
        (RESPONSES, {"input": [{"role": "user", "content": [{"deep": 1}]}]}, "input[0].content[0].deep"),
        (RESPONSES, {"input": [{"type": "mcp_list_tools", "tools": [{"deep": 1}]}]}, "input[0].tools[0].deep"),
        (RESPONSES, {"instructions": [{"type": "additional_tools", "tools": [{}]}]}, "instructions[0].tools"),
        (RESPONSES, {"text": {"format": {"deep": 1}}}, "text.format.deep"),
        (RESPONSES, {"tools": [{"type": "custom", "format": {"deep": 1}}]}, "tools[0].format.deep"),
        (MESSAGES, {"output_config": {"deep": 1}}, "output_config.deep"),
        (MESSAGES, {"system": [{"type": "text", "text": "x", "deep": 1}]}, "system[0].deep"),
        (MESSAGES, {"thinking": {"type": "adaptive", "deep": 1}}, "thinking.deep"),
        (MESSAGES, {"tool_choice": {"type": "auto", "deep": 1}}, "tool_choice.deep"),
        (MESSAGES, in_chat({"type": "image", "source": {"deep": 1}}), "messages[0].content[0].source.deep"),
        (MESSAGES, {"tools": [{"name": "f", "cache_control": {"deep": 1}}]}, "tools[0].cache_control.deep"),
        (GEMINI, {"contents": [{"parts": [{"text": "x", "deep": 1}]}]}, "contents[0].parts[0].deep"),
        (GEMINI, {"safety_settings": [{"deep": 1}]}, "safety_settings[0].deep"),
        (GEMINI, {"toolConfig": {"functionCallingConfig": {"deep": 1}}}, "toolConfig.functionCallingConfig.deep"),
        (GEMINI, {"generationConfig": {"imageConfig": {"deep": 1}}}, "generationConfig.imageConfig.deep"),
        (GEMINI, {"tools": [{"functionDeclarations": [{"deep": 1}]}]}, "tools[0].functionDeclarations[0].deep"),
        (GENERATIONS, {"mask": {"deep": 1}}, "mask.deep"),
    ],
)
def test_an_unknown_field_is_named_however_deep_it_stands(path, fields, unknown):
    [field] = refused(path, fields)
    assert (field.path, field.reason) == (unknown, "is not known to this service")
    assert field.name == unknown.replace("[0]", "[]").replace("safety_settings", "safetySettings")


def test_a_field_is_found_as_deep_as_a_body_may_be():
    block, path = {"type": "text", "deep": 1}, "deep"
    for _ in range(29):
        block, path = {"type": "tool_result", "content": [block]}, f"content[0].{path}"
    assert paths(MESSAGES, in_chat(block)) == [f"messages[0].content[0].{path}"]


def test_an_operator_opens_a_deep_field_in_all_of_its_places_or_in_one():
    parts = [{"type": "text", "text": "x", "deep": 1}, {"type": "text", "text": "x", "deep": 1}]
    first, second = refused(CHAT, {"messages": [{"role": "user", "content": parts}]})
    assert first.name == second.name == "messages[].content[].deep"
    assert (first.path, second.path) == ("messages[0].content[0].deep", "messages[0].content[1].deep")


def test_an_unknown_field_of_a_tool_is_told_after_the_tool_which_may_have_a_price():
    for path, tool in (
        (CHAT, {"type": "web_search", "deep": 1}),
        (RESPONSES, {"type": "web_search", "filters": {"deep": 1}}),
        (MESSAGES, {"type": "web_search_20250305", "user_location": {"deep": 1}}),
        (GEMINI, {"googleSearch": {"deep": 1}}),
    ):
        priced, unknown = refused(path, {"tools": [tool]})
        assert ("search" in priced.tool, unknown.path.startswith("tools[0]."), unknown.tool) == (True, True, "")


AUTHORS = {"Model": {"MODEL": 1}, "image url": [{"deep": 1}]}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (CHAT, {"metadata": AUTHORS, "logit_bias": AUTHORS, "chat_template_kwargs": AUTHORS, "guided_json": AUTHORS}),
        (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": AUTHORS}}}),
        (CHAT, {"tools": [{"type": "function", "function": {"name": "f", "parameters": AUTHORS}}]}),
        (RESPONSES, {"prompt": {"variables": AUTHORS}, "text": {"format": {"schema": AUTHORS}}}),
        (RESPONSES, {"input": [{"type": "tool_search_call", "execution": "client", "arguments": AUTHORS}]}),
        (RESPONSES, {"tools": [{"type": "function", "name": "f", "parameters": AUTHORS}]}),
        (MESSAGES, in_chat({"type": "tool_use", "id": "1", "name": "f", "input": AUTHORS})),
        (MESSAGES, {"tools": [{"name": "f", "input_schema": AUTHORS, "input_examples": [AUTHORS]}]}),
        (MESSAGES, {"output_config": {"format": {"type": "json_schema", "schema": AUTHORS}}}),
        (GEMINI, {"labels": AUTHORS, "generationConfig": {"responseSchema": AUTHORS, "responseJsonSchema": AUTHORS}}),
        (GEMINI, {"contents": [{"parts": [{"functionCall": {"name": "f", "args": AUTHORS}}]}]}),
        (GEMINI, {"contents": [{"parts": [{"function_response": {"name": "f", "response": AUTHORS}}]}]}),
        (GEMINI, {"tools": [{"functionDeclarations": [{"name": "f", "parameters": AUTHORS}]}]}),
    ],
)
def test_what_an_author_names_is_open(path, fields):
    assert refused(path, fields) == []


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        (CHAT, {"MODEL": "dear"}, "MODEL"),
        (CHAT, {"N": 50}, "N"),
        (CHAT, {"Max_Tokens": 9}, "Max_Tokens"),
        (CHAT, {" n": 9}, '[" n"]'),
        (CHAT, {"model[]": "dear"}, '["model[]"]'),
        (CHAT, {"n*": 9}, '["n*"]'),
        (CHAT, {"\uff4eodel": 9, "\uff4d\uff4f\uff44\uff45\uff4c": "dear"}, '["\\uff4d\\uff4f\\uff44\\uff45\\uff4c"]'),
        (CHAT, {"me\u017fsages": []}, '["me\\u017fsages"]'),
        (CHAT, {"stream_options": {"Include_Usage": True}}, "stream_options.Include_Usage"),
        (CHAT, {"tools": [{"type": "function", "TYPE": "web_search"}]}, "tools[0].TYPE"),
        (RESPONSES, {"Max_Output_Tokens": 9}, "Max_Output_Tokens"),
        (RESPONSES, {"tools": [{"type": "namespace", "tools": [{"Type": "mcp"}]}]}, "tools[0].tools[0].Type"),
        (MESSAGES, {"Speed": "fast"}, "Speed"),
        (MESSAGES, {"cache_control": {"TTL": "1h"}}, "cache_control.TTL"),
        (GEMINI, {"GenerationConfig": {}}, "GenerationConfig"),
        (GEMINI, {"generationConfig": {"MaxOutputTokens": 9}}, "generationConfig.MaxOutputTokens"),
        (GEMINI, {"tools": [{"GoogleSearch": {}}]}, "tools[0].GoogleSearch"),
        (GENERATIONS, {"Quality": "high"}, "Quality"),
        (CHAT, {"messages": [{"role": "user", "Content": "x"}]}, "messages[0].Content"),
        (CHAT, in_chat({"type": "image_url", "Image_Url": {}}), "messages[0].content[0].Image_Url"),
        (CHAT, in_chat([{"type": "text", "TEXT": "x"}]), "messages[0].content[0][0].TEXT"),
        (CHAT, {"tools": [{"type": "web_search", "Max_Uses": 9}]}, "tools[0].Max_Uses"),
        (CHAT, {"tools": [{"type": "function", "function": {"Name": "f"}}]}, "tools[0].function.Name"),
        (RESPONSES, {"input": [{"role": "user", "content": [{"File_ID": "f"}]}]}, "input[0].content[0].File_ID"),
        (RESPONSES, {"text": {"format": {"Type": "json_schema"}}}, "text.format.Type"),
        (MESSAGES, {"system": [{"type": "text", "text": "x", "Text": "y"}]}, "system[0].Text"),
        (
            MESSAGES,
            in_chat({"type": "tool_result", "content": [{"type": "image", "SOURCE": {}}]}),
            "messages[0].content[0].content[0].SOURCE",
        ),
        (GEMINI, {"contents": [{"parts": [{"InlineData": {}}]}]}, "contents[0].parts[0].InlineData"),
        (GENERATIONS, {"images": [{"File_Id": "f"}]}, "images[0].File_Id"),
    ],
)
def test_a_known_field_in_another_writing_is_refused_whatever_is_listed(path, fields, param):
    assert said_no(path, fields) == param


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"generationConfig": {"maxOutputTokens": 5, "max_output_tokens": 9}}, "generationConfig.max_output_tokens"),
        ({"generationConfig": {"candidateCount": 1, "candidate_count": 8}}, "generationConfig.candidate_count"),
        ({"cachedContent": "a", "cached_content": "b"}, "cached_content"),
        ({"systemInstruction": {}, "system_instruction": {}}, "system_instruction"),
        (
            {"contents": [{"parts": [{"fileData": {"fileUri": "a", "file_uri": "b"}}]}]},
            "contents[0].parts[0].fileData.file_uri",
        ),
    ],
)
def test_googles_fields_come_in_one_of_their_spellings(fields, param):
    assert said_no(GEMINI, fields) == param


def test_a_table_checks_what_it_knows_and_no_more():
    [field] = TABLE.unknown({"model": {"MODEL": 1, "x": 1}, "other": {"Model": 1}, "stream_options": [None, 5]})
    assert field.path == "other"
    assert TABLE.unknown({"model": [{"x": 1}], "stream_options": "odd"}) == []


@pytest.mark.parametrize(
    "fields",
    [
        {("a" + " " * 100_000) * 20 + "é": 1},
        {"messages": [{"type": "image_url", "image_url": {"url": "data:" + "a" * 2_000_000}}]},
        {"messages": [{"type": "file", "file": {"file_data": "AAAA", "filename": ".txt" + " " * 2_000_000}}]},
    ],
    ids=["name", "address", "file name"],
)
def test_no_name_takes_longer_than_its_length(fields):
    """Else this does not end."""
    refused(CHAT, fields)
