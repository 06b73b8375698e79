"""What the adapter of OpenAI Images builds parses in the request types of the provider's own SDK."""

from typing import Any, get_type_hints

import pytest

from adapters.base import ImageRef
from adapters.openai.images import OpenAIImages
from adapters.openai.images_request import SIZES
from tests.adapters.making import image_request, image_target, stored

pytest.importorskip("openai", reason="the provider's SDK is not installed")
from openai.types.image_edit_params import ImageEditParamsNonStreaming
from openai.types.image_generate_params import ImageGenerateParamsNonStreaming
from pydantic import ConfigDict, TypeAdapter

STRICT = ConfigDict(strict=True)
TYPES = {"/images/generations": ImageGenerateParamsNonStreaming, "/images/edits": ImageEditParamsNonStreaming}
HELD = ImageRef(stored=stored())
LINK = ImageRef(url="https://pics.example.com/a.png")
EXTRA = {"quality": "high", "background": "opaque", "output_format": "png", "output_compression": 90}


def parse(path: str, name: str, value: Any) -> None:
    """Raises KeyError for a name that the SDK does not know, ValueError for a value that its types do not take."""
    TypeAdapter(get_type_hints(TYPES[path])[name], config=STRICT).validate_python(value)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"image_size": None, "aspect_ratio": None, "n": 10},
        *({"image_size": tier, "aspect_ratio": "9:16"} for tier in SIZES),
        {"images": (HELD,)},
        {"images": (HELD, LINK), "n": 2, "extra_body": EXTRA | {"input_fidelity": "high"}},
        {"extra_body": EXTRA | {"moderation": "low", "size": "auto"}},
    ],
)
def test_every_field_is_one_of_the_sdk(fields: dict[str, Any]) -> None:
    request = image_request(**fields)
    assert OpenAIImages().check(request, image_target()) == []
    upstream = OpenAIImages().build(request, image_target())
    for name, value in upstream.body.items():
        parse(upstream.path, name, value)
    # Several files go out as `image[]`, which is how the SDK writes the list of them.
    assert {part.field.removesuffix("[]") for part in upstream.files} <= {"image"}


@pytest.mark.parametrize(("name", "value"), [("n", "2"), ("quality", "dearest"), ("output_format", 5), ("prompt", 1)])
def test_a_wrong_value_would_not_parse(name: str, value: object) -> None:
    for path in TYPES:
        with pytest.raises(ValueError):
            parse(path, name, value)


def test_a_field_that_the_sdk_does_not_know_would_be_seen() -> None:
    with pytest.raises(KeyError):
        parse("/images/generations", "aspect_ratio", "1:1")
