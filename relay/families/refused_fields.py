"""Finds fields that a request may not use: their cost is beyond the price table, or they name objects of the operator's
account.

Each has the name that an operator lists in `extra_fields`, and its path in the request.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from common.strict_json import Trail
from common.strict_json import path as path_of
from relay.families.base import RefusedField

COSTS = "may cost more than the prices of this model cover"
FOREIGN = "names an object of the operator's account with the provider"
TIERS = ("auto", "default", "standard_only", "flex")
USUAL_CACHE = "30m"
AUDIO_INPUT, AUDIO_OUTPUT, LONG_CACHE = "audio_input", "audio_output", "cache_write_1h"
IMAGE_INPUT = "image_input"
UNSOLD = {
    AUDIO_INPUT: "is sound, which has no price (audio_input) for this model",
    AUDIO_OUTPUT: "asks for sound, which has no price (audio_output) for this model",
    LONG_CACHE: "asks for a cache longer than five minutes, which has no price (cache_write_1h) for this model",
}


def is_set(value: Any) -> bool:
    """Tells whether a field is set. An empty object is: `web_search_options: {}` requests a search."""
    return not (value is None or value is False or value == [])


def find_set(document: Mapping[str, Any], names: Collection[str], reason: str) -> Iterator[RefusedField]:
    """Returns the top-level fields of these names that are set."""
    for name in names:
        if is_set(document.get(name)):
            yield RefusedField(name=name, path=name, reason=reason, value=document[name])


def beyond(
    document: Mapping[str, Any], name: str, usual: Collection[Any], *, only_by_piece: bool = False
) -> Iterator[RefusedField]:
    """Returns the field if it differs from the usual value."""
    if document.get(name) is not None and document[name] not in usual:
        yield RefusedField(name=name, path=name, reason=COSTS, only_by_piece=only_by_piece)


def kinds_of_output(value: Any, trail: Trail, usual: Collection[str]) -> Iterator[RefusedField]:
    """Returns the field that names output modalities, as a list or a single one, if it names unusual ones."""
    listed = value if isinstance(value, list) else [] if value is None else [value]
    kinds = {str(kind).strip().upper() for kind in listed}
    if any("AUDIO" in kind for kind in kinds):
        yield from refuse_unpriced([trail], AUDIO_OUTPUT)
    elif not kinds <= set(usual):
        yield RefusedField(name=str(trail[-1]), path=path_of(trail), reason=COSTS)


def cache_options(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Finds OpenAI cache settings that last longer than usual."""
    name, key = "prompt_cache_options", "ttl"
    options = document.get(name)
    if isinstance(options, dict) and options.get(key) not in (None, USUAL_CACHE):
        yield RefusedField(name=name, path=f"{name}.{key}", reason=COSTS)


def refuse_costly(trails: Iterable[Trail]) -> Iterator[RefusedField]:
    """Refuses the fields at these paths, which no price covers."""
    for trail in trails:
        yield RefusedField(name=str(trail[-1]), path=path_of(trail), reason=COSTS)


def refuse_unpriced(trails: Iterable[Trail], amount: str) -> Iterator[RefusedField]:
    """Refuses the fields at these paths, which use an amount that not every price has."""
    for trail in trails:
        name = next(step for step in reversed(trail) if isinstance(step, str))
        path = path_of((*trail, "ttl") if amount == LONG_CACHE else trail)
        yield RefusedField(name=name, path=path, reason=UNSOLD[amount], amount=amount)


def refuse_foreign(trails: Iterable[Trail]) -> Iterator[RefusedField]:
    """Refuses the fields at these paths, which name objects of the operator's account."""
    for trail in trails:
        yield RefusedField(name=str(trail[-1]), path=path_of(trail), reason=FOREIGN)
