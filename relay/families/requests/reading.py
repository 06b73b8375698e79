"""What the requests of all dialects are read with: what they may use and hold at most."""

from collections.abc import Mapping
from typing import Any

from common import strict_json
from relay.families import bounds
from relay.families.base import AskedCall
from relay.families.requests.contents import Contents


def asked(
    document: Mapping[str, Any],
    raw: bytes,
    contents: Contents,
    *,
    model: str,
    is_stream: bool,
    passes: int = 1,
    choices: int = 1,
    **more: Any,
) -> AskedCall:
    """The call with what its conversation holds. The provider may read it in so many `passes`, and write as many
    answers; `more` are the dialect's own fields of it."""
    bound = bounds.text_tokens(len(raw) - contents.inline_bytes, has_tools=bool(document.get("tools")))
    return AskedCall(
        model=model,
        is_stream=is_stream,
        input_bound=passes * bound,
        input_estimate=bounds.likely(bound, contents.pictures + len(contents.files)),
        pictures_in=passes * contents.pictures,
        file_path=strict_json.path(contents.files[0]) if contents.files else "",
        choices=max(passes, choices),
        **more,
    )


def larger(*limits: int | None) -> int | None:
    """The largest of the limits that are there: any of them may be honoured."""
    return max((limit for limit in limits if limit is not None), default=None)
