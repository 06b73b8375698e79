"""What `extra_body` and `provider_options` may not hold."""

import re
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from common.strict_json import field
from tasks.request import option_names, options, stored_params
from tests.tasks.request.param_requests import image, parse, refusal, video

PLACES = [("image", "extra_body", image), ("video", "provider_options", video), ("3d", "extra_body", image)]

CREDENTIALS = [
    "api_key", "apikey", "apiKey", "API-KEY", "x-api-key", "openai_api_key", "Authorization", "proxy-authorization",
    "access_token", "accessToken", "auth_token", "bearer_token", "token", "secret", "client_secret", "secretKey",
    "password", "passwd", "db_password", "access_key_id", "accessKeySecret", "private_key", "credentials", "cookie",
    "id_token", "auth", "X-Auth-Key", "signing_key", "APIKEY", "x-api-key", "clientSecret", "Proxy-Authorization",
    "session_cookie", "Set-Cookie", "cookieJar", "JWTValue", "userPwd", "proxyAuth", "access_tokens", "aPiKeY",
    "openaiapikey", "clientsecret", "secretvalue", "secretArn", "dbpassword", "urlsigningkey", "codesign_key",
    "deSignKey", "private_keypair", "api_key_2", "authorisation", "api\u200bkey", "api / key", "token.", "cookie\n",
]  # fmt: skip
HARMLESS = [
    "seed", "quality", "max_tokens", "tokens", "negative_prompt", "keyframes", "key", "author", "watermark",
    "style", "passes", "upstream", "modeling", "background", "camera_fixed", "size", "n", "grid_token_count",
    "tokenizer", "secretary", "secretaries", "Secretary", "SECRETARIAT", "undersecretary", "secretive",
    "tokenize", "max_token_count", "authors", "Author", "AUTHOR", "coAuthor", "authority", "keyframe",
    "keyFrames", "access_keyframes", "design_key", "designKey", "DESIGN_KEY", "assign_key", "passwordless",
    "cookiecutter", "COOKIECUTTER", "monkey", "vid_token", "grid_tokens",
]  # fmt: skip
# Each of these, and their plurals, names a credential however its words are joined.
COMPOUNDS = [
    ("api", "key"), ("access", "key"), ("private", "key"), ("auth", "key"), ("sign", "key"), ("signing", "key"),
    ("client", "secret"), ("secret", "key"), ("db", "password"), ("db", "passwd"), ("key", "passphrase"),
    ("access", "token"), ("api", "token"), ("auth", "token"), ("refresh", "token"), ("session", "token"),
    ("security", "token"), ("bearer", "token"), ("proxy", "authorization"), ("user", "credential"),
    ("x", "api", "key"), ("openai", "api", "key"), ("aws", "access", "key", "id"), ("access", "key", "secret"),
]  # fmt: skip
JOINS = ["", "_", "-", ".", " ", "__", " - "]
NOT_THE_CLIENTS = [
    "model", "Model", "model_name", "stream", "streaming", "stream_options", "partial_images", "callback_url",
    "callbackUrl", "webhook", "webhook_url", "webhook_secret", "webhook_events_filter", "fal_webhook", "MODEL_ID",
    "modelName", "Stream", "streamOptions", "STREAM OPTIONS", "partialImages", "WEBHOOK", "notifyUrl", "model\n",
]  # fmt: skip


def of_video(options: dict[str, Any]) -> str:
    return refusal("video", video(provider_options=options))


def test_options_must_be_an_object():
    for modality, name, base in PLACES:
        for value in ([], "x", 1, True, [{}]):
            assert refusal(modality, base(**{name: value})) == f"params.{name} must be an object.", (modality, value)


def test_every_modality_looks_for_credentials_in_its_options():
    for modality, name, base in PLACES:
        assert refusal(modality, base(**{name: {"api_key": "v"}})).startswith(f"params.{name}.api_key looks like"), name


