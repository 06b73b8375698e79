"""OpenRouter itself, with a key of one's own: one small picture. OPENROUTER_API_KEY."""

import os
from dataclasses import replace

import pytest

from adapters.base import Done
from adapters.openrouter.images import OpenRouterImages
from tests.adapters.making import connection_to, image_request
from tests.adapters.openrouter.test_images import target

KEY = os.environ.get("OPENROUTER_API_KEY", "")
MODEL = os.environ.get("OPENROUTER_IMAGE_MODEL", "bytedance-seed/seedream-4.5")
DEADLINE = 300.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="OPENROUTER_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_picture_is_made_and_delivered() -> None:
    adapter, where = OpenRouterImages(), replace(target(), upstream_model=MODEL)
    connection = connection_to("https://openrouter.ai/api/v1", credentials={"api_key": KEY}, total_timeout=DEADLINE)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(image_request(image_size=None, aspect_ratio=None), where), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert len(next(chunks)) > 1000
