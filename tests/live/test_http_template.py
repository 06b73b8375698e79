"""fal and Replicate themselves, with keys of one's own: the cheapest picture of each. FAL_KEY, REPLICATE_API_TOKEN."""

import os
import time
from typing import Any

import pytest

from adapters.base import Accepted, Done, Pending
from tests.adapters.making import connection_to, image_request
from tests.adapters.template.templates import adapter, target_of

DEADLINE = 300.0
FAL_KEY, REPLICATE_TOKEN = os.environ.get("FAL_KEY", ""), os.environ.get("REPLICATE_API_TOKEN", "")
SMALL = {"1K": {"1:1": "512x512"}}
SQUARE = {"input": {"width": None, "height": None, "aspect_ratio": "{aspect_ratio}"}, "tiers": ["1K"]}
pytestmark = [pytest.mark.live, pytest.mark.timeout(DEADLINE + 60)]


@pytest.mark.parametrize(
    ("template", "base_url", "key", "model", "capabilities"),
    [
        pytest.param(
            "fal_image",
            "https://queue.fal.run",
            FAL_KEY,
            "fal-ai/flux/schnell",
            {"size_table": SMALL},
            marks=pytest.mark.skipif(not FAL_KEY, reason="FAL_KEY is not set"),
        ),
        pytest.param(
            "replicate_image",
            "https://api.replicate.com/v1",
            REPLICATE_TOKEN,
            "black-forest-labs/flux-schnell",
            SQUARE,
            marks=pytest.mark.skipif(not REPLICATE_TOKEN, reason="REPLICATE_API_TOKEN is not set"),
        ),
    ],
)
def test_a_picture_is_made_and_delivered(
    template: str, base_url: str, key: str, model: str, capabilities: dict[str, Any]
) -> None:
    target = target_of(template, model=model, **capabilities)
    connection = connection_to(
        base_url, credentials={"api_key": key}, options={"template": template}, total_timeout=60.0
    )
    assert adapter.validate(target) == []
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(image_request(), target), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert next(chunks)
