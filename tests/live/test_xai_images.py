"""xAI itself, with a key of one's own: one small picture. XAI_API_KEY, as the SDK calls it."""

import os
from dataclasses import replace

import pytest

from adapters.base import Done
from adapters.openai.images import OpenAIImages
from tests.adapters.making import connection_to, image_request
from tests.adapters.openai.test_xai_images import target

KEY = os.environ.get("XAI_API_KEY", "")
MODEL = os.environ.get("XAI_IMAGE_MODEL", "grok-imagine-image")
DEADLINE = 300.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="XAI_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_picture_is_made_and_delivered() -> None:
    adapter, where = OpenAIImages(), replace(target(), upstream_model=MODEL)
    more = {"credentials": {"api_key": KEY}, "total_timeout": DEADLINE, "options": {"dialect": "xai"}}
    connection = connection_to("https://api.x.ai/v1", **more)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(image_request(), where), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert len(next(chunks)) > 1000
