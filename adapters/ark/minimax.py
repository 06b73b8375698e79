"""The pure half of the dialect `minimax_v2`: what it can express, the upstream request, and its error codes.

Facts: MiniMax's OpenAPI description of its video generation V2. Capabilities are those of `ark/request.py`; `roles`,
`prompt_max` and `ratios` only narrow the protocol's own limits. Portable resolutions are upper-cased: 768p is `768P`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.ark import request as ark_request
from adapters.base import Billed, ErrorKind, Target, TaskRequest, Unsupported, UpstreamError, UpstreamRequest
from adapters.kit import checks, rules
from adapters.kit.error_kinds import SpokenError, Verdict, spoken_error

CREATE, QUERY = "/v2/video_generation", "/v2/query/video_generation"
PROMPT_MAX = 7000
ROLES = {"first_frame": 1, "last_frame": 1, "reference_image": 9, "reference_video": 3, "reference_audio": 3}
ADAPTIVE = "adaptive"
RATIOS = [ADAPTIVE, "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"]
OPTIONS: rules.Rules = {"aigc_watermark": rules.BOOLEAN}
# By the number that ends a message, or by the error's type.
CODES = {
    "1002": Verdict(ErrorKind.RATE_LIMITED),
    "1004": Verdict(ErrorKind.AUTH),
    "1008": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "1026": Verdict(ErrorKind.CONTENT_POLICY),
    "1027": Verdict(ErrorKind.CONTENT_POLICY),
    "2013": Verdict(ErrorKind.INVALID_REQUEST),
    "authorized_error": Verdict(ErrorKind.AUTH),
    "bad_request_error": Verdict(ErrorKind.INVALID_REQUEST),
    "insufficient_balance_error": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "overloaded_error": Verdict(ErrorKind.OVERLOADED),
    "rate_limit_error": Verdict(ErrorKind.RATE_LIMITED),
}
NUMBER = re.compile(r"\((\d{4})\)\s*\Z")


def verdict_of(code: str) -> Verdict | None:
    """What a code or a type of an error means; None where the status decides."""
    return CODES.get(code)


def spoken(document: Any, status: int) -> SpokenError:
    """The error of an answer; its code is the number in parentheses at the end of the message."""
    error = spoken_error(document)
    number = NUMBER.search(error.message)
    return error._replace(code=number[1]) if number else error


def is_unknown_job(error: UpstreamError) -> bool:
    """Whether the provider says in so many words that it has no such job."""
    return error.code == "2013" and "invalid task_id" in error.message


def problems(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    found = list(checks.video(request, within_limits(capabilities)))
    yield from found
    yield from checks.options(request, OPTIONS, ark_request.DERIVED_OR_OURS)
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
        "content": ark_request.content(request),
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
