"""Google's generateContent: the model in the path, two spellings, and streams without a last event."""

import json
from dataclasses import replace

import pytest

from adapters.base import ErrorKind
from common.errors import InvalidRequest, UpstreamUnavailable
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, CallPath, Endpoint
from relay.families.registry import GENERATE_CONTENT, find_family
from relay.wire import json_arrays, sse
from tests.relay.families.asking import asked_of, event, taken
from tests.relay.families.requests.asking import refused_of

PATH = "/v1beta/models/m:generateContent"
STREAM = "/v1beta/models/m:streamGenerateContent"
CALLED = CallPath(path=PATH, model="m", verb="generateContent")
SAID = {"contents": [{"parts": [{"text": "hi"}]}]}
TOLD = {
    "promptTokenCount": 100,
    "toolUsePromptTokenCount": 7,
    "cachedContentTokenCount": 60,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 132,
    "candidatesTokensDetails": [{"modality": "TEXT", "tokenCount": 8}, {"modality": "IMAGE", "tokenCount": 12}],
}
USED = TokenUsage(input_tokens=107, cached_tokens=60, output_tokens=25, reasoning_tokens=5, image_tokens=12)


def asked(path: str = PATH, query: str = "", **more) -> AskedCall:
    return asked_of(path, {**SAID, **more}, query)[1]


def streamed(**config) -> AskedCall:
    return asked(STREAM, "alt=sse", generationConfig=config)


def chunk(text: str = "", **fields) -> bytes:
    parts = [{"text": text}] if text else []
    return event({"candidates": [{"content": {"parts": parts}, **fields}], "modelVersion": "up"})


def test_the_bill_depends_on_the_path_and_on_either_spelling():
    assert asked(generationConfig={"maxOutputTokens": 9, "candidateCount": 2}).output_limit == 9
    call = asked(STREAM, "alt=sse&key=k", generation_config={"max_output_tokens": 8, "candidate_count": 3})
    assert (call.model, call.is_stream, call.output_limit, call.choices, call.is_free) == ("m", True, 8, 3, False)
    assert asked("/v1/models/m:countTokens").is_free


@pytest.mark.parametrize("parent", ["generationConfig", "generation_config"])
@pytest.mark.parametrize("name", ["maxOutputTokens", "max_output_tokens", "candidateCount", "candidate_count"])
def test_a_setting_is_refused_by_its_whole_path(parent, name):
    with pytest.raises(InvalidRequest) as refusal:
        asked(**{parent: {name: "many"}})
    assert refusal.value.param == f"{parent}.{name}"
    assert refusal.value.message.startswith(f"{parent}.{name} ")


def test_a_model_goes_upstream_by_the_name_that_is_priced():
    endpoint = Endpoint(platform="gemini", base_url="https://g.example", credentials={}, upstream_model="")
    for prefix in ("", "models/", "models/models/", "models/models/models/"):
        path = CallPath(path=PATH, model=f"{prefix}dear", verb="generateContent")
        call = GENERATE_CONTENT.read(SAID, b"{}", path)
        assert call.model == "dear"
        address = GENERATE_CONTENT.url(replace(endpoint, upstream_model=call.model), path, call)
        assert address == "https://g.example/v1beta/models/dear:generateContent"


@pytest.mark.parametrize(
    ("path", "query", "more", "param"),
    [
        (STREAM, "alt=proto", {}, "alt"),
        (PATH, "alt=sse", {}, "alt"),
        (PATH, "fields=candidates", {}, "fields"),
        (PATH, "", {"generationConfig": []}, "generationConfig"),
        (PATH, "", {"model": "models/dear"}, "model"),
        (PATH.replace("m:", "../files/m:"), "", {}, "model"),
        (PATH.replace("m:", "a//b:"), "", {}, "model"),
        (PATH, "", {"generationConfig": {"candidateCount": 8}, "generation_config": {}}, "generation_config"),
        ("/v1/models/m:countTokens", "", {"generateContentRequest": {"model": "x"}}, "generateContentRequest.model"),
    ],
)
def test_what_the_path_or_the_bill_depends_on_is_refused_by_name(path, query, more, param):
    with pytest.raises(InvalidRequest) as refused:
        asked(path, query, **more)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"cachedContent": "cachedContents/1"}, "cachedContent"),
        ({"cached_content": "cachedContents/1"}, "cached_content"),
        ({"serviceTier": "priority"}, "serviceTier"),
        ({"tools": [{"functionDeclarations": []}, {"google_search": {}}]}, "tools[1].google_search"),
        ({"tools": [{"functionDeclarations": [], "codeExecution": {}}]}, "tools[0].codeExecution"),
        ({"tools": {"googleSearch": {}}}, "tools[0].googleSearch"),
        ({"generationConfig": {"responseModalities": ["TEXT", "AUDIO"]}}, "generationConfig.responseModalities"),
        ({"contents": [{"parts": [{"fileData": {"fileUri": "gs://b/f"}}]}]}, "contents[0].parts[0].fileData"),
        ({"contents": {"parts": {"file_data": {"file_uri": "files/f"}}}}, "contents.parts.file_data"),
        (
            {"contents": [{"parts": [{"fileData": {"file_uri": "https://g.example/v1beta/files/f"}}]}]},
            "contents[0].parts[0].fileData",
        ),
        ({"generateContentRequest": {"cachedContent": "c"}}, "cachedContent"),
    ],
)
def test_what_costs_more_or_is_anothers_is_listed(fields, path):
    assert [field.path for field in refused_of(GENERATE_CONTENT, {**SAID, **fields}, CALLED)] == [path]


