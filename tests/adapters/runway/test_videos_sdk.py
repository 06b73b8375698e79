"""What the Runway adapter builds parses in the request types of the provider's own SDK, and comes out the same."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.runway.videos import Runway
from tests.adapters.making import video_request
from tests.adapters.runway.test_videos import AUDIO, FIRST, IMAGE, LAST, VIDEO, target

pytest.importorskip("runwayml", reason="the provider's SDK is not installed")
from pydantic import TypeAdapter
from runwayml._utils import transform
from runwayml.types import image_to_video_create_params, text_to_video_create_params
from runwayml.types.generate import video_create_params

TYPES: dict[str, Any] = {
    "/v1/text_to_video": text_to_video_create_params.TextToVideoCreateParams,
    "/v1/image_to_video": image_to_video_create_params.ImageToVideoCreateParams,
    "/v1/generate/video": video_create_params.VideoCreateParams,
}
WIDE = {"480p": {"16:9": "864x496", "21:9": "992x432"}}


def snake(value: Any) -> Any:
    """The body with Python's names for the fields."""
    if isinstance(value, dict):
        return {re.sub("([A-Z])", r"_\1", name).lower(): snake(item) for name, item in value.items()}
    return [snake(item) for item in value] if isinstance(value, list) else value


def listed(value: Any) -> Any:
    """The parsed value with its lazy lists read, which is when their items are checked."""
    if isinstance(value, dict):
        return {name: listed(item) for name, item in value.items()}
    return [listed(item) for item in value] if isinstance(value, Iterable) and not isinstance(value, str) else value


def through_the_sdk(path: str, body: Mapping[str, Any]) -> Any:
    """The body as the SDK would send it. Raises ValueError for one that its types do not take."""
    parsed = TypeAdapter(TYPES[path]).validate_python(snake(dict(body)))
    return transform(listed(parsed), TYPES[path])


@pytest.mark.parametrize(
    ("model", "api", "capabilities", "fields"),
    [
        ("gen4.5", "classic", {"audio": "never"}, {"provider_options": {"seed": 1}}),
        ("gen4.5", "classic", {"audio": "never"}, {"inputs": (FIRST,), "aspect_ratio": "21:9"}),
        ("veo3.1", "classic", {}, {"duration": 8, "resolution": "1080p", "inputs": (FIRST, LAST)}),
        ("veo3.1", "classic", {}, {"duration": 8, "provider_options": {"negativePrompt": "rain"}}),
        ("kling3.0_pro", "classic", {}, {"resolution": "1080p", "provider_options": {"cfgScale": 0.5}}),
        ("seedance2", "classic", {"size_table": WIDE}, {"resolution": "480p", "inputs": (IMAGE, VIDEO, AUDIO)}),
        ("wan3", "classic", {}, {"aspect_ratio": "adaptive", "inputs": (FIRST, LAST)}),
        ("hailuo3", "classic", {"audio": "always", "sizes": "words"}, {"resolution": "768p", "inputs": (IMAGE,)}),
        (
            "grok_imagine_1_5",
            "classic",
            {"audio": "always", "sizes": "words"},
            {"aspect_ratio": "adaptive", "inputs": (FIRST,)},
        ),
        ("my-config", "router", {}, {"generate_audio": True, "provider_options": {"seed": 1}}),
        ("my-config", "router", {}, {"inputs": (IMAGE, VIDEO, AUDIO), "resolution": "4k"}),
        ("my-config", "router", {}, {"inputs": (FIRST, LAST)}),
    ],
)
def test_a_body_is_one_that_the_sdk_would_send(
    model: str, api: str, capabilities: dict[str, Any], fields: dict[str, Any]
) -> None:
    where = replace(target(api, **capabilities), upstream_model=model)
    request = video_request(**fields)
    assert Runway().check(request, where) == []
    upstream = Runway().build(request, where)
    assert through_the_sdk(upstream.path, upstream.body) == upstream.body


@pytest.mark.parametrize(
    "wrong", [{"promptImage": [{"uri": FIRST.url, "position": "middle"}]}, {"duration": "five"}, {"model": "gen1"}]
)
def test_a_wrong_body_would_not_parse(wrong: dict[str, Any]) -> None:
    upstream = Runway().build(video_request(inputs=(FIRST,)), target(audio="never"))
    with pytest.raises(ValueError):
        through_the_sdk(upstream.path, {**upstream.body, **wrong})
