"""The evidence on a task's page: what it asked for, what it brought, the routes there were, and each paid call."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from common.documents import shown
from common.redaction import clean, cleaned
from storage import media_types
from tasks.assets import links
from tasks.models import Asset, Call
from tasks.shown import trace
from tasks.shown.trace import Trace

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
        where = f"a file of ours, {file.get('content_type')}, {file.get('size_bytes')} bytes"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteVerdict:
    """A route of the decision: kept, with what it would buy, or skipped, with each field and its reason."""

    number: int
    channel: str
    target: str
    priority: object
    weight: object
    is_kept: bool
    buys: str
    reasons: tuple[tuple[str, str], ...]


def routes(found: Trace) -> list[RouteVerdict]:
    return [_route(number, row) for number, row in enumerate(found.routes, 1)]


def _route(number: int, row: Mapping[str, object]) -> RouteVerdict:
    billed = shown(row.get("billed"))
    return RouteVerdict(
        number=number,
        channel=_joined(row.get("channel") or "–"),
        target=_joined(row.get("adapter"), row.get("upstream_model")),
        priority=row.get("priority"),
        weight=row.get("weight"),
        is_kept=bool(row.get("kept")),
        buys=f"{billed.get('count')} × {billed.get('tier') or 'no known tier'}" if billed else "",
        reasons=tuple((clean(field), clean(reason)) for field, reason in trace.reasons(row)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidCallRow:
    """A paid call. Money in micro-USD: `charged` is the client's part, `cost` the operator's own, None where nobody
    knows; `followed_by` is the task that an operator made of it."""

    call: Call
    number: str
    route: int | None
    channel: str
    target: str
    credential: str
    upstream_id: str
    answer: str
    message: str
    request_id: str
    passed: tuple[str, ...]
    charged_micros: int
    seconds: float | None
    resolved: str
    followed_by: str


def paid_calls(found: Trace) -> list[PaidCallRow]:
    told = trace.operator(found)["attempts"]
    return [_call(found, call, row) for call, row in zip(found.calls, told, strict=True)]


def _call(found: Trace, call: Call, told: Mapping[str, Any]) -> PaidCallRow:
    resolved = f"{told['resolved']} by {shown(call.outcome).get('by')}" if told["resolved"] else ""
    status = f"HTTP {told['http_status']}" if told["http_status"] else None
    return PaidCallRow(
        call=call,
        number=f"{call.attempt}.{call.position + 1}",
        route=told["route"],
        channel=told["channel"] or "gone",
        target=_joined(told["adapter"], told["upstream_model"]),
        credential=(told["credential"] or "").removesuffix("…") or "–",
        upstream_id=_joined(told["upstream_id"]),
        answer=_joined((told["outcome"] or "").replace("_", " "), status, told["code"]),
        message=_joined(told["message"]),
        request_id=_joined(told["request_id"]),
        passed=tuple(_joined(f"route {each['route'] or '?'}: {each['reason']}") for each in told["passed_over"]),
        charged_micros=found.charges.get(call.pk, 0),
        seconds=told["duration"],
        resolved=resolved,
        followed_by=str(shown(call.outcome).get("task") or ""),
    )


def _joined(*parts: object) -> str:
    """Those that say something, without secrets."""
    return clean(" · ".join(str(part) for part in parts if part))