def test_a_credential_is_refused_at_any_depth():
    deep = 'params.provider_options.a[1]["b c"]'
    for key in CREDENTIALS:
        at_top, at_depth = of_video({key: "v"}), of_video({"a": [1, {"b c": {key: "v"}}]})
        assert at_top.startswith(f"{field('params.provider_options', key)} looks like a credential"), key
        assert at_depth.startswith(f"{field(deep, key)} looks like a credential"), key


def test_a_credential_is_refused_however_its_words_are_joined():
    for words, join in product(COMPOUNDS, JOINS):
        camel = [words[0], *(word.capitalize() for word in words[1:])]
        for parts in (words, camel, [word.capitalize() for word in words], [word.upper() for word in words]):
            for key in (join.join(parts), join.join(parts) + "s"):
                assert re.search(option_names.CREDENTIAL, key), key


def test_harmless_options_are_accepted_as_they_are():
    harmless: dict[str, Any] = {key: {"nested": [key]} for key in HARMLESS}
    for modality, name, base in PLACES:
        assert getattr(parse(modality, base(**{name: harmless})), name) == harmless, modality


def test_model_streaming_and_webhooks_are_refused():
    assert [
        key
        for key in NOT_THE_CLIENTS
        if not of_video({key: "v"}).startswith(f"{field('params.provider_options', key)} ")
    ] == []
    for modality, name, base in PLACES:
        assert refusal(modality, base(**{name: {"stream": True}})).startswith(f"params.{name}.stream "), modality


@given(st.sampled_from([*CREDENTIALS, *NOT_THE_CLIENTS]), st.lists(st.booleans(), min_size=40, max_size=40))
def test_no_refused_name_is_taken_for_one_that_needs_no_search(name: str, upper: list[bool]):
    spelled = "".join(letter.upper() if up else letter.lower() for letter, up in zip(name, upper, strict=False))
    is_refused = any(re.search(pattern, spelled) for pattern in options.REFUSED_ANYWHERE)
    assert options.SUSPECT.search(spelled) or not is_refused


def test_a_name_has_at_most_200_characters():
    assert not of_video({"x" * 200: 1})
    for given_options in ({"x" * 201: 1}, {"a": [{"\n" * 10_000: 1}]}):
        assert of_video(given_options).endswith(" is a name of more than 200 characters."), given_options


def test_streaming_and_webhooks_are_refused_at_any_depth():
    for key in ("stream", "callback_url"):
        assert of_video({"options": {key: "x"}}).startswith(f"params.provider_options.options.{key} "), key


def test_provider_options_hold_none_of_the_reserved_names():
    for key in ("model", "prompt", "duration", "resolution", "aspect_ratio", "inputs"):
        assert of_video({key: "v"}).startswith(f"params.provider_options.{key} "), key


def test_null_counts_as_absent_at_any_depth_of_objects():
    refused_otherwise = dict.fromkeys(("api_key", "stream", "callback_url", "model", "prompt", "n", "x" * 201))
    given = {**refused_otherwise, "seed": 7, "a": {"b": None, "c": [None, {"d": None, "password": None}, [None]]}}
    for modality, name, base in PLACES:
        request = parse(modality, base(**{name: given}))
        assert getattr(request, name) == {"seed": 7, "a": {"c": [None, {}, [None]]}}, modality
        assert stored_params.dump(request)[name] == getattr(request, name), modality


def test_options_of_nothing_but_null_are_not_stored():
    for modality, name, base in PLACES:
        assert name not in stored_params.dump(parse(modality, base(**{name: {"seed": None}}))), modality


def test_an_upstream_spelling_of_a_common_field_is_left_to_the_adapters():
    options = {"ratio": "1:1", "seconds": "4", "aspectRatio": "1:1"}
    assert parse("video", video(provider_options=options)).provider_options == options


def test_extra_body_may_hold_the_portable_names():
    options = {"prompt": "other", "n": 2, "size": "1024x1024"}
    assert parse("image", image(extra_body=options)).extra_body == options


def test_a_refusal_never_repeats_the_value():
    assert "hunter2" not in refusal("image", image(extra_body={"api_key": "hunter2"}))
