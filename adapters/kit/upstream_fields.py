"""The fields of a protocol's requests, and what each can do to the cost: the words in which an adapter lists them.

The core judges by such a list what a caller gives in `extra_body` or `provider_options` (adapters/fields.py).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal


class FieldKind(StrEnum):
    """What a field can do. OPERATOR: it changes the cost in ways that the price table does not know, or weakens the
    provider's safety checks, or names objects of the operator's account; so is every field that is not listed."""

    NEUTRAL = "neutral"  # it cannot change the cost
    PRICED = "priced"  # it changes count, size, duration or tier, and its final value is what is billed
    OPERATOR = "operator"  # it passes only where the channel model names it in `extra_fields`
    FORBIDDEN = "forbidden"  # it never passes


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamField:
    """One field by its path: names with dots between them, `[]` for the elements of a list (`tools[].type`). Settings
    have the name of the protocol's settings object first, however callers may give them.

    It covers all that lies below it but what is listed there. `values` are those that have the kind, none for all;
    every other value is `otherwise`. `derived`: the adapter makes it from portable fields. `replaces`: the portable
    input for which it stands when a caller gives it, and as which it is checked; `messages` is prompt and images in
    one, of which `parts` tells the texts and pictures (adapters/kit/replaced_inputs.py).
    `legal` says of a value in words what a legal one is, None of a legal one. `source` is who tells of it.
    """

    path: str
    kind: FieldKind
    source: str
    values: tuple[Any, ...] = ()
    otherwise: FieldKind = FieldKind.OPERATOR
    derived: bool = False
    replaces: Literal["", "prompt", "images", "messages", "image_size", "aspect_ratio"] = ""
    parts: Callable[[str, Any], Iterator[Any]] | None = None
    legal: Callable[[Any], str | None] | None = None
    most: int = 0  # pictures, of what replaces `images` or `messages`


def neutral(source: str, *paths: str, **more: Any) -> tuple[UpstreamField, ...]:
    return _listed(FieldKind.NEUTRAL, source, paths, more)


def priced(source: str, *paths: str, **more: Any) -> tuple[UpstreamField, ...]:
    """Those that the adapter reads again from the final request, to bill them."""
    return _listed(FieldKind.PRICED, source, paths, {"derived": True, **more})


def operators(source: str, *paths: str, **more: Any) -> tuple[UpstreamField, ...]:
    return _listed(FieldKind.OPERATOR, source, paths, more)


def forbidden(source: str, *paths: str, **more: Any) -> tuple[UpstreamField, ...]:
    return _listed(FieldKind.FORBIDDEN, source, paths, more)


def _listed(kind: FieldKind, source: str, paths: tuple[str, ...], more: dict[str, Any]) -> tuple[UpstreamField, ...]:
    return tuple(UpstreamField(path=path, kind=kind, source=source, **more) for path in paths)


OURS = "the service's own"
CALLS = ("webhook", "webhook_url", "callback_url")
OUR_CALLS = forbidden(OURS, *CALLS)
"""Where a provider would tell of a result: to us alone, if at all."""
