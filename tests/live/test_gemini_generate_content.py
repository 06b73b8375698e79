"""One paid picture from the Gemini API itself, where its key is in the environment."""

import os
from pathlib import Path

import pytest

from adapters.base import Done, Target, TaskRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to

KEY = os.environ.get("GEMINI_API_KEY")
MODEL = os.environ.get("GEMINI_IMAGE_MODEL", "gemini-2.5-flash-image")
pytestmark = [pytest.mark.live, pytest.mark.skipif(not KEY, reason="GEMINI_API_KEY is not set")]


def test_the_smallest_picture(tmp_path: Path) -> None:
    adapter = ADAPTERS["gemini_generate_content"]
    target = Target(
        adapter=adapter.protocol,
        base_url="https://generativelanguage.googleapis.com",
        upstream_model=MODEL,
        capabilities={"fixed_size": True},
    )
    request = TaskRequest(modality="image", prompt="a red dot on white", image_size="1K", aspect_ratio="1:1")
    credentials = {"api_key": KEY or ""}
    connection = connection_to(target.base_url, credentials=credentials, total_timeout=300.0, scratch_dir=tmp_path)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(request, target), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert b"".join(chunks).startswith((b"\x89PNG", b"\xff\xd8\xff"))
