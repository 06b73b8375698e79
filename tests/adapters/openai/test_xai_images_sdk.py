"""The names that the dialect `xai` sends are those of the provider's own SDK, which speaks gRPC otherwise."""

from typing import get_args

import pytest

from adapters.openai.xai_request import RATIOS, TIERS

pytest.importorskip("xai_sdk", reason="the provider's SDK is not installed")
from xai_sdk.types.image import ImageAspectRatio, ImageResolution


def test_resolutions_and_ratios() -> None:
    assert set(TIERS.values()) == set(get_args(ImageResolution))
    assert set(RATIOS) == set(get_args(ImageAspectRatio))
