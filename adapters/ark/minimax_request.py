"""Requests of the dialect `minimax_v2`: what can be expressed, and what is sent. Pure.

Facts: MiniMax's OpenAPI description of its video generation V2. Capabilities are those of `ark/videos_request.py`;
`roles`, `prompt_max` and `ratios` only narrow the protocol's own limits. Portable resolutions are upper-cased: 768p is
`768P`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.ark import videos_request
from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, rules

CREATE, QUERY = "/v2/video_generation", "/v2/query/video_generation"
PROMPT_MAX = 7000
ROLES = {"first_frame": 1, "last_frame": 1, "reference_image": 9, "reference_video": 3, "reference_audio": 3}
ADAPTIVE = "adaptive"
RATIOS = [ADAPTIVE, "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"]
OPTIONS: rules.Rules = {"aigc_watermark": rules.BOOLEAN}


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    found = list(film_checks.video(request, within_limits(target.capabilities)))
    yield from found
    yield from film_checks.options(request, OPTIONS, videos_request.DERIVED_OR_OURS, target)
    if not any(problem.field == "params.aspect_ratio" for problem in found):
        yield from _ratio(request)


def within_limits(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The capabilities, no wider than the protocol. Its films always have sound."""
    roles = capabilities.get("roles", ROLES)
    return {
        "audio": "always",
        **capabilities,
        "prompt_max": min(capabilities.get("prompt_max", PROMPT_MAX), PROMPT_MAX),
        "roles": {role: min(most, roles.get(role, 0)) for role, most in ROLES.items()},
        "frames_exclusive_refs": True,
    }


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """The items of the content as in the dialect `ark`; sound is not asked for."""
    body = {
        "model": target.upstream_model,
        "content": videos_request.content(request),
        "duration": request.duration,
        "resolution": (request.resolution or "").upper(),
        "ratio": request.aspect_ratio,
        **request.provider_options,
    }
    return UpstreamRequest(path=CREATE, body=body, billed=Billed(count=1, tier=request.resolution))


def _ratio(request: TaskRequest) -> Iterator[Unsupported]:
    """Frames decide the ratio, whatever is asked; a text alone has nothing to adapt to."""
    has_frame = any(item.role != "reference" for item in request.inputs)
    if has_frame and request.aspect_ratio != ADAPTIVE:
        yield Unsupported(field="params.aspect_ratio", reason="must be adaptive with frames: they decide the ratio")
    elif not request.inputs and request.aspect_ratio == ADAPTIVE:
        yield Unsupported(field="params.aspect_ratio", reason="adaptive needs an image or a video to adapt to")
    else:
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, RATIOS)
