"""Reads a task of the Ark protocol as strictly as the provider: returns an order, or refuses with InvalidParameter."""

import json
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.ark.errors import error, invalid, missing
from sandbox.films import FRAME_SIZES, Film
from sandbox.wire import Refusal

MAX_SECONDS = 86_400
RESOLUTIONS = ("480p", "720p", "1080p", "4k")
FRAME_ROLES = ("first_frame", "last_frame")
ROLES = {
    "image_url": (None, *FRAME_ROLES, "reference_image"),
    "video_url": ("reference_video",),
    "audio_url": ("reference_audio",),
}
SCHEMES = {
    "image_url": ("https://", "http://", "data:image/", "asset://"),
    "video_url": ("https://", "http://", "asset://"),
    "audio_url": ("https://", "http://", "data:audio/", "asset://"),
}
SWITCHES = ("generate_audio", "return_last_frame", "watermark", "camera_fixed", "draft")
INTEGERS = {
    "duration": (1, MAX_SECONDS),
    "seed": (-1, 2**32 - 1),
    "priority": (0, 9),
    "execution_expires_after": (3_600, 259_200),
}
CHOICES = {
    "resolution": RESOLUTIONS,
    "ratio": (*FRAME_SIZES, "adaptive"),
    "service_tier": ("default", "flex"),
    "output_format": ("mp4",),
}
UNCHECKED = ("model", "content", "tools", "callback_url", "safety_identifier", "omni_reference_task_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the film to make. Times are seconds and Unix times."""

    model: str
    prompt: str
    seconds: int
    resolution: str
    ratio: str
    sound: bool
    last_frame: bool
    seed: int
    service_tier: str
    expires_after: int

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=self.ratio, seconds=seconds, sound=self.sound)


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    check_options(fields)
    if not isinstance(fields.get("model"), str) or not fields["model"]:
        raise missing("model")
    if fields["model"] == "no-such-model":
        message = "The model or endpoint no-such-model does not exist or you do not have access to it."
        raise Refusal(error(404, "InvalidEndpointOrModel.NotFound", message, kind="NotFound"))
    ratio = fields.get("ratio") or "adaptive"
    seed = fields.get("seed", -1)
    return Order(
        model=fields["model"],
        prompt=prompt_of(fields.get("content")),
        seconds=fields.get("duration", 5),
        resolution=fields.get("resolution") or "720p",
        ratio="16:9" if ratio == "adaptive" else ratio,
        sound=fields.get("generate_audio", True),
        last_frame=fields.get("return_last_frame", False),
        seed=secrets.randbelow(2**32) if seed == -1 else seed,
        service_tier=fields.get("service_tier") or "default",
        expires_after=fields.get("execution_expires_after", 172_800),
    )


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object without nulls. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("body", "the body is no valid JSON") from problem
    if not isinstance(fields, dict):
        raise invalid("body", "the body must be a JSON object")
    return {name: value for name, value in fields.items() if value is not None}


def check_options(fields: Mapping[str, Any]) -> None:
    """Checks types and bounds of all fields but model and content. Raises Refusal."""
    for name, value in fields.items():
        if name in SWITCHES:
            is_valid = isinstance(value, bool)
        elif name in INTEGERS:
            low, high = INTEGERS[name]
            is_valid = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        elif name in CHOICES:
            is_valid = value in CHOICES[name]
        else:
            is_valid = name in UNCHECKED
        if not is_valid:
            raise invalid(name, "the value or the parameter is not supported")


def prompt_of(content: Any) -> str:
    """Checks the content items and returns their text. Raises Refusal."""
    if not isinstance(content, list) or not content:
        raise missing("content")
    texts, roles = [], Counter[str]()
    for position, item in enumerate(content):
        if not isinstance(item, dict):
            raise invalid(f"content[{position}]", "an object is expected")
        if item.get("type") == "text":
            texts.append(text_of(item, position))
        else:
            roles[role_of(item, position)] += 1
    check_roles(roles)
    return "\n".join(texts)


def text_of(item: Mapping[str, Any], position: int) -> str:
    """Returns the prompt in a text item. Raises Refusal."""
    text = item.get("text")
    if not isinstance(text, str) or not text:
        raise missing(f"content[{position}].text")
    return text


def role_of(item: Mapping[str, Any], position: int) -> str:
    """Returns a media item's role; an image without one is the first frame. Raises Refusal."""
    kind, role = item.get("type"), item.get("role")
    if not isinstance(kind, str) or kind not in ROLES:
        raise invalid(f"content[{position}].type", "text, image_url, video_url or audio_url is expected")
    if role not in ROLES[kind]:
        raise invalid(f"content[{position}].role", f"not a role of {kind}")
    link = item.get(kind)
    url = link.get("url") if isinstance(link, dict) else None
    if not isinstance(url, str) or not url.startswith(SCHEMES[kind]):
        raise invalid(f"content[{position}].{kind}.url", "a URL of a supported kind is expected")
    return role or "first_frame"


def check_roles(roles: Counter[str]) -> None:
    """Checks which media may be combined. Raises Refusal."""
    frames = sum(roles[role] for role in FRAME_ROLES)
    if any(roles[role] > 1 for role in FRAME_ROLES):
        raise invalid("content", "at most one first and one last frame are accepted")
    if roles["last_frame"] and not roles["first_frame"]:
        raise invalid("content", "a last frame needs a first frame")
    if frames and roles.total() > frames:
        raise invalid("content", "first and last frames cannot be mixed with reference media")
    if roles["reference_audio"] and not (roles["reference_image"] or roles["reference_video"]):
        raise invalid("content", "reference audio needs a reference image or video")
