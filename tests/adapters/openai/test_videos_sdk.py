"""What the adapter of OpenAI Videos builds parses in the request types of the provider's own SDK."""

from typing import Any, get_type_hints

import pytest

from adapters.base import UpstreamRequest
from adapters.openai.videos import OpenAIVideos
from tests.adapters.making import video_request
from tests.adapters.openai.test_videos import FIRST, JSON, target

pytest.importorskip("openai", reason="the provider's SDK is not installed")
from openai.types.image_input_reference_param import ImageInputReferenceParam
from openai.types.video_create_params import VideoCreateParams
from pydantic import ConfigDict, TypeAdapter

STRICT = ConfigDict(strict=True)
# A reference is a file, which is no JSON value, or this.
HINTS = get_type_hints(VideoCreateParams) | {"input_reference": ImageInputReferenceParam}


def parse(name: str, value: Any) -> None:
    """Raises KeyError for a name that the SDK does not know, ValueError for a value that its types do not take."""
    hint = HINTS[name]
    TypeAdapter(hint, config=None if isinstance(hint, type) else STRICT).validate_python(value)
    if isinstance(value, dict):
        assert value.keys() <= hint.__annotations__.keys()


def built(options: dict[str, Any] | None = None, **fields: Any) -> UpstreamRequest:
    request = video_request(**({"duration": 8} | fields))
    assert OpenAIVideos().check(request, target(options)) == []
    return OpenAIVideos().build(request, target(options))


@pytest.mark.parametrize("options", [None, JSON])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"resolution": "1080p", "aspect_ratio": "9:16", "inputs": (FIRST,)},
        {"resolution": None, "aspect_ratio": None, "duration": None},
    ],
)
def test_every_field_is_one_of_the_sdk(options: dict[str, Any] | None, fields: dict[str, Any]) -> None:
    upstream = built(options, **fields)
    for name, value in upstream.body.items():
        parse(name, value)
    assert all(part.field in HINTS for part in upstream.files)


@pytest.mark.parametrize(("name", "value"), [("seconds", 8), ("size", "1x1"), ("input_reference", {"image_url": 1})])
def test_a_wrong_value_would_not_parse(name: str, value: object) -> None:
    with pytest.raises(ValueError):
        parse(name, value)
