"""Reads a task of MiniMax's video generation V2 as strictly as the provider: returns an order, or refuses with a
400."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.films import Film
from sandbox.minimax.errors import invalid

PROMPT_MAX = 7000
SECONDS = (4, 15)
RESOLUTIONS = ("480P", "768P", "2K")
ADAPTIVE = "adaptive"
RATIOS = (ADAPTIVE, "21:9", "16:9", "4:3", "1:1", "3:4", "9:16")
FIELDS = ("model", "content", "resolution", "duration", "ratio", "aigc_watermark", "callback_url")
SCHEMES = ("https://", "http://", "data:", "mm_file://")
MOST = {"first_frame": 1, "last_frame": 1, "reference_image": 9, "reference_video": 3, "reference_audio": 3}
KINDS = {
    "first_frame": "image_url",
    "last_frame": "image_url",
    "reference_image": "image_url",
    "reference_video": "video_url",
    "reference_audio": "audio_url",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the film to make; `ratio` as requested."""

    model: str
    prompt: str
    seconds: int
    resolution: str
    ratio: str
    images: int

    def film(self, *, partial: bool) -> Film:
        """Returns the film, always with sound; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio="16:9" if self.ratio == ADAPTIVE else self.ratio, seconds=seconds, sound=True)


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    model, seconds = fields.get("model"), fields.get("duration")
    if not isinstance(model, str) or model in ("", "no-such-model"):
        raise invalid("model is not supported")
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not SECONDS[0] <= seconds <= SECONDS[1]:
        raise invalid("duration must be a whole number from 4 to 15")
    if fields.get("resolution") not in RESOLUTIONS:
        raise invalid("resolution is not supported")
    if not isinstance(fields.get("aigc_watermark", False), bool):
        raise invalid("aigc_watermark must be a boolean")
    prompt, roles = content_of(fields.get("content"))
    return Order(
        model=model,
        prompt=prompt,
        seconds=seconds,
        resolution=fields["resolution"],
        ratio=ratio_of(fields.get("ratio", ADAPTIVE), roles),
        images=sum(count for role, count in roles.items() if KINDS[role] == "image_url"),
    )


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("the body is no valid JSON") from problem
    if not isinstance(fields, dict):
        raise invalid("the body must be an object")
    if unknown := [name for name in fields if name not in FIELDS]:
        raise invalid(f"unknown field {unknown[0]}")
    return fields


def ratio_of(ratio: object, roles: Counter[str]) -> str:
    """Returns the film's ratio: frames follow the picture, a text alone needs one. Raises Refusal."""
    if not isinstance(ratio, str) or ratio not in RATIOS:
        raise invalid("ratio is not supported")
    if ratio == ADAPTIVE and not roles:
        raise invalid("ratio must not be adaptive for text-to-video")
    return ADAPTIVE if roles["first_frame"] else ratio


def content_of(content: object) -> tuple[str, Counter[str]]:
    """Returns the prompt and the number of items of each role. Raises Refusal."""
    items = content if isinstance(content, list) else []
    texts = [item.get("text") for item in items if isinstance(item, dict) and item.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str) or not texts[0].strip():
        raise invalid("content must include a non-empty text item (prompt is required)")
    if len(texts[0]) > PROMPT_MAX:
        raise invalid("the text is too long")
    roles = Counter(role_of(item) for item in items if not isinstance(item, dict) or item.get("type") != "text")
    check_roles(roles)
    return texts[0], roles


def role_of(item: object) -> str:
    """Returns a media item's role; a picture without one is the first frame. Raises Refusal."""
    if not isinstance(item, dict):
        raise invalid("content items must be objects")
    kind = item.get("type")
    role = item.get("role") or ("first_frame" if kind == "image_url" else None)
    link = item.get(kind) if isinstance(kind, str) else None
    url = link.get("url") if isinstance(link, dict) else None
    if not isinstance(role, str) or KINDS.get(role) != kind:
        raise invalid("the role does not fit the type of a content item")
    if not isinstance(url, str) or not url.startswith(SCHEMES):
        raise invalid("a content item needs a URL")
    return role


def check_roles(roles: Counter[str]) -> None:
    """Checks which media may be combined, and how many. Raises Refusal."""
    if any(count > MOST[role] for role, count in roles.items()):
        raise invalid("too many content items of one role")
    frames = roles["first_frame"] + roles["last_frame"]
    if frames and roles.total() > frames:
        raise invalid("frames cannot be mixed with references")
    if roles["last_frame"] and not roles["first_frame"]:
        raise invalid("a last frame needs a first frame")
    if roles["reference_audio"] and not (roles["reference_image"] or roles["reference_video"]):
        raise invalid("reference audio needs a reference image or video")
