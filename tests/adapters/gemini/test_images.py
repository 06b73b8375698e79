"""The Gemini protocol: what goes out, what its answers and refusals mean, and what it cannot express."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import responses

from adapters import expression
from adapters.base import Billed, Done, ErrorKind, ImageRef, Target, TaskRequest, UpstreamError
from adapters.registry import ADAPTERS
from tests.adapters.making import API_KEY, PNG, connection_to, image_request, left_in, says_nothing_secret, stored
from tests.adapters.raw_server import answer, raw_server

adapter = ADAPTERS["gemini_generate_content"]
BASE = "https://generativelanguage.example.com"
ENCODED = base64.b64encode(PNG).decode()
RPC = "type.googleapis.com/google.rpc."


def target(options: dict[str, Any] | None = None, model: str = "gemini-3-pro-image", **capabilities: Any) -> Target:
    return Target(
        adapter="gemini_generate_content",
        base_url=BASE,
        upstream_model=model,
        capabilities=capabilities,
        options=options or {},
    )


def plain(**fields: Any) -> TaskRequest:
    """Without tier and ratio."""
    return image_request(**({"image_size": None, "aspect_ratio": None} | fields))


def fields_of(request: TaskRequest, **capabilities: Any) -> list[str]:
    return [problem.field for problem in expression.check(adapter, request, target(**capabilities))]


def config_of(request: TaskRequest, **capabilities: Any) -> Any:
    return adapter.build(request, target(**capabilities)).body["generationConfig"]


UPSTREAM = adapter.build(image_request(), target())


def submit(status: int = 200, **reply: Any) -> Done:
    with responses.RequestsMock() as provider:
        provider.post(BASE + UPSTREAM.path, status=status, **reply)
        done = adapter.submit(UPSTREAM, connection_to(BASE))
        assert len(provider.calls) == 1
    assert isinstance(done, Done)
    return done


def refused(status: int = 200, **reply: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        submit(status, **reply)
    assert says_nothing_secret(caught.value)
    return caught.value


def spoken(code: int, status: str, *details: dict[str, Any], message: str = "no") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def stopped(reason: str) -> dict[str, Any]:
    return {"candidates": [{"content": {}, "finishReason": reason, "index": 0}], "usageMetadata": {}}


def picture(data: str = ENCODED, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": data}, **more}


def answered(*parts: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}]}


def test_the_least_request_asks_for_an_image_of_the_providers_choice() -> None:
    upstream = adapter.build(plain(), target())
    assert upstream.path == "/v1beta/models/gemini-3-pro-image:generateContent"
    assert upstream.body == {
        "contents": [{"role": "user", "parts": [{"text": "a fox"}]}],
        "generationConfig": {"responseModalities": ["IMAGE"]},
    }
    assert (upstream.billed, upstream.calls, upstream.files) == (Billed(count=1, tier=None), 1, ())


def test_everything_at_once_has_its_place() -> None:
    images = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/b.png"))
    request = image_request(n=3, image_size="4K", aspect_ratio="9:16", images=images, extra_body={"tools": []})
    upstream = adapter.build(request, target({"version": "v1"}))
    assert upstream.path.startswith("/v1/models/")
    assert upstream.body["generationConfig"] == {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "9:16", "imageSize": "4K"},
    }
    assert [list(part) for part in upstream.body["contents"][0]["parts"]] == [["text"], ["inlineData"], ["inlineData"]]
    assert [part.image for part in upstream.files] == list(images)
    assert (upstream.billed, upstream.calls) == (Billed(count=3, tier="4K"), 3)
    assert upstream.body["tools"] == []


def test_a_tier_has_a_size_in_the_providers_words() -> None:
    for tier, size in [("0.5K", "512"), ("1K", "1K"), ("2K", "2K"), ("4K", "4K")]:
        assert config_of(plain(image_size=tier))["imageConfig"] == {"imageSize": size}, size


def test_a_ratio_alone_takes_the_first_tier() -> None:
    upstream = adapter.build(plain(aspect_ratio="16:9"), target(tiers=["2K", "1K"]))
    assert upstream.body["generationConfig"]["imageConfig"] == {"aspectRatio": "16:9", "imageSize": "2K"}
    assert upstream.billed.tier == "2K"
    assert adapter.build(plain(aspect_ratio="16:9"), target()).billed.tier == "1K"


def test_a_model_of_one_size_is_sent_none() -> None:
    upstream = adapter.build(image_request(), target(fixed_size=True))
    assert upstream.body["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}
    assert upstream.billed.tier == "1K"
    assert adapter.build(plain(), target(fixed_size=True, tiers=["2K"])).billed.tier == "2K"
    assert fields_of(image_request(image_size="2K"), fixed_size=True) == ["params.image_size"]
    assert fields_of(image_request(image_size="2K"), fixed_size=True, tiers=["2K", "4K"]) == []
    assert fields_of(image_request(image_size="4K"), fixed_size=True, tiers=["2K", "4K"]) == ["params.image_size"]


def test_a_size_of_extra_body_wins_and_is_billed() -> None:
    for size, tier in [("512", "0.5K"), ("4K", "4K"), ("3K", None), (None, None), (2, None)]:
        for extra in ({"generationConfig": {"imageConfig": {"imageSize": size}}}, {"imageConfig": {"imageSize": size}}):
            upstream = adapter.build(image_request(n=2, extra_body=extra), target())
            assert upstream.body["generationConfig"]["imageConfig"] == {"imageSize": size}, extra
            assert upstream.billed == Billed(count=2, tier=tier), extra


def test_a_configuration_of_extra_body_replaces_ours_whole() -> None:
    config = {"seed": 7, "imageConfig": {"aspectRatio": "8:1"}}
    upstream = adapter.build(image_request(image_size="4K", extra_body={"generationConfig": config}), target())
    assert upstream.body["generationConfig"] == config
    assert upstream.body["contents"] == UPSTREAM.body["contents"]


def test_a_configuration_without_a_size_is_billed_at_what_the_provider_makes() -> None:
    for extra in [
        {"generationConfig": {}},
        {"generationConfig": {"imageConfig": {"aspectRatio": "8:1"}}},
        {"generationConfig": {}, "seed": 7},
        {"imageConfig": {"aspectRatio": "8:1"}},
    ]:
        request = image_request(image_size="4K", extra_body=extra)
        for capabilities, tier in [
            ({}, "1K"),
            ({"tiers": ["2K", "1K"]}, "1K"),
            ({"fixed_size": True}, "1K"),
            ({"fixed_size": True, "tiers": ["2K"]}, "2K"),
        ]:
            assert adapter.build(request, target(**capabilities)).billed.tier == tier, (extra, capabilities)


def test_a_setting_by_its_own_name_goes_into_the_configuration() -> None:
    assert config_of(image_request(extra_body={"seed": 7, "temperature": 0.5})) == {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "1:1", "imageSize": "1K"},
        "seed": 7,
        "temperature": 0.5,
    }
    both = {"seed": 7, "topK": 3, "generationConfig": {"temperature": 0.5, "seed": 7}}
    assert fields_of(image_request(extra_body=both)) == []
    assert config_of(image_request(extra_body=both)) == {"temperature": 0.5, "seed": 7, "topK": 3}


def test_everything_else_goes_to_the_root() -> None:
    extra = {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT"}], "labels": {"a": "b"}, "unheardOf": 1}
    upstream = adapter.build(image_request(extra_body=extra), target())
    assert upstream.body == {**UPSTREAM.body, **extra}


def test_contents_of_extra_body_stand_for_prompt_and_images_and_change_no_bill() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "an owl"}, {"inlineData": {"mimeType": "image/png", "data": ENCODED}}]},
        {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": ENCODED}}]},
        {"parts": [{"text": "at night"}]},
    ]
    images = (ImageRef(stored=stored(content_type="image/gif")),)
    request = image_request(n=2, image_size="2K", images=images, extra_body={"contents": contents})
    assert fields_of(request) == []
    upstream = adapter.build(request, target())
    assert upstream.body == {**adapter.build(image_request(image_size="2K"), target()).body, "contents": contents}
    assert (upstream.files, upstream.calls, upstream.billed) == ((), 2, Billed(count=2, tier="2K"))


def test_a_model_name_cannot_leave_its_place_in_the_path() -> None:
    assert adapter.build(plain(), target(model="a/../b?c")).path == "/v1beta/models/a%2F..%2Fb%3Fc:generateContent"


CONFIG = "params.extra_body.generationConfig"


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "3K"}, {}, "params.image_size"),
        ({"image_size": "4K"}, {"tiers": ["1K", "2K"]}, "params.image_size"),
        ({"image_size": "3K"}, {"tiers": ["1K", "3K"]}, "params.image_size"),
        ({"aspect_ratio": "7:5"}, {}, "params.aspect_ratio"),
        ({"aspect_ratio": "21:9"}, {"ratios": ["1:1"]}, "params.aspect_ratio"),
        ({"aspect_ratio": "7:5"}, {"ratios": ["7:5"]}, "params.aspect_ratio"),
        ({"n": 11}, {}, "params.n"),
        ({"images": (ImageRef(url="https://x.example.com/"),) * 4}, {"max_images": 3}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"extra_body": {"model": "x"}}, {}, "params.extra_body.model"),
        ({"extra_body": {"candidateCount": 4}}, {}, "params.extra_body.candidateCount"),
        ({"extra_body": {"responseFormat": []}}, {}, "params.extra_body.responseFormat"),
        ({"extra_body": {"routingConfig": {}}}, {}, "params.extra_body.routingConfig"),
        ({"extra_body": {"responseModalities": ["TEXT"]}}, {}, "params.extra_body.responseModalities"),
        ({"extra_body": {"imageConfig": 1}}, {}, "params.extra_body.imageConfig"),
        ({"extra_body": {"imageConfig": {"image_size": "4K"}}}, {}, "params.extra_body.imageConfig.image_size"),
        ({"extra_body": {"seed": 1, "generationConfig": {"seed": 2}}}, {}, "params.extra_body.seed"),
        ({"extra_body": {"n": 2}}, {}, "params.extra_body.n"),
        ({"extra_body": {"stream": True}}, {}, "params.extra_body.stream"),
        ({"extra_body": {"generation_config": {"candidate_count": 4}}}, {}, "params.extra_body.generation_config"),
        ({"extra_body": {"generationConfig": None}}, {}, CONFIG),
        ({"extra_body": {"generationConfig": {"candidateCount": 4}}}, {}, f"{CONFIG}.candidateCount"),
        ({"extra_body": {"generationConfig": {"candidate_count": 4}}}, {}, f"{CONFIG}.candidate_count"),
        ({"extra_body": {"generationConfig": {"responseFormat": []}}}, {}, f"{CONFIG}.responseFormat"),
        ({"extra_body": {"generationConfig": {"modelSelectionConfig": {}}}}, {}, f"{CONFIG}.modelSelectionConfig"),
        ({"extra_body": {"generationConfig": {"responseModalities": ["TEXT"]}}}, {}, f"{CONFIG}.responseModalities"),
        ({"extra_body": {"generationConfig": {"responseModalities": "IMAGE"}}}, {}, f"{CONFIG}.responseModalities"),
        ({"extra_body": {"generationConfig": {"imageConfig": 1}}}, {}, f"{CONFIG}.imageConfig"),
        (
            {"extra_body": {"generationConfig": {"imageConfig": {"image_size": "4K"}}}},
            {},
            f"{CONFIG}.imageConfig.image_size",
        ),
    ]:
        assert fields_of(image_request(**changes), **capabilities) == [field], (changes, capabilities)


def test_what_the_protocol_has_is_taken() -> None:
    for changes in [
        {},
        {"n": 10},
        {"image_size": "0.5K", "aspect_ratio": "1:8"},
        {"image_size": "3K", "extra_body": {"generationConfig": {"imageConfig": {"imageSize": "4K"}}}},
        {"images": (ImageRef(url="https://x.example.com/"),) * 16},
    ]:
        assert fields_of(image_request(**changes)) == [], changes


def test_the_call_goes_out_once_with_the_key_in_its_header_and_pictures_inside(tmp_path: Path) -> None:
    images = (ImageRef(stored=stored()), ImageRef(stored=stored("two", "image/webp")))
    upstream = adapter.build(image_request(images=images), target())
    webp = b"RIFF\0\0\0\0WEBPVP8 "
    with raw_server(answer(json.dumps(answered(picture())).encode())) as server:
        connection = connection_to(server.url, files={"one": PNG, "two": webp}, scratch_dir=tmp_path)
        done = adapter.submit(upstream, connection)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1beta/models/gemini-3-pro-image:generateContent HTTP/1.1\r\n")
    assert f"x-goog-api-key: {API_KEY}".encode() in head
    assert b"Authorization" not in head
    assert json.loads(body)["contents"][0]["parts"] == [
        {"text": "a fox"},
        picture(),
        {"inlineData": {"mimeType": "image/webp", "data": base64.b64encode(webp).decode()}},
    ]
    assert isinstance(done, Done)
    assert [path.read_bytes() for output in done.outputs if (path := output.path)] == [PNG]
    assert len(left_in(tmp_path)) == 1


def test_pictures_made_while_thinking_are_not_the_result() -> None:
    parts = [picture(thought=True), {"text": "Here it is."}, picture(), None, {"inlineData": None}, {"inlineData": {}}]
    done = submit(json=answered(*parts))
    assert [output.index for output in done.outputs] == [0]
    for output in done.outputs:
        assert output.path
        output.path.unlink()


def test_pictures_made_while_thinking_are_the_result_where_there_is_no_other() -> None:
    earlier = base64.b64encode(PNG + b"draft").decode()
    for parts in ([picture(thought=True)], [picture(earlier, thought=True), {"text": "Hm."}, picture(thought=True)]):
        first, *others = [output.path for output in submit(json=answered(*parts, {"inlineData": {}})).outputs]
        assert first
        assert first.read_bytes() == PNG
        assert len(others) == len(parts) // 2
        for path in filter(None, (first, *others)):
            path.unlink()


def test_a_draft_of_refused_content_is_no_result() -> None:
    document = answered(picture(thought=True))
    document["candidates"][0]["finishReason"] = "IMAGE_SAFETY"
    assert refused(json=document).kind is ErrorKind.CONTENT_POLICY


def test_the_last_picture_comes_first_since_those_before_it_are_drafts() -> None:
    drafts = [{"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG + b"draft").decode()}}] * 2
    paths = [output.path for output in submit(json=answered(*drafts, picture())).outputs]
    assert [path.read_bytes() for path in paths if path] == [PNG, PNG + b"draft", PNG + b"draft"]
    for path in filter(None, paths):
        path.unlink()


def test_a_blocked_prompt_is_refused_content_under_http_200() -> None:
    for reason in [
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "JAILBREAK",
        "MODEL_ARMOR",
        "NEW",
    ]:
        error = refused(json={"promptFeedback": {"blockReason": reason}})
        assert (error.kind, error.code, error.http_status) == (ErrorKind.CONTENT_POLICY, reason, 200), reason


def test_a_finish_without_a_picture_has_a_kind() -> None:
    for reason, kind in [
        *(
            (reason, ErrorKind.CONTENT_POLICY)
            for reason in (
                *("SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "RECITATION"),
                *("IMAGE_RECITATION", "SPII", "BLOCKLIST", "MODEL_ARMOR", "ESCALATION"),
            )
        ),
        *(
            (reason, ErrorKind.EMPTY_RESULT)
            for reason in ("NO_IMAGE", "IMAGE_OTHER", "OTHER", "MALFORMED_RESPONSE", "STOP", "MAX_TOKENS", "NEWEST")
        ),
        ("PUP_LIMITED_DISABLED", ErrorKind.FORBIDDEN),
    ]:
        error = refused(json=stopped(reason))
        assert (error.kind, error.code) == (kind, reason), reason


def test_an_answer_without_a_usable_picture_is_an_empty_result() -> None:
    for document in [
        answered({"text": "I would rather not."}),
        {"candidates": []},
        {"usageMetadata": {"promptTokenCount": 3}},
        answered(picture(data="***")),
        {"candidates": [None, {"content": {"parts": 5}}, {"content": 5}]},
    ]:
        assert refused(json=document).kind is ErrorKind.EMPTY_RESULT, document


INFO = {"@type": f"{RPC}ErrorInfo", "domain": "googleapis.com"}


def quota(name: str) -> dict[str, Any]:
    return {"@type": f"{RPC}QuotaFailure", "violations": [{"quotaMetric": "m", "quotaId": name}]}


def test_errors() -> None:
    for http, document, kind, code in [
        (400, spoken(400, "INVALID_ARGUMENT"), ErrorKind.INVALID_REQUEST, "INVALID_ARGUMENT"),
        (400, spoken(400, "INVALID_ARGUMENT", INFO | {"reason": "API_KEY_INVALID"}), ErrorKind.AUTH, "API_KEY_INVALID"),
        (400, spoken(400, "FAILED_PRECONDITION"), ErrorKind.FORBIDDEN, "FAILED_PRECONDITION"),
        (401, spoken(401, "UNAUTHENTICATED"), ErrorKind.AUTH, "UNAUTHENTICATED"),
        (403, spoken(403, "PERMISSION_DENIED"), ErrorKind.FORBIDDEN, "PERMISSION_DENIED"),
        (
            403,
            spoken(
                403, "PERMISSION_DENIED", message="You do not have permission to access the File x or it may not exist."
            ),
            ErrorKind.INVALID_REQUEST,
            "no_access_to_file",
        ),
        (
            400,
            spoken(400, "INVALID_ARGUMENT", message="This model only supports Interactions API."),
            ErrorKind.MODEL_UNAVAILABLE,
            "model_not_served",
        ),
        (
            400,
            spoken(400, "INVALID_ARGUMENT", message="API key not valid. Please pass a valid API key."),
            ErrorKind.AUTH,
            "API_KEY_INVALID",
        ),
        (
            403,
            spoken(403, "PERMISSION_DENIED", INFO | {"reason": "BILLING_DISABLED"}),
            ErrorKind.QUOTA_EXHAUSTED,
            "BILLING_DISABLED",
        ),
        (404, spoken(404, "NOT_FOUND"), ErrorKind.MODEL_UNAVAILABLE, "NOT_FOUND"),
        (429, spoken(429, "RESOURCE_EXHAUSTED"), ErrorKind.RATE_LIMITED, "RESOURCE_EXHAUSTED"),
        (429, spoken(429, "RESOURCE_EXHAUSTED", quota("RequestsPerMinute")), ErrorKind.RATE_LIMITED, None),
        (
            429,
            spoken(429, "RESOURCE_EXHAUSTED", quota("RequestsPerMinute"), quota("RequestsPerDay-FreeTier")),
            ErrorKind.QUOTA_EXHAUSTED,
            "RequestsPerDay-FreeTier",
        ),
        (
            429,
            spoken(429, "RESOURCE_EXHAUSTED", INFO | {"metadata": {"quota_limit": "RequestsPerDay"}}),
            ErrorKind.QUOTA_EXHAUSTED,
            "RequestsPerDay",
        ),
        (
            429,
            spoken(429, "RESOURCE_EXHAUSTED", message="Your prepayment credits are depleted."),
            ErrorKind.QUOTA_EXHAUSTED,
            None,
        ),
        (
            429,
            spoken(429, "RESOURCE_EXHAUSTED", message="Check your plan and billing details. limit: 0, model: x"),
            ErrorKind.QUOTA_EXHAUSTED,
            "limit: 0",
        ),
        (429, spoken(429, "RESOURCE_EXHAUSTED", message="limit: 0.5 plan and billing"), ErrorKind.RATE_LIMITED, None),
        (500, spoken(500, "INTERNAL"), ErrorKind.AMBIGUOUS, "INTERNAL"),
        (503, spoken(503, "UNAVAILABLE"), ErrorKind.OVERLOADED, "UNAVAILABLE"),
        (504, spoken(504, "DEADLINE_EXCEEDED"), ErrorKind.AMBIGUOUS, "DEADLINE_EXCEEDED"),
        # The body wins over the status of a gateway.
        (500, spoken(400, "INVALID_ARGUMENT"), ErrorKind.INVALID_REQUEST, "INVALID_ARGUMENT"),
        (502, spoken(429, "RESOURCE_EXHAUSTED"), ErrorKind.RATE_LIMITED, "RESOURCE_EXHAUSTED"),
        (200, spoken(503, "UNAVAILABLE"), ErrorKind.OVERLOADED, "UNAVAILABLE"),
        (200, {"error": {"code": 403, "message": "no"}}, ErrorKind.FORBIDDEN, "403"),
        (200, spoken(500, "INTERNAL"), ErrorKind.AMBIGUOUS, "INTERNAL"),
        # What is no error of the protocol leaves it to the status.
        (429, {"error": "slow down"}, ErrorKind.RATE_LIMITED, ""),
        (400, {"error": {"status": 5, "details": 5, "message": []}}, ErrorKind.INVALID_REQUEST, None),
        (
            400,
            {"error": {"details": [None, {"reason": [], "violations": [1], "metadata": 1}]}},
            ErrorKind.INVALID_REQUEST,
            "",
        ),
    ]:
        error = refused(http, json=document)
        assert (error.kind, error.http_status) == (kind, http), (http, document, code)
        assert code is None or error.code == code, (http, document, code)


def test_the_wait_is_read_from_the_details_or_the_message() -> None:
    for details, message, headers, seconds in [
        ([{"@type": f"{RPC}RetryInfo", "retryDelay": "34s"}], "no", {}, 34.0),
        ([{"@type": f"{RPC}RetryInfo", "retryDelay": "0.5s"}], "no", {"Retry-After": "7"}, 7.0),
        ([{"@type": f"{RPC}RetryInfo", "retryDelay": "soon"}], "no", {}, None),
        ([{"@type": f"{RPC}RetryInfo", "retryDelay": 5}], "no", {}, None),
        ([], "Please retry in 45.9s.", {}, 45.9),
        ([], "no", {}, None),
    ]:
        document = spoken(429, "RESOURCE_EXHAUSTED", *details, message=message)
        assert refused(429, json=document, headers=headers).retry_after == seconds, (details, message, headers)


def test_a_quoted_key_is_removed_from_errors() -> None:
    assert "***" in refused(400, json=spoken(400, "INVALID_ARGUMENT", message=f"bad key {API_KEY}")).message
    assert refused(json=stopped(API_KEY)).code == "***"


def test_a_probe_lists_the_models_and_sees_a_bad_key() -> None:
    for status, document, kind in [
        (200, {"models": []}, None),
        (404, spoken(404, "NOT_FOUND"), None),
        (400, spoken(400, "INVALID_ARGUMENT", INFO | {"reason": "API_KEY_INVALID"}), ErrorKind.AUTH),
        (429, spoken(429, "RESOURCE_EXHAUSTED", quota("PerDay")), ErrorKind.QUOTA_EXHAUSTED),
        (500, {}, ErrorKind.TRANSIENT),
    ]:
        with responses.RequestsMock() as provider:
            provider.get(f"{BASE}/v1/models?pageSize=1", status=status, json=document)
            connection = connection_to(BASE, options={"version": "v1"})
            if kind is None:
                adapter.probe(connection)
                continue
            with pytest.raises(UpstreamError) as caught:
                adapter.probe(connection)
        assert caught.value.kind is kind, (status, document)
