"""Requests of `gemini_generate_content`: what can be expressed, and what is sent. Pure.

Capabilities: `tiers` and `ratios` (restrict), `fixed_size` (true: the model has one size, the first of `tiers`, and no
field for it), `max_n`, `max_images`, `prompt_max`, `data_url`.
Facts: Google's reference of generateContent and its SDK google-genai 3.4.0 (imageConfig, responseModalities).
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import Billed, FilePart, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, references, rules
from adapters.kit.inline import mark, mark_type

CAPABILITIES = {
    "tiers": rules.NAMES,
    "ratios": rules.NAMES,
    "fixed_size": rules.BOOLEAN,
    "max_n": rules.POSITIVE,
    "max_images": rules.COUNT,
    "prompt_max": rules.POSITIVE,
    "data_url": rules.BOOLEAN,
}
OPTIONS = {"version": rules.one_of("v1beta", "v1")}
MAX_N = 10
MAX_IMAGES = 3_600
DEFAULT_TIER = "1K"
TIERS = {"0.5K": "512", "1K": "1K", "2K": "2K", "4K": "4K"}
RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8", "8:1")
# They would change what model is bought, what is asked for, or where the answer goes and in what shape.
FORBIDDEN = ("model", "contents", "n", "stream", "webhook", "webhook_url", "callback_url")
DERIVED = {
    "candidateCount": "one request makes one picture: ask for more with n",
    "responseFormat": "the size is set in imageConfig",
}


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    yield from checks.images(request, target.capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=references.TYPES)
    extra = list(_extra(request.extra_body))
    yield from extra or _image_config(request, target.capabilities)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """The prompt first, then the reference images in their order. A request makes one picture, so it is sent n times.

    `extra_body` is merged last: its keys replace ours, but for `generationConfig` and the `imageConfig` inside, whose
    keys are merged. With neither tier nor ratio no size is sent: the provider chooses, and no tier is billed.
    """
    tier = tier_of_request(request, target.capabilities)
    config = _derived_config(request, tier, target.capabilities)
    if "imageSize" in _extra_config(request.extra_body):
        tier = _tier_of(_extra_config(request.extra_body)["imageSize"])
    parts = [{"text": request.prompt}, *map(_inline_part, range(len(request.images)))]
    body = {
        "contents": [{"role": "user", "parts": parts}],
        **request.extra_body,
        "generationConfig": _merged(config, request.extra_body.get("generationConfig", {})),
    }
    return UpstreamRequest(
        path=f"/{version(target.options)}/models/{quote(target.upstream_model, safe='')}:generateContent",
        body=body,
        billed=Billed(count=request.n, tier=tier),
        files=tuple(FilePart(field="inlineData", image=image) for image in request.images),
        calls=request.n,
    )


def version(options: Mapping[str, Any]) -> str:
    """The API version, the first step of every path."""
    return str(options.get("version", "v1beta"))


def tier_of_request(request: TaskRequest, capabilities: Mapping[str, Any]) -> str | None:
    """The tier asked for; with only a ratio, or of a model of one size, the first of `tiers`, else the protocol's
    default; None where the provider chooses."""
    is_chosen = request.aspect_ratio is None and not capabilities.get("fixed_size")
    if request.image_size is not None or is_chosen:
        return request.image_size
    return str(capabilities.get("tiers", [DEFAULT_TIER])[0])


def _derived_config(request: TaskRequest, tier: str | None, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    image: dict[str, Any] = {}
    if request.aspect_ratio is not None:
        image["aspectRatio"] = request.aspect_ratio
    if tier in TIERS and not capabilities.get("fixed_size"):
        image["imageSize"] = TIERS[tier]
    config: dict[str, Any] = {"responseModalities": ["IMAGE"]}
    return {**config, "imageConfig": image} if image else config


def _merged(config: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**config, **extra}
    if "imageConfig" in extra:
        merged["imageConfig"] = {**config.get("imageConfig", {}), **extra["imageConfig"]}
    return merged


def _inline_part(index: int) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mark_type(index), "data": mark(index)}}


def _extra_config(extra_body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `imageConfig` of an `extra_body` that `_extra` has passed."""
    config: Mapping[str, Any] = extra_body.get("generationConfig", {}).get("imageConfig", {})
    return config


def _tier_of(size: object) -> str | None:
    return next((tier for tier, name in TIERS.items() if name == size), None)


def _image_config(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """Tier and ratio, each where `extra_body` does not stand for it."""
    config = _extra_config(request.extra_body)
    tier = tier_of_request(request, capabilities)
    if tier is not None and "imageSize" not in config:
        tiers = capabilities.get("tiers", [DEFAULT_TIER] if capabilities.get("fixed_size") else list(TIERS))
        allowed = tiers[:1] if capabilities.get("fixed_size") else [name for name in tiers if name in TIERS]
        yield from checks.listed("params.image_size", tier, allowed)
    if request.aspect_ratio is not None and "aspectRatio" not in config:
        ratios = capabilities.get("ratios", RATIOS)
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, [r for r in ratios if r in RATIOS])


def _extra(extra_body: Mapping[str, Any]) -> Iterator[Unsupported]:
    field = "params.extra_body"
    for name in extra_body:
        if name in FORBIDDEN:
            yield Unsupported(field=f"{field}.{name}", reason="cannot be set by the caller")
        elif "_" in name:
            yield _misspelt(f"{field}.{name}")
    config = extra_body.get("generationConfig", {})
    if isinstance(config, dict):
        yield from _generation_config(f"{field}.generationConfig", config)
    else:
        yield Unsupported(field=f"{field}.generationConfig", reason="must be an object")


def _generation_config(field: str, config: Mapping[str, Any]) -> Iterator[Unsupported]:
    """What would buy another number of pictures, or none, is refused; so is a second spelling, which could hide it."""
    yield from (_misspelt(f"{field}.{name}") for name in config if "_" in name)
    for name in config.keys() & DERIVED:
        yield Unsupported(field=f"{field}.{name}", reason=DERIVED[name])
    modalities = config.get("responseModalities", ["IMAGE"])
    if not isinstance(modalities, list) or "IMAGE" not in modalities:
        yield Unsupported(field=f"{field}.responseModalities", reason="must be a list with IMAGE in it")
    image = config.get("imageConfig", {})
    if isinstance(image, dict):
        yield from (_misspelt(f"{field}.imageConfig.{name}") for name in image if "_" in name)
    else:
        yield Unsupported(field=f"{field}.imageConfig", reason="must be an object")


def _misspelt(field: str) -> Unsupported:
    return Unsupported(field=field, reason="must be spelled in camelCase")
