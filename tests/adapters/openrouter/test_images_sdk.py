"""What the adapter of OpenRouter's Images protocol builds parses in the request type of the provider's own SDK."""

from typing import Any, get_args

import pytest

from adapters.base import ImageRef
from adapters.openrouter.images import OpenRouterImages
from adapters.openrouter.images_request import RATIOS, TIERS
from tests.adapters.making import image_request
from tests.adapters.openrouter.test_images import target

pytest.importorskip("openrouter", reason="the provider's SDK is not installed")
from openrouter.components import imagegenerationrequest as sdk

IMAGES = (ImageRef(url="https://x.example.com/a.png"), ImageRef(url="https://x.example.com/b.png"))


@pytest.mark.parametrize(
    "fields",
    [
        {"image_size": None, "aspect_ratio": None},
        {"n": 3, "image_size": "0.5K", "aspect_ratio": "9:21"},
        {"images": IMAGES, "extra_body": {"quality": "high", "seed": 7, "provider": {"only": ["google"]}}},
        {"extra_body": {"size": "2048x2048", "output_format": "webp", "background": "opaque"}},
    ],
)
def test_bodies_come_out_of_the_request_type_as_they_went_in(fields: dict[str, Any]) -> None:
    body = OpenRouterImages().build(image_request(**fields), target()).body
    assert set(body) <= set(sdk.ImageGenerationRequest.model_fields)
    parsed = sdk.ImageGenerationRequest.model_validate(body)
    assert parsed.model_dump(mode="json", by_alias=True) == body


def test_the_names_of_tiers_and_ratios_are_those_of_the_type() -> None:
    resolutions, ratios = (
        set(get_args(get_args(union)[0]))
        for union in (sdk.ImageGenerationRequestResolution, sdk.ImageGenerationRequestAspectRatio)
    )
    assert set(TIERS.values()) == resolutions - {"768"}
    assert set(RATIOS) == ratios - {"auto"}
