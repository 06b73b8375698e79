"""What the adapter of the DashScope image protocol sends is what the provider's own SDK sends."""

import json
from typing import Any

import pytest
import responses

from adapters.base import ImageRef
from adapters.dashscope.images import DashScopeImage
from tests.adapters.dashscope.test_images import BASE, target
from tests.adapters.making import API_KEY, connection_to, image_request
from tests.adapters.posting import posted

pytest.importorskip("dashscope", reason="the provider's SDK is not installed")
from dashscope.aigc.image_generation import ImageGeneration

HEADERS = ("Authorization", "X-DashScope-Async", "X-DashScope-WorkSpace")
IMAGES = (ImageRef(url="https://x.example.com/a.png"),)


def sent_by_the_sdk(path: str, is_async: bool, **fields: Any) -> Any:
    with responses.RequestsMock() as provider:
        provider.post(BASE + path, json={"request_id": "r", "output": {"task_id": "job-1", "task_status": "PENDING"}})
        ImageGeneration.call(
            api_key=API_KEY, base_address=BASE, workspace="ws-1", is_async=is_async, headers={}, **fields
        )
        return provider.calls[0].request


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    "fields", [{}, {"n": 2, "images": IMAGES, "extra_body": {"seed": 7, "negative_prompt": "blur", "watermark": True}}]
)
def test_path_headers_and_body_are_the_same(mode: str, fields: dict[str, Any]) -> None:
    adapter = DashScopeImage()
    upstream = adapter.build(image_request(**fields), target(mode))
    connection = connection_to(BASE, options={"workspace": "ws-1"})
    ours = posted(adapter, upstream, connection, answer={"output": {"task_id": "job-1", "choices": []}})
    messages, parameters = upstream.body["input"]["messages"], upstream.body["parameters"]
    theirs = sent_by_the_sdk(
        upstream.path, mode == "async", model=upstream.body["model"], messages=messages, **parameters
    )
    body = json.loads(theirs.body)
    del body["parameters"]["is_async"]  # the SDK's own switch, which it leaks
    assert body == ours.body
    for name in HEADERS:
        assert theirs.headers.get(name) == ours.headers.get(name)
