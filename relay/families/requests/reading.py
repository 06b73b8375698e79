"""Common reading of all dialects' requests: the most that they may use and hold."""

from collections.abc import Iterable, Mapping
from typing import Any

from common import strict_json
from relay.families import bounds
from relay.families.base import AskedCall, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, IMAGE_INPUT
from relay.families.requests.contents import Contents


def build_call(
    document: Mapping[str, Any],
    raw: bytes,
    contents: Contents,
    *,
    model: str,
    is_stream: bool,
    amounts: frozenset[str] = frozenset(),
    **more: Any,
) -> AskedCall:
    """Builds the call from its conversation; `more` are the dialect's own fields."""
    bound = bounds.text_tokens(len(raw) - contents.inline_bytes, has_tools=bool(document.get("tools")))
    return AskedCall(
        model=model,
        is_stream=is_stream,
        input_bound=bound,
        input_estimate=bounds.likely(bound, contents.pictures + len(contents.files)),
        pictures_in=contents.pictures,
        file_path=strict_json.path(contents.files[0]) if contents.files else "",
        amounts=amounts | _seen_and_heard(contents, has_tools=bool(more.get("tools"))),
        **more,
    )


def _seen_and_heard(contents: Contents, *, has_tools: bool) -> frozenset[str]:
    """Returns the amounts for content beside text: tools may find pictures, and any file may hold both sound and
    pictures."""
    if contents.files:
        return frozenset({IMAGE_INPUT, AUDIO_INPUT})
    return frozenset({IMAGE_INPUT} if contents.pictures or has_tools else ())


def amounts(fields: Iterable[RefusedField]) -> frozenset[str]:
    """Returns the price amounts that these fields use."""
    return frozenset(field.amount for field in fields if field.amount)


def smallest(*limits: int | None) -> int | None:
    """Returns the smallest of the given limits."""
    return min((limit for limit in limits if limit is not None), default=None)
