"""Requests of `gemini_generate_content`: what can be expressed, and what is sent. Pure.

Capabilities: `tiers` and `ratios` (restrict), `fixed_size` (true: the model has one size, the first of `tiers`, and no
field for it), `max_n`, `max_images`, `prompt_max`, `data_url`.
`extra_body` goes to the root of the request, and settings of `generationConfig` by their own names into that.
Facts: Google's reference of generateContent and its SDK google-genai 3.4.0 (GenerationConfig, ImageConfig). Without a
size 1K is made.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import Billed, FilePart, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.gemini.fields import MAX_IMAGES, TIERS
from adapters.kit import checks, references, rules
from adapters.kit.inline import mark, mark_type
from adapters.kit.settings import EXTRA_BODY, SettingsObject

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
DEFAULT_TIER = "1K"
RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8", "8:1")
REFUSED = {
    "candidateCount": "one request makes one picture: ask for more with n",
    "responseFormat": "the size is set in imageConfig",
    "modelSelectionConfig": "cannot be set by the caller",
    "routingConfig": "cannot be set by the caller",
}
SETTINGS = SettingsObject(
    place="generationConfig",
    names=frozenset(
        {"responseModalities", "imageConfig", "seed", "temperature", "topP", "topK", "stopSequences", "thinkingConfig"}
        | {"presencePenalty", "frequencyPenalty", "maxOutputTokens", "logprobs", "responseLogprobs", "mediaResolution"}
        | {"responseMimeType", "responseSchema", "responseJsonSchema", "speechConfig", "audioTimestamp"}
        | {"translationConfig", "audioTranscriptionConfig", "enableEnhancedCivicAnswers", "enableAffectiveDialog"}
        | REFUSED.keys()
    ),
    refused=frozenset(REFUSED),
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    types = () if "contents" in request.extra_body else references.TYPES
    yield from checks.images(request, target.capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=types)
    extra = list(_extra(request))
    yield from extra or _image_config(request, target.capabilities)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """The prompt first, then the reference images in their order. A request makes one picture, so it is sent n times.

    With neither tier nor ratio no size is sent: the provider chooses, and no tier is billed. A `generationConfig` or
    `imageConfig` of `extra_body` replaces ours: without a size in it the protocol's default is made, and billed.
    `contents` of `extra_body` stand for prompt and images.
    """
    images = () if "contents" in request.extra_body else request.images
    tier = tier_of_request(request, target.capabilities)
    parts = [{"text": request.prompt}, *map(_inline_part, range(len(images)))]
    derived = {
        "contents": [{"role": "user", "parts": parts}],
        "generationConfig": _derived_config(request, tier, target.capabilities),
    }
    body = SETTINGS.merged(derived, request.extra_body)
    if _is_size_given(request.extra_body):
        tier = _billed_tier(body["generationConfig"].get("imageConfig", {}), target.capabilities)
    return UpstreamRequest(
        path=f"/{version(target.options)}/models/{quote(target.upstream_model, safe='')}:generateContent",
        body=body,
        billed=Billed(count=request.n, tier=tier),
        files=tuple(FilePart(field="inlineData", image=image) for image in images),
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


def _inline_part(index: int) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mark_type(index), "data": mark(index)}}


def _is_size_given(extra_body: Mapping[str, Any]) -> bool:
    """Whether `extra_body` stands for tier and ratio."""
    return SETTINGS.is_replaced(extra_body) or "imageConfig" in extra_body


def _billed_tier(image_config: Mapping[str, Any], capabilities: Mapping[str, Any]) -> str | None:
    """What an `imageConfig` makes; None for a size that the protocol does not have."""
    if "imageSize" in image_config:
        return next((tier for tier, name in TIERS.items() if name == image_config["imageSize"]), None)
    return str(capabilities.get("tiers", [DEFAULT_TIER])[0]) if capabilities.get("fixed_size") else DEFAULT_TIER


def _image_config(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """Tier and ratio, unless `extra_body` stands for them."""
    if _is_size_given(request.extra_body):
        return
    tier = tier_of_request(request, capabilities)
    if tier is not None:
        tiers = capabilities.get("tiers", [DEFAULT_TIER] if capabilities.get("fixed_size") else list(TIERS))
        allowed = tiers[:1] if capabilities.get("fixed_size") else [name for name in tiers if name in TIERS]
        yield from checks.listed("params.image_size", tier, allowed)
    if request.aspect_ratio is not None:
        ratios = capabilities.get("ratios", RATIOS)
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, [r for r in ratios if r in RATIOS])


def _extra(request: TaskRequest) -> Iterator[Unsupported]:
    """What would buy another number of pictures, or none, is refused; so is a second spelling, which could hide it."""
    for name in request.extra_body:
        if "_" in name:
            yield _misspelt(f"{EXTRA_BODY}.{name}")
    yield from SETTINGS.problems(request.extra_body)
    for field, name, value in SETTINGS.given(request.extra_body):
        yield from _setting(field, name, value)


def _setting(field: str, name: str, value: object) -> Iterator[Unsupported]:
    if "_" in name:
        yield _misspelt(field)
    elif name in REFUSED:
        yield Unsupported(field=field, reason=REFUSED[name])
    elif name == "responseModalities" and not (isinstance(value, list) and "IMAGE" in value):
        yield Unsupported(field=field, reason="must be a list with IMAGE in it")
    elif name == "imageConfig" and not isinstance(value, dict):
        yield Unsupported(field=field, reason="must be an object", is_illegal=True)
    elif name == "imageConfig" and isinstance(value, dict):
        yield from (_misspelt(f"{field}.{inner}") for inner in value if "_" in inner)


def _misspelt(field: str) -> Unsupported:
    return Unsupported(field=field, reason="must be spelled in camelCase")
