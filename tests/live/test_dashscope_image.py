"""DashScope itself, with a key of one's own: one small picture at once. DASHSCOPE_API_KEY, and DASHSCOPE_HTTP_BASE_URL
for another region, as the SDK calls them."""

import os
from dataclasses import replace

import pytest

from adapters.base import Done
from adapters.dashscope.images import DashScopeImage
from tests.adapters.dashscope.test_images import target
from tests.adapters.making import connection_to, image_request

KEY = os.environ.get("DASHSCOPE_API_KEY", "")
BASE = os.environ.get("DASHSCOPE_HTTP_BASE_URL", "https://dashscope.aliyuncs.com/api/v1")
MODEL = os.environ.get("DASHSCOPE_IMAGE_MODEL", "qwen-image-2.0")
DEADLINE = 300.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="DASHSCOPE_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_picture_is_made_and_delivered() -> None:
    adapter, where = DashScopeImage(), replace(target(), upstream_model=MODEL)
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=DEADLINE)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(image_request(), where), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert len(next(chunks)) > 1000
