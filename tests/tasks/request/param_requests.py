"""Valid params of each modality to vary, and the rules they are parsed by."""

import base64
from typing import Any

from adapters.base import TaskRequest
from common import urls
from common.errors import InvalidRequest
from common.urls import Network, UrlPolicy
from tasks.request import params
from tasks.request.values import ParamRules, ReferredFile

CATALOG = {
    "image_size": {"values": ["1K", "2K"], "default": "1K"},
    "aspect_ratio": {"values": ["1:1", "16:9"], "default": "1:1"},
    "n": {"max": 4},
    "images": {"max": 3},
}
OWN_ASSET = "https://api.ours.example/assets/signed"
STORAGE = "http://10.0.0.9:9000/bucket/"
STORED_ASSET = f"{STORAGE}results/presigned"
REFERENCES = {
    f"asset:task_{'0' * 26}/{index}": content_type
    for index, content_type in enumerate(("image/png", "image/gif", "video/mp4", "audio/mpeg", "model/gltf-binary"))
}

CONTENTS = {
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(8),
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(8),
    "image/webp": b"RIFF\n\x00\x00\x00WEBPVP8 ",
    "image/gif": b"GIF89a" + bytes(8),
}


def data_url(content_type: str = "image/png", content: bytes | None = None) -> str:
    encoded = base64.b64encode(CONTENTS[content_type] if content is None else content).decode()
    return f"data:{content_type};base64,{encoded}"


def rules(catalog: dict[str, Any] | None = None, *, allow_networks: tuple[Network, ...] = ()) -> ParamRules:
    return ParamRules(
        bounds=CATALOG if catalog is None else catalog,
        urls=UrlPolicy(allow_networks=allow_networks, own_hosts=urls.own_hosts("https://api.ours.example")),
        own_asset={OWN_ASSET: OWN_ASSET, STORED_ASSET: OWN_ASSET}.get,
        in_storage=lambda url: url.startswith(STORAGE),
        upload_url=lambda content_type: f"https://api.ours.example/assets/input-0.{content_type.partition('/')[2]}",
        referred=referred,
    )


def referred(reference: str) -> ReferredFile | None:
    """The file of one of REFERENCES."""
    content_type = REFERENCES.get(reference)
    if content_type is None:
        return None
    return ReferredFile(key="results/a", content_type=content_type, size_bytes=3, sha256="0" * 64, reference=reference)


def image(**changes: Any) -> dict[str, Any]:
    return {"prompt": "a fox", **changes}


def video(**changes: Any) -> dict[str, Any]:
    return {"prompt": "a fox runs", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9", **changes}


def media(**changes: Any) -> dict[str, Any]:
    return {"type": "image", "role": "reference", "url": "https://cdn.example.com/a.png", **changes}


BASES = {"image": image, "video": video, "3d": image}


def parse(modality: str, given: dict[str, Any], catalog: dict[str, Any] | None = None) -> TaskRequest:
    asked = rules(catalog)
    return params.parser(modality, asked.bounds).parse(given, model_name="aurora", rules=asked)


def refusal(modality: str, given: dict[str, Any], catalog: dict[str, Any] | None = None) -> str:
    """The message that refuses these params; empty where they are accepted."""
    try:
        parse(modality, given, catalog)
    except InvalidRequest as error:
        return error.message
    return ""
