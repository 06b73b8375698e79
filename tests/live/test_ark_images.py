"""One paid picture from Ark itself, where its key is in the environment."""

import os
from pathlib import Path

import pytest

from adapters.base import Done, Target, TaskRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to

KEY = os.environ.get("ARK_API_KEY")
BASE = os.environ.get("ARK_BASE_URL", "https://ark.cn-beijing.volces.com/api/v3")
MODEL = os.environ.get("ARK_IMAGE_MODEL", "doubao-seedream-4-0-250828")
pytestmark = [pytest.mark.live, pytest.mark.skipif(not KEY, reason="ARK_API_KEY is not set")]


def test_the_smallest_picture(tmp_path: Path) -> None:
    adapter = ADAPTERS["ark_images"]
    target = Target(adapter=adapter.protocol, base_url=BASE, upstream_model=MODEL)
    request = TaskRequest(modality="image", prompt="a red dot on white", image_size="1K", aspect_ratio="1:1")
    credentials = {"api_key": KEY or ""}
    connection = connection_to(BASE, credentials=credentials, total_timeout=300.0, scratch_dir=tmp_path)
    adapter.probe(connection)
    done = adapter.submit(adapter.build(request, target), connection)
    assert isinstance(done, Done)
    with adapter.open_output(done.outputs[0], connection) as chunks:
        assert b"".join(chunks).startswith((b"\x89PNG", b"\xff\xd8\xff"))