def test_an_operator_names_a_field_in_one_spelling():
    for spelling in ("cachedContent", "cached_content"):
        assert [field.name for field in refused_of(GENERATE_CONTENT, {spelling: "c"}, CALLED)] == ["cachedContent"]


def test_usual_fields_are_not_listed():
    public = {"parts": [{"fileData": {"fileUri": "https://videos.example/watch?v=1"}}, {"fileData": "odd"}]}
    call = {"parts": [{"functionCall": {"name": "f", "args": {"fileData": {"fileUri": "x"}}}}]}
    config = {"responseModalities": ["TEXT", "Image"], "imageConfig": {"aspectRatio": "1:1"}}
    usual = {"contents": [public, call], "generationConfig": config, "tools": [{"function_declarations": []}]}
    assert refused_of(GENERATE_CONTENT, {**usual, "serviceTier": "flex"}, CALLED) == []


@pytest.mark.parametrize(
    ("path", "model", "upstream", "expected"),
    [
        (PATH, "m", "m", "/v1beta/models/m:generateContent"),
        ("/v1/models/org/m:1:countTokens", "org/m:1", "org/m:1", "/v1/models/org/m%3A1:countTokens"),
        (STREAM, "m", "models/über?#", "/v1beta/models/%C3%BCber%3F%23:streamGenerateContent?alt=sse"),
        (
            "/v1beta/tunedModels/x:generateContent",
            "tunedModels/x",
            "tunedModels/x",
            "/v1beta/tunedModels/x:generateContent",
        ),
        ("/v1beta/models/tunedModels/x:generateContent", "tunedModels/x", "y", "/v1beta/models/y:generateContent"),
    ],
)
def test_the_models_name_goes_into_the_address(path, model, upstream, expected):
    family, called = find_family("POST", path)
    call = asked(path, "alt=sse" if "stream" in path else "")
    assert (family, call.model) == (GENERATE_CONTENT, model)
    for platform, base in (("gemini", "https://g.example/"), ("openai", "https://g.example/v1")):
        endpoint = Endpoint(platform=platform, base_url=base, credentials={"api_key": "k"}, upstream_model=upstream)
        assert family.url(endpoint, called, call) == f"https://g.example{expected}"
        assert family.headers(endpoint, {"x-goog-api-key": "mine"})["x-goog-api-key"] == "k"


def test_the_model_in_a_body_is_mapped_as_well():
    raw = b'{"generateContentRequest" : {"contents":[],"model":"models/m"}, "model": "m"}'
    call = asked("/v1/models/m:countTokens")
    assert GENERATE_CONTENT.body(json.loads(raw), raw, call, "m") is raw
    mapped = json.loads(GENERATE_CONTENT.body(json.loads(raw), raw, call, "up"))
    assert mapped["model"] == mapped["generateContentRequest"]["model"] == "models/up"


