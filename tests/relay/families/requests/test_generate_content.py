"""Requests of generateContent: what they may cost, what opens their fields, and what goes upstream."""

import pytest

from tests.relay.families.requests.asking import GEMINI, paths, refused, sent, understood


def of_parts(*parts: dict) -> dict:
    return {"contents": [{"role": "user", "parts": list(parts)}]}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"generationConfig": {"routingConfig": {"autoMode": {}}}}, "generationConfig.routingConfig"),
        ({"generation_config": {"model_selection_config": {}}}, "generation_config.model_selection_config"),
        ({"generationConfig": {"translationConfig": {}}}, "generationConfig.translationConfig"),
        ({"generationConfig": {"responseModalities": ["VIDEO"]}}, "generationConfig.responseModalities"),
        ({"cached_content": "cachedContents/1"}, "cached_content"),
        ({"modelArmorConfig": {}}, "modelArmorConfig"),
        ({"serviceTier": "PRIORITY"}, "serviceTier"),
    ],
)
def test_what_costs_beyond_every_price_is_refused(fields, path):
    assert paths(GEMINI, fields) == [path]


@pytest.mark.parametrize("said", ["AUDIO", "audio", " Audio ", ["TEXT", "AUDIO"], ["audio"], 3, [1, 3]])
@pytest.mark.parametrize(
    ("parent", "name"), [("generationConfig", "responseModalities"), ("generation_config", "response_modalities")]
)
def test_sound_is_asked_for_in_any_form(parent, name, said):
    call, [field] = understood(GEMINI, {parent: {name: said}})
    assert (call.amounts, field.amount) == ({"audio_output"}, "audio_output")
    assert (field.name, field.path) == ("responseModalities", f"{parent}.{name}")


@pytest.mark.parametrize("said", ["TEXT", ["text", "IMAGE"], [1, 2], "MODALITY_UNSPECIFIED", None])
def test_text_and_pictures_are_asked_for_in_any_form(said):
    assert refused(GEMINI, {"generationConfig": {"responseModalities": said}}) == []


def test_speech_and_sound_are_amounts():
    call, [field] = understood(GEMINI, {"generationConfig": {"speechConfig": {"languageCode": "de"}}})
    assert (call.amounts, field.path) == ({"audio_output"}, "generationConfig.speechConfig")
    sound = {"inlineData": {"mimeType": "audio/mp3", "data": "AA"}}
    call, [field] = understood(GEMINI, of_parts({"text": "x"}, sound))
    assert (call.amounts, call.file_path) == ({"audio_input", "image_input"}, "contents[0].parts[1].inlineData")
    assert (field.name, field.path) == ("inlineData", "contents[0].parts[1].inlineData")


@pytest.mark.parametrize(
    "uri",
    [
        "files/f", "gs://b/f", "ftp://a.example/f", "//a.example/f", "a.example/f", "https://", "https:\\\\a.example/f",
        "https://g.example/v1beta/files/f", "https://g.example/v1beta%2Ffiles/f", "https://g.example/v1beta/%66iles/f",
        "https://g.example/v1beta/%2566iles/f", "https://g.example/v1beta//files/f", " https://a.example/f",
        "https://a.example/f\n", "https://storage.googleapis.com/b/f", "https://generativelanguage.googleapis.com./x",
        "https://g.example/v1beta%5Cfiles%5Cf", 5,
    ],
)  # fmt: skip
@pytest.mark.parametrize(("outer", "inner"), [("fileData", "fileUri"), ("file_data", "file_uri")])
def test_a_file_that_is_not_everybodys_is_refused(outer, inner, uri):
    [field] = refused(GEMINI, of_parts({outer: {inner: uri}}))
    assert (field.name, field.path) == ("fileData", f"contents[0].parts[0].{outer}")


def test_a_public_file_holds_a_whole_context():
    for uri in ("https://videos.example/watch?v=1", "HTTP://a.example/b%20c"):
        call, found = understood(GEMINI, of_parts({"fileData": {"fileUri": uri, "mimeType": "image/png"}}))
        assert (found, call.file_path, call.pictures_in) == ([], "contents[0].parts[0].fileData", 0)


def test_pictures_count_in_prompts_instructions_and_answers_of_functions():
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
    answered = {"functionResponse": {"name": "f", "response": {}, "parts": [picture]}}
    call, found = understood(GEMINI, {**of_parts(picture, answered), "system_instruction": {"parts": [picture]}})
    assert (found, call.pictures_in) == ([], 3)


def test_what_gemini_cli_sends_passes():
    said = {
        "systemInstruction": {"role": "user", "parts": [{"text": "x"}]},
        "generationConfig": {
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "OBJECT", "properties": {"TopK": {}}},
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
        },
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "safetySettings": [{"category": "x", "threshold": "y"}],
        "labels": {"a": "b"},
    }
    assert refused(GEMINI, said) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{"generationConfig":{"maxOutputTokens":9}}'),
        ('{"generationConfig":null}', '{"generationConfig":{"maxOutputTokens":9}}'),
        ('{"generationConfig":{"topK":1}}', '{"generationConfig":{"maxOutputTokens":9,"topK":1}}'),
        ('{"generation_config":{"top_k":1}}', '{"generation_config":{"max_output_tokens":9,"top_k":1}}'),
        ('{"generationConfig":{"max_output_tokens":null}}', '{"generationConfig":{"max_output_tokens":9}}'),
    ],
)
def test_a_limit_that_nobody_set_goes_upstream(before, after):
    assert sent(GEMINI, before, 9) == after
