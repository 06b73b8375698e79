"""What `extra_body` and `provider_options` may not hold."""

from typing import Any

import pytest

from common.errors import InvalidRequest
from tests.tasks.param_requests import image, parse, video

PLACES = [("image", "extra_body", image), ("video", "provider_options", video), ("3d", "extra_body", image)]

CREDENTIALS = [
    "api_key", "apikey", "apiKey", "API-KEY", "x-api-key", "openai_api_key", "Authorization", "proxy-authorization",
    "access_token", "accessToken", "auth_token", "bearer_token", "token", "secret", "client_secret", "secretKey",
    "password", "passwd", "db_password", "access_key_id", "accessKeySecret", "private_key", "credentials", "cookie",
    "id_token", "auth", "X-Auth-Key", "signing_key",
]  # fmt: skip
HARMLESS = [
    "seed", "quality", "max_tokens", "tokens", "negative_prompt", "keyframes", "key", "author", "watermark", "style",
    "passes", "upstream", "modeling", "background", "camera_fixed", "size", "n", "grid_token_count", "tokenizer",
]  # fmt: skip


def refusal(modality: str, given: dict[str, Any]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        parse(modality, given)
    return caught.value.message


@pytest.mark.parametrize(("modality", "name", "base"), PLACES)
@pytest.mark.parametrize("value", [[], "x", 1, True, [{}]])
def test_options_must_be_an_object(modality: str, name: str, base: Any, value: object):
    assert refusal(modality, base(**{name: value})) == f"params.{name} must be an object."


@pytest.mark.parametrize(("modality", "name", "base"), PLACES)
@pytest.mark.parametrize("key", CREDENTIALS)
def test_a_credential_is_refused_at_any_depth(modality: str, name: str, base: Any, key: str):
    assert refusal(modality, base(**{name: {key: "v"}})).startswith(f"params.{name}.{key} looks like a credential")
    deep = {"a": [1, {"b c": {key: None}}]}
    assert refusal(modality, base(**{name: deep})).startswith(f'params.{name}.a[1]["b c"].{key} looks like')


@pytest.mark.parametrize(("modality", "name", "base"), PLACES)
def test_harmless_options_are_accepted_as_they_are(modality: str, name: str, base: Any):
    options: dict[str, Any] = {key: {"nested": [key]} for key in HARMLESS}
    request = parse(modality, base(**{name: options})).request
    assert getattr(request, name) == options


@pytest.mark.parametrize(("modality", "name", "base"), PLACES)
@pytest.mark.parametrize(
    "key",
    [
        "model",
        "Model",
        "model_name",
        "stream",
        "streaming",
        "stream_options",
        "partial_images",
        "callback_url",
        "callbackUrl",
        "webhook",
        "webhook_url",
        "webhook_secret",
        "webhook_events_filter",
        "fal_webhook",
    ],
)
def test_model_streaming_and_webhooks_are_refused(modality: str, name: str, base: Any, key: str):
    assert refusal(modality, base(**{name: {key: None}})).startswith(f"params.{name}.{key} ")


@pytest.mark.parametrize("key", ["stream", "callback_url"])
def test_streaming_and_webhooks_are_refused_at_any_depth(key: str):
    options = {"options": {key: "x"}}
    assert refusal("video", video(provider_options=options)).startswith(f"params.provider_options.options.{key} ")


@pytest.mark.parametrize("key", ["model", "prompt", "duration", "resolution", "aspect_ratio", "inputs"])
def test_provider_options_hold_none_of_the_reserved_names(key: str):
    assert refusal("video", video(provider_options={key: None})).startswith(f"params.provider_options.{key} ")


def test_an_upstream_spelling_of_a_common_field_is_left_to_the_adapters():
    options = {"ratio": "1:1", "seconds": "4", "aspectRatio": "1:1"}
    assert parse("video", video(provider_options=options)).request.provider_options == options


def test_extra_body_may_hold_the_portable_names():
    options = {"prompt": "other", "n": 2, "size": "1024x1024"}
    assert parse("image", image(extra_body=options)).request.extra_body == options


def test_a_refusal_never_repeats_the_value():
    assert "hunter2" not in refusal("image", image(extra_body={"api_key": "hunter2"}))