def test_thoughts_and_prompts_of_tools_count():
    assert GENERATE_CONTENT.usage({"usageMetadata": TOLD}, asked()) == USED
    told = {"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}}
    assert GENERATE_CONTENT.usage(told, asked()).input_tokens == 9
    for nothing in ({}, None, {"promptTokenCount": "9"}):
        assert GENERATE_CONTENT.usage({"usageMetadata": nothing}, asked()) is None


def test_a_stream_ends_well_after_every_candidates_reason_or_a_block():
    args = chunk().replace(b'"parts": []', b'"parts": [{"functionCall": {"name": "f", "args": {"finishReason": "x"}}}]')
    for choices, frames, can_end in (
        (1, [chunk("a"), args], False),
        (1, [chunk("a", finishReason="STOP")], True),
        (2, [chunk("a", finishReason="STOP")], False),
        (1, [chunk("a", finishReason="FINISH_REASON_UNSPECIFIED")], False),
        (2, [chunk("a", finishReason="STOP"), chunk("b", finishReason="STOP")], False),
        (2, [chunk("a", finishReason="STOP"), chunk("b", finishReason="MAX_TOKENS", index=1)], True),
        (1, [event({"promptFeedback": {"blockReason": "SAFETY"}})], True),
    ):
        reader = GENERATE_CONTENT.stream(streamed(candidateCount=choices), "m")
        assert taken(reader, *frames) == frames
        assert (reader.can_end, reader.is_over) == (can_end, False), frames
    assert reader.delivered.output_bytes == 0
    reader = GENERATE_CONTENT.stream(streamed(), "m")
    taken(reader, chunk("hé"), args)
    assert reader.delivered.output_bytes == 3 + len("finishReasonx")


def test_a_chunk_with_a_large_picture_passes_whole_and_tells_what_it_tells():
    picture = {"inlineData": {"mimeType": "image/png", "data": "QUJD" * 50_000}}
    frame = event(
        {
            "candidates": [{"content": {"parts": [picture, {"text": "hé"}]}, "finishReason": "STOP"}],
            "usageMetadata": TOLD,
            "modelVersion": "up",
        }
    )
    for upstream_model, shown in (("m", frame), ("up", frame.replace(b'"up"', b'"m"'))):
        reader = GENERATE_CONTENT.stream(streamed(), upstream_model)
        assert taken(reader, frame) == [shown]
        assert (reader.usage, reader.can_end, reader.delivered.output_bytes) == (USED, True, 3)


def test_the_clients_name_stands_in_every_chunk():
    reader = GENERATE_CONTENT.stream(streamed(), "up")
    assert taken(reader, chunk("x")) == [chunk("x").replace(b'"up"', b'"m"')]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 503, "status": "UNAVAILABLE", "message": "x"}, ErrorKind.OVERLOADED),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}, ErrorKind.RATE_LIMITED),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota per day"}, ErrorKind.QUOTA_EXHAUSTED),
        ({"code": 500, "status": "INTERNAL", "message": "x"}, ErrorKind.AMBIGUOUS),
        ({"code": 400, "status": "INVALID_ARGUMENT", "message": "x"}, ErrorKind.INVALID_REQUEST),
    ],
)
def test_an_error_is_classified_in_a_chunk_and_in_an_answer(error, kind):
    reader = GENERATE_CONTENT.stream(streamed(), "m")
    assert taken(reader, event({"error": error})) == [b""]
    assert reader.error.kind is kind
    assert GENERATE_CONTENT.refusal(error["code"], {}, json.dumps({"error": error}).encode()).kind is kind


def test_a_cut_stream_ends_in_a_chunk_with_an_error():
    frame = GENERATE_CONTENT.error_frame(UpstreamUnavailable())
    assert frame.startswith(b"data: {")
    assert "temporarily" in json.loads(sse.data(frame))["error"]["message"]


def test_a_stream_is_read_as_an_array_where_events_are_not_asked_for_and_is_events_upstream():
    _, called = find_family("POST", STREAM)
    endpoint = Endpoint(platform="gemini", base_url="https://g.example", credentials={}, upstream_model="m")
    for query, is_array in (("", True), ("alt=json&key=k", True), ("alt=sse", False)):
        call = asked(STREAM, query)
        assert (call.is_stream, call.is_array) == (True, is_array)
        assert GENERATE_CONTENT.url(endpoint, called, call).endswith(":streamGenerateContent?alt=sse")
    assert not asked().is_array


def test_the_elements_of_an_array_are_the_chunks_as_they_came():
    frames = [b'data: {"a" :1}\r\n\r\n', b"\n", b"", b'event: x\ndata: {"b":\ndata: 2}\n\n']
    assert json_arrays.write_elements(frames, has_elements=False) == b'[{"a" :1}\n,\r\n{"b":\n2}'
    assert json_arrays.write_elements(frames[:2], has_elements=True) == b',\r\n{"a" :1}\n'
    assert json_arrays.write_elements(frames[1:3], has_elements=False) == b"\n"


@pytest.mark.parametrize(
    ("said", "is_error"), [(b"[DONE]", False), (b"", False), (b'{"text": "ha', True), (b"7", False), (b"\xff", False)]
)
def test_what_is_no_chunk_spoils_no_array(said, is_error):
    for call in (asked(STREAM), streamed()):
        reader = GENERATE_CONTENT.stream(call, "m")
        assert taken(reader, chunk("a", finishReason="STOP"), b"data: " + said + b"\n\n")[1].strip() == b""
        assert (reader.error is not None, reader.is_over, reader.can_end) == (is_error, is_error, not is_error)


def test_other_paths_and_methods_are_none_of_the_families():
    for method, path in (
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/models/m"),
        ("POST", "/v1/models/m:embedContent"),
        ("POST", "/v1/models/:countTokens"),
        ("POST", "/v2/models/m:countTokens"),
    ):
        assert find_family(method, path) is None


def test_the_path_is_taken_apart_at_its_last_colon():
    _, called = find_family("POST", "/v1/models/a:b/c:countTokens")
    assert called == CallPath(path="/v1/models/a:b/c:countTokens", model="a:b/c", verb="countTokens")
