"""A field passes if its dialect is known to have it; one that only looks like a known one never does."""

import typing

import pytest
from anthropic.types import beta as anthropic_types
from google.genai import types as google_types
from openai.types import image_edit_params, image_generate_params
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

from relay.families.requests import chat, generate_content, images, messages, responses
from relay.families.requests.known_fields import DialectFields
from tests.relay.families.requests.asking import CHAT, GEMINI, GENERATIONS, MESSAGES, RESPONSES, paths, refused, said_no

TABLE = DialectFields("model n tools", stream_options=DialectFields("include_usage"))
EVERY_PATH = [CHAT, RESPONSES, MESSAGES, GEMINI, GENERATIONS]
# The SDKs take them as arguments, and send them as headers or in other places.
CLIENTS_OWN = {"betas"}
OF_VERTEX = {"audio_timestamp", "http_options", "should_return_http_response", "automatic_function_calling"}
ELSEWHERE = {"automatic_continuation"}


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
    ],
)
def test_googles_fields_come_in_one_of_their_spellings(fields, param):
    assert said_no(GEMINI, fields) == param


def test_a_table_checks_what_it_knows_and_no_more():
    TABLE.check({"model": {"MODEL": 1}, "other": {"Model": 1}, "stream_options": [None, 5]})
    assert list(TABLE.unknown({"model": {"x": 1}, "stream_options": "odd"})) == []


def fields_of(kind: type) -> set[str]:
    return set(typing.get_type_hints(kind)) - CLIENTS_OWN


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (chat.FIELDS, fields_of(completion_create_params.CompletionCreateParamsStreaming)),
        (responses.FIELDS, fields_of(response_create_params.ResponseCreateParamsStreaming)),
        (messages.FIELDS, fields_of(anthropic_types.message_create_params.MessageCreateParamsStreaming)),
        (messages.FIELDS, fields_of(anthropic_types.message_count_tokens_params.MessageCountTokensParams)),
        (images.FIELDS, fields_of(image_generate_params.ImageGenerateParamsStreaming)),
        (images.FIELDS, fields_of(image_edit_params.ImageEditParamsStreaming)),
        (
            generate_content.SETTINGS,
            set(google_types.GenerationConfig.model_fields)
            | {"thinking_config", "image_config", "response_modalities"},
        ),
    ],
)
def test_every_field_of_the_official_sdks_is_known(table, names):
    assert [field.path for field in table.unknown(dict.fromkeys(names, 1))] == []


def test_every_field_of_googles_sdk_is_known_in_its_place():
    inner = set(google_types.GenerationConfig.model_fields) | {"image_config", "thinking_config"}
    names = set(google_types.GenerateContentConfig.model_fields) - inner - OF_VERTEX - ELSEWHERE
    assert [field.path for field in generate_content.REQUEST.unknown(dict.fromkeys(names, 1))] == []


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
