"""What the adapter of OpenRouter Videos builds parses in the request model of its own SDK, and comes out the same."""

from typing import Any

import pytest

from adapters.openrouter.videos import OpenRouterVideos
from tests.adapters.making import video_request
from tests.adapters.openrouter.test_videos import AUDIO, EVERY_REFERENCE, FIRST, IMAGE, LAST, VIDEO, target

pytest.importorskip("openrouter", reason="the provider's SDK is not installed")
from openrouter.components.videogenerationrequest import VideoGenerationRequest


def through_the_sdk(body: dict[str, Any]) -> Any:
    """The body as the SDK would send it. Raises ValueError for one that its types do not take."""
    return VideoGenerationRequest.model_validate(body, strict=True).model_dump(by_alias=True)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"resolution": None, "aspect_ratio": None, "duration": None},
        {"resolution": "4k", "aspect_ratio": "9:21", "generate_audio": True},
        {"inputs": (FIRST, LAST)},
        {"inputs": (IMAGE, VIDEO, AUDIO)},
        {"provider_options": {"seed": 7, "provider": {"options": {"byteplus": {"watermark": False}}}}},
    ],
)
def test_a_body_is_one_that_the_sdk_would_send(fields: dict[str, Any]) -> None:
    request = video_request(**fields)
    where = target(roles=EVERY_REFERENCE | {"first_frame": 1, "last_frame": 1})
    assert OpenRouterVideos().check(request, where) == []
    body = dict(OpenRouterVideos().build(request, where).body)
    assert through_the_sdk(body) == body


@pytest.mark.parametrize("wrong", [{"duration": "5"}, {"resolution": "4k"}, {"frame_images": [{"type": "image_url"}]}])
def test_a_wrong_body_would_not_parse(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        through_the_sdk({"model": "m", "prompt": "a fox"} | wrong)
