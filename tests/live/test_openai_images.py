"""One paid picture from OpenAI itself, where its key is in the environment."""

import os
from pathlib import Path

import pytest

from adapters.base import Done, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, image_request

KEY = os.environ.get("OPENAI_API_KEY", "")
BASE = "https://api.openai.com/v1"
MODEL = os.environ.get("OPENAI_IMAGE_MODEL", "gpt-image-1-mini")
pytestmark = [pytest.mark.live, pytest.mark.skipif(not KEY, reason="OPENAI_API_KEY is not set")]


def test_the_smallest_picture(tmp_path: Path) -> None:
    adapter = ADAPTERS["openai_images"]
    target = Target(adapter=adapter.protocol, base_url=BASE, upstream_model=MODEL)
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=300.0, scratch_dir=tmp_path)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(image_request(extra_body={"quality": "low"}), target), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert b"".join(chunks).startswith(b"\x89PNG")
