"""What a task asked for and what it brought, as pages show both: fields in words, files to look at."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.utils import timezone

from common.documents import shown
from common.redaction import clean, cleaned
from storage import media_types
from tasks.assets import links
from tasks.models import Asset

# The end of a link stands still for so long: a page that refreshes itself loads no picture twice.
LINK_SECONDS = 600
# What every browser of today shows by itself. Everything else is a download.
PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}
FILMS = {"video/mp4", "video/webm"}
SOUNDS = {"audio/mpeg", "audio/wav", "audio/ogg", "audio/mp4"}
LONG_TEXT = 400
FILES = ("images", "mask", "inputs")
"""Params that are, or list, pictures and other inputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One result file. `shown_as` is picture, film, sound or file; without a `url` its bytes are gone since
    `gone_at`. `width` and `height` in pixels, where the file says them."""

    number: int
    shown_as: str
    url: str
    content_type: str
    size_bytes: int
    width: int | None
    height: int | None
    seconds: float | None
    gone_at: datetime | None


def exhibits(assets: Sequence[Asset]) -> list[Exhibit]:
    return [_exhibit(asset) for asset in assets]


def _exhibit(asset: Asset) -> Exhibit:
    now = timezone.now()
    is_gone = links.is_gone(asset, now)
    content_type = media_types.of(asset.content_type).content_type
    return Exhibit(
        number=asset.position + 1,
        shown_as=_shown_as(content_type),
        url="" if is_gone else address(asset),
        content_type=content_type,
        size_bytes=asset.size_bytes,
        width=asset.width,
        height=asset.height,
        seconds=asset.duration_seconds,
        gone_at=links.retained_until(asset) if is_gone else None,
    )


def _shown_as(content_type: str) -> str:
    kinds = (("picture", PICTURES), ("film", FILMS), ("sound", SOUNDS))
    return next((kind for kind, types in kinds if content_type in types), "file")


def address(asset: Asset) -> str:
    """Our own signed URL, without its origin: the page's own, so its policy lets it load. It works for ten to twenty
    minutes, also where the storage would sign URLs of its own."""
    expires = (int(time.time()) // LINK_SECONDS + 2) * LINK_SECONDS
    parts = urlsplit(links.own(asset, expires=expires))
    return f"{parts.path}?{parts.query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamRow:
    """One field of a request. A long text shows its beginning as `head` first."""

    name: str
    text: str
    is_code: bool = False
    head: str = ""


def params(stored: object) -> list[ParamRow]:
    """The fields that were sent, the prompt first; none where they were deleted."""
    given = shown(stored)
    names = sorted(given, key=lambda name: (name != "prompt", name == "modality", name))
    return [_param(name, given[name]) for name in names if name != "modality"]


def _file(value: object) -> str:
    """An input in words: bytes that we hold, or a URL."""
    element = shown(value)
    if "stored" in element:
        file = shown(element["stored"])
        held = f"a file of ours, {file.get('content_type')}, {file.get('size_bytes')} bytes"
        where = str(file.get("reference") or held)
    else:
        where = str(element.get("image_url") or element.get("url") or "–")
    role = " as ".join(str(element[name]).replace("_", " ") for name in ("type", "role") if element.get(name))
    return clean(f"{role}: {where}" if role else where)


def document(name: str, value: object) -> ParamRow | None:
    """A JSON document as one row; None where there is none."""
    return None if value is None else _param(name, value)


def _param(name: str, value: object) -> ParamRow:
    if name in FILES and value:
        files = value if isinstance(value, list) else [value]
        return ParamRow(name=name, text="\n".join(map(_file, files)))
    is_code = isinstance(value, Mapping | list)
    text = json.dumps(cleaned(value), indent=2, ensure_ascii=False) if is_code else clean(str(value))
    head = f"{text[:LONG_TEXT]}…" if len(text) > LONG_TEXT else ""
    return ParamRow(name=clean(name), text=text, is_code=is_code, head=head)
