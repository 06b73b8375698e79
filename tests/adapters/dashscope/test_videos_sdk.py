"""The bodies that we build, held against what the provider's own SDK builds from the same values."""

import inspect
from typing import Any

import pytest

from adapters.base import MediaInput, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import video_request

sdk = pytest.importorskip("dashscope.aigc.video_synthesis")
# Parameters that the SDK passes on without naming them.
UNNAMED = {"audio"}
OPTIONS = {"seed": 1, "prompt_extend": True, "watermark": False, "negative_prompt": "rain", "shot_type": "multi"}
FRAME = MediaInput(type="image", role="first_frame", url="https://x.example.com/a.png")
REFERENCES = tuple(
    MediaInput(type=kind, role="reference", url=f"https://x.example.com/{kind}")  # type: ignore[arg-type]
    for kind in ("image", "video", "audio")
)


@pytest.mark.parametrize("inputs", [(), (FRAME,), REFERENCES])
def test_our_input_is_the_sdks_and_every_parameter_is_one_of_its_own(inputs: tuple[MediaInput, ...]) -> None:
    target = Target(adapter="dashscope_video", base_url="https://x", upstream_model="wan3.0-video")
    request = video_request(inputs=inputs, provider_options=OPTIONS)
    upstream = ADAPTERS["dashscope_video"].build(request, target)
    media: list[dict[str, Any]] = upstream.body["input"].get("media")
    theirs, _, task = sdk.VideoSynthesis._get_input(
        upstream.body["model"], "a fox", negative_prompt="rain", media=media and [dict(item) for item in media]
    )
    theirs.pop("extend_prompt")  # deprecated in favour of the parameter prompt_extend
    assert upstream.body["input"] == theirs
    assert upstream.path == f"/services/aigc/{task}/video-synthesis"
    named = set(inspect.signature(sdk.VideoSynthesis.async_call).parameters)
    assert set(upstream.body["parameters"]) <= named | UNNAMED


def test_our_media_types_are_among_the_sdks() -> None:
    known = {value for name, value in vars(sdk.VideoSynthesis.MediaType).items() if name.isupper()}
    assert {"first_frame", "last_frame", "reference_image", "reference_video", "reference_audio"} <= known
