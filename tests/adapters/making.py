"""Targets, requests and connections for the adapters' tests."""

import io
from ipaddress import ip_network
from pathlib import Path
from typing import Any, BinaryIO

from adapters.base import Connection, StoredFile, Target, TaskRequest, UpstreamError
from tools.children import PATIENCE

API_KEY = "sk-canary-0123456789"
PNG = b"\x89PNG\r\n\x1a\n" + b"picture" * 100


def connection_to(base_url: str, *, files: dict[str, bytes] | None = None, **changes: Any) -> Connection:
    """A connection with a key, all the time it needs, and stored files by key."""

    def open_stored(stored: StoredFile) -> BinaryIO:
        try:
            return io.BytesIO((files or {})[stored.key])
        except KeyError as error:
            raise FileNotFoundError(stored.key) from error

    settings: dict[str, Any] = {
        "base_url": base_url,
        "credentials": {"api_key": API_KEY},
        "total_timeout": PATIENCE,
        "connect_timeout": PATIENCE,
        "open_stored": open_stored,
        "allow_networks": (ip_network("127.0.0.0/8"),),
    }
    return Connection(**(settings | changes))


def stored(key: str = "one", content_type: str = "image/png") -> StoredFile:
    return StoredFile(key=key, content_type=content_type, size_bytes=len(PNG), sha256="0" * 64)


def image_target(**capabilities: Any) -> Target:
    return Target(
        adapter="openai_images",
        base_url="https://images.example.com/v1",
        upstream_model="gpt-image-2",
        capabilities=capabilities,
    )


def image_request(**fields: Any) -> TaskRequest:
    return TaskRequest(**({"modality": "image", "prompt": "a fox", "image_size": "1K", "aspect_ratio": "1:1"} | fields))


def video_target(**capabilities: Any) -> Target:
    return Target(
        adapter="ark_content_tasks",
        base_url="https://ark.example.com/api/v3",
        upstream_model="seedance-2",
        capabilities=capabilities,
    )


def video_request(**fields: Any) -> TaskRequest:
    plain = {"modality": "video", "prompt": "a fox", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
    return TaskRequest(**(plain | fields))


def says_nothing_secret(error: UpstreamError) -> bool:
    return not any(API_KEY in text for text in (str(error), error.message, error.code, repr(error.args)))


def left_in(folder: Path) -> list[str]:
    """The names of what a call left behind."""
    return sorted(path.name for path in folder.iterdir())
