"""What the shipped templates send is what the providers' own clients send for the same input."""

import json
from typing import Any

import pytest

from adapters.base import UpstreamRequest
from tests.adapters.making import image_request, video_request
from tests.adapters.template.templates import adapter, target_of

PREDICTION = {"id": "p1", "model": "black-forest-labs/flux-3", "version": "hidden", "status": "starting", "urls": {}}
FLUX = "black-forest-labs/flux-3"


def built(template: str, model: str) -> UpstreamRequest:
    modality = template.partition("_")[2]
    request = image_request(n=2) if modality == "image" else video_request()
    return adapter.build(request, target_of(template, modality, model=model))


@pytest.fixture
def wire() -> Any:
    """A transport that keeps what a client sends, and answers what it is told."""
    httpx = pytest.importorskip("httpx")

    class Wire(httpx.MockTransport):  # type: ignore[name-defined,misc]
        answer: Any = None

        def __init__(self) -> None:
            self.sent: list[Any] = []
            super().__init__(self.reply)

        def reply(self, request: Any) -> Any:
            self.sent.append(request)
            return httpx.Response(201, json=self.answer)

    return Wire()


@pytest.mark.parametrize("template", ["replicate_image", "replicate_video"])
def test_replicates_client_sends_the_same(wire: Any, template: str) -> None:
    replicate = pytest.importorskip("replicate")
    wire.answer = PREDICTION
    upstream = built(template, FLUX)
    client = replicate.Client(api_token="key", transport=wire)
    client.models.predictions.create(model=FLUX, input=upstream.body["input"])
    (sent,) = wire.sent
    assert sent.url.path == f"/v1{upstream.path}"
    assert json.loads(sent.content) == upstream.body
    assert sent.headers["authorization"] == "Bearer key"


@pytest.mark.parametrize("template", ["fal_image", "fal_video"])
def test_fals_client_sends_the_same_and_builds_the_same_addresses(wire: Any, template: str) -> None:
    fal_client = pytest.importorskip("fal_client")
    httpx = pytest.importorskip("httpx")
    base = "https://queue.fal.run/fal-ai/flux/requests/r1"
    wire.answer = {"request_id": "r1", "status_url": base, "response_url": base, "cancel_url": base}
    client = fal_client.SyncClient(key="key")
    upstream = built(template, "fal-ai/flux/dev")
    client.__dict__["_client"] = httpx.Client(transport=wire, headers={"Authorization": "Key key"})
    client.submit("fal-ai/flux/dev", upstream.body)
    (sent,) = wire.sent
    assert str(sent.url) == f"https://queue.fal.run{upstream.path}"
    assert json.loads(sent.content) == upstream.body
    theirs = client.get_handle("fal-ai/flux/dev", "r1")
    ours = adapter.attach("r1", target_of(template, model="fal-ai/flux/dev"))
    told = {"status": theirs.status_url, "result": theirs.response_url, "cancel": theirs.cancel_url}
    assert {name: f"https://queue.fal.run{ours[name]}" for name in told} == told
