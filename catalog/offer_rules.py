"""The rules of what a group of general keys is offered: prices of tokens, of pictures and of tools by pattern.

As in `validation`, each takes an untyped value and returns it as it is stored, or raises `fields.Invalid`.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from catalog import picture_prices, validation
from catalog.fields import FieldReader, Invalid, integer, mapped, whole
from catalog.token_prices import AMOUNTS, COUNTS, SOLD_APART

LONGEST_PATTERN = 300
QUALITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def token_prices(value: object) -> dict[str, dict[str, Any]]:
    """USD per million tokens by model pattern, with counts of tokens, and what long contexts cost."""
    return validation.named(partial(whole, read=_token_price), limit=LONGEST_PATTERN)(value)


def _token_price(fields: FieldReader) -> dict[str, Any]:
    found: dict[str, Any] = {name: fields.need(name, validation.price) for name in ("input", "output")}
    for part in AMOUNTS:
        if part not in found:
            found[part] = fields.take(part, validation.price, None)
    for count in COUNTS:
        found[count] = fields.take(count, integer(1), None)
    given = {name: amount for name, amount in found.items() if amount is not None}
    rule = partial(whole, read=partial(_long_context, usual=None if fields.problems else given))
    return given | _long(fields.take("long_context", rule, None))


def _long(found: dict[str, Any] | None) -> dict[str, Any]:
    return {"long_context": found} if found else {}


def _long_context(fields: FieldReader, *, usual: Mapping[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = {"above": fields.need("above", integer(1))}
    amounts = {name: fields.take(name, partial(_not_cheaper, name=name, usual=usual), None) for name in AMOUNTS}
    found |= {name: amount for name, amount in amounts.items() if amount is not None}
    if found.keys() == {"above"} and not fields.problems:
        fields.problems.append((fields.path, "must name a price, such as input"))
    return found


def _not_cheaper(value: object, *, name: str, usual: Mapping[str, Any] | None) -> str:
    """A price of long contexts: not below the usual one, where that one is known."""
    found = validation.price(value)
    if usual is None:
        return found
    if name in SOLD_APART and name not in usual:
        raise Invalid(f"needs the usual {name} beside it")
    least = usual.get(name) or usual.get("output" if name.endswith("output") else "input") or "0"
    if Decimal(found) < Decimal(least):
        raise Invalid(f"must not be below the usual {least}")
    return found


def _size(value: str) -> None:
    if value != picture_prices.ANY and not picture_prices.SIZE.fullmatch(value):
        raise Invalid('is no size: give WIDTHxHEIGHT, such as 1024x1024, or "*" for any')


def _quality(value: str) -> None:
    if value in picture_prices.AUTO or not QUALITY.fullmatch(value):
        raise Invalid("is no quality: give a word as the provider has it; auto costs the dearest")


def _by(check: Callable[[str], None], rule: Callable[[Any], Any], value: object) -> Any:
    """One amount, or a mapping of checked names to what follows the rule; not empty."""
    if not isinstance(value, Mapping):
        return validation.price(value)
    mapped(check)({name: name for name in value})
    if not value:
        raise Invalid("must not be empty")
    return mapped(rule)(value)


picture_price = partial(_by, _size, partial(_by, _quality, validation.price))
image_prices = validation.named(picture_price, limit=LONGEST_PATTERN)
tool_prices = validation.named(validation.price)

extra_betas = validation.different(validation.name)
"""Values of `anthropic-beta`."""
