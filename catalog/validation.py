"""The rules of what the catalog may hold. The catalog file and the admin ask the same functions.

Each takes an untyped value and returns it as it is stored, or raises `fields.Invalid` with all reasons.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from adapters import expression, registry
from adapters.base import Target
from adapters.kit import field_table
from billing import modes
from catalog import secret_text
from catalog.fields import Invalid, Problem, each, mapped, one_of
from common import modalities, urls

PLATFORMS = ("openai", "anthropic", "gemini")
DIALECTS = ("chat", "responses", "messages", "generate_content")
PLACES = ("capabilities", "extra_fields", "fixed", "options", "base_url")
OFFERED = PLACES[:3]
"""The first step of what an adapter complains of; those in OFFERED are the channel model's."""
LARGEST_PRICE = 100_000  # times the largest multiplier and 86,400 seconds it still fits a 64-bit column
LARGEST_MULTIPLIER = 1_000


def text(limit: int = 200) -> Callable[[Any], str]:
    """The rule for a line of text: not empty, no control characters, no blanks around it."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise Invalid("must be text: put it in quotes")
        if not value or value != value.strip():
            raise Invalid("must not be empty nor begin or end with a blank")
        if len(value) > limit:
            raise Invalid(f"must have at most {limit} characters")
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
            raise Invalid("must not contain control characters")
        return str(value)

    return read


name = text()


def decimal(*, maximum: int, places: int) -> Callable[[Any], Decimal]:
    """The rule for a number of at least 0, taken exactly as it was written."""

    def read(value: object) -> Decimal:
        try:
            number = Decimal("nan" if isinstance(value, bool) else str(value))
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite():
            raise Invalid("must be a number")
        if not 0 <= number <= maximum:
            raise Invalid(f"must be between 0 and {maximum}")
        if number != round(number, places):
            raise Invalid(f"must have at most {places} decimals")
        return abs(number)

    return read


multiplier = decimal(maximum=LARGEST_MULTIPLIER, places=6)


def price(value: object) -> str:
    """USD, stored as plain decimal text so that it stays exact."""
    number = decimal(maximum=LARGEST_PRICE, places=12)(value)
    return format(number.normalize(), "f")


costs = mapped(price)


def prices(value: object, *, mode: str) -> dict[str, str]:
    """Prices by tier, as the mode takes them; by any tier where the mode itself was refused."""
    accepted = costs(value)
    found = modes.find(mode)
    if found and (problems := found.refusals(accepted)):
        raise Invalid(problems=problems)
    return accepted


def pricing_mode(value: object, *, modality: str) -> str:
    if modes.find(value) is None:
        raise Invalid(f"must be one of {', '.join(modes.BY_NAME)}")
    priced = modalities.BY_NAME.get(modality)
    if priced is not None and value not in priced.pricing_modes:
        raise Invalid(f"does not fit a model of modality {modality}: choose {' or '.join(priced.pricing_modes)}")
    return str(value)


def base_url(value: object) -> str:
    """An http(s) URL without user, query and fragment; stored without a slash at its end."""
    try:
        return urls.base_url(text(500)(value))
    except ValueError as error:
        raise Invalid(str(error)) from None


def json_object(value: object) -> dict[str, Any]:
    """A mapping that every database stores unchanged."""
    if not isinstance(value, Mapping):
        raise Invalid("must be a mapping")
    problems = _json_problems(value, "", depth=0)
    if problems:
        raise Invalid(problems=problems)
    return dict(value)


def _json_problems(value: object, path: str, *, depth: int) -> list[Problem]:
    if depth > 32:
        return [(path, "is nested too deeply")]
    if isinstance(value, Mapping):
        odd = [(path, f"key {key!r} must be text") for key in value if not isinstance(key, str) or not _storable(key)]
        inner = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        odd, inner = [], [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    else:
        return [] if _is_json_scalar(value) else [(path, "is no JSON value")]
    return odd + [problem for where, item in inner for problem in _json_problems(item, where, depth=depth + 1)]


def _is_json_scalar(value: object) -> bool:
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) < 2**63)


def _storable(string: str) -> bool:
    return not any(character == "\0" or unicodedata.category(character) == "Cs" for character in string)


def field_path(value: object) -> str:
    """The path of an upstream field: `quality`, `svg.model`, `tools[].type`."""
    path = text()(value)
    try:
        field_table.steps_of(path)
    except ValueError as error:
        raise Invalid(str(error)) from None
    return path


def different(rule: Callable[[Any], str]) -> Callable[[Any], list[str]]:
    """The rule for a list of different texts."""

    def read(value: object) -> list[str]:
        found = each(rule)(value)
        if twice := [(f"[{index}]", "is there twice") for index, item in enumerate(found) if item in found[:index]]:
            raise Invalid(problems=twice)
        return found

    return read


extra_fields = different(field_path)


def credentials(value: object) -> dict[str, str]:
    """Texts by name; the reasons never repeat a value."""
    return mapped(secret_text.read)(value)


dialects = each(one_of(*DIALECTS))


def named(rule: Callable[[Any], Any], *, limit: int = 200) -> Callable[[Any], dict[str, Any]]:
    """The rule for a mapping whose names are lines of text, too."""

    def read(value: object) -> dict[str, Any]:
        accepted = mapped(rule)(value)
        mapped(text(limit))({each_name: each_name for each_name in accepted})
        return accepted

    return read


upstream_models = named(name)


def adapter(value: object) -> str:
    if not isinstance(value, str) or registry.get(value) is None:
        raise Invalid(f"no such adapter is registered; there are {', '.join(sorted(registry.ADAPTERS)) or 'none'}")
    return str(value)


UNUSED = "is of no use to this adapter: leave it out"


def unused_by(adapter: str, settings: Mapping[str, Any]) -> list[str]:
    """Those of a channel's settings that are set, though the adapter, which runs no tasks, heeds none."""
    chosen = registry.get(adapter)
    if chosen is None or chosen.modalities:
        return []
    return [name for name, given in settings.items() if given]


def target(value: Target, *, modality: str) -> None:
    """Whether the adapter serves the modality, and what it says to options and capabilities."""
    chosen = registry.get(value.adapter)
    if chosen is None:
        return
    if not chosen.modalities:
        raise Invalid(f"adapter {value.adapter} serves groups of general keys, and runs no models")
    if modality not in chosen.modalities:
        raise Invalid(f"adapter {value.adapter} runs {' and '.join(sorted(chosen.modalities))} models, not {modality}")
    if complaints := expression.complaints(chosen, value):
        raise Invalid(problems=[_placed(complaint) for complaint in complaints])


def _placed(complaint: str) -> Problem:
    """Adapters begin a complaint with the path of what they complain of."""
    path, colon, reason = complaint.partition(": ")
    return (path, reason) if colon and path.startswith(PLACES) else ("", complaint)
