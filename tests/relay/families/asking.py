"""Requests and streams as the tests of the families write them."""

import json
from dataclasses import replace
from typing import Any

from relay.families.base import AskedCall, CallPath, Family, StreamReader
from relay.families.registry import find_family

SOMEWHERE = CallPath(path="/v1/anywhere")


def asked_of(path: str, document: dict[str, Any], query: str = "") -> tuple[Family, AskedCall]:
    family, called = find_family("POST", path)
    called = replace(called, query=query)
    raw = json.dumps(document).encode()
    return family, family.read(family.document(raw, called), raw, called)


def event(document: Any, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(document).encode() + b"\n\n"


def taken(reader: StreamReader, *frames: bytes) -> list[bytes]:
    """What the client gets of each."""
    return [reader.take(frame) for frame in frames]
