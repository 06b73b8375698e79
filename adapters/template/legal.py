"""What the sizes, ratios and objects of a described body may be where a caller gives them. Pure.

The template says no more of a field than what it puts there: pixels, a tier or a ratio, or the words of its maps.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from adapters.base import Unsupported
from adapters.kit import rules
from adapters.kit.field_table import is_same
from adapters.kit.rules import Rule
from adapters.kit.settings import EXTRA_BODY
from adapters.kit.sizes import RATIO, SIZE, TIER
from adapters.template import fill
from adapters.template.form import Template
from adapters.template.places import ABSENT, Place, at, field_of, leaves

SIDE = re.compile("[1-9][0-9]{0,4}")
FORMS = {"size": SIZE, "width": SIDE, "height": SIDE, "image_size": TIER, "aspect_ratio": RATIO}
SAMPLES = {"size": "1024x1024", "width": "1024", "height": "1024", "image_size": "1K", "aspect_ratio": "16:9"}
A_SIDE = rules.rule(lambda value: rules.is_whole(value, 1) and value < 100_000, "a whole number of pixels", "whole")


def rule_of(place: Place, text: Any, template: Template) -> Rule | None:
    """What may stand in the place of a text of the body; None where the template does not tell."""
    names = fill.used(text)
    if not names or not names <= FORMS.keys():
        return None
    rule = _rule(text, template)
    return _each(rule) if isinstance(place[-1], int) else rule


def choice_of(text: str, template: Template) -> str:
    """The portable choice of which the text is a copy, in our own words; empty where it is none."""
    match = fill.PLACEHOLDER.fullmatch(text)
    name = match[1] if match else ""
    return name if name in ("image_size", "aspect_ratio") and not template.part("maps").get(name) else ""


def misshapen(root: Mapping[str, Any], body: Any, opened: Collection[str]) -> Iterator[Unsupported]:
    """What `extra_body` gives in the place of an object or a list of the body and is none, or is half a size. In those
    that the operator has `opened` more may stand than the template tells."""
    for place, wanted in dict.fromkeys(_around(root, body)):
        if field_of(place) not in {f"{EXTRA_BODY}.{path}" for path in opened}:
            yield Unsupported(field=field_of(place), reason=f"must be {wanted}", is_illegal=True)


def _rule(text: str, template: Template) -> Rule:
    whole = fill.PLACEHOLDER.fullmatch(text)
    name = whole[1] if whole else ""
    if translation := template.part("maps").get(name):
        words = [*translation.values()]
        return rules.rule(lambda value: any(is_same(value, word) for word in words), _one_of(words))
    if name in ("width", "height"):
        return A_SIDE
    parts = re.split(fill.PLACEHOLDER, text)  # texts, with a name after each but the last
    pattern = "".join(FORMS[part].pattern if index % 2 else re.escape(part) for index, part in enumerate(parts))
    sample = fill.PLACEHOLDER.sub(lambda match: SAMPLES[match[1]], text)
    form = re.compile(pattern)
    return rules.rule(lambda value: isinstance(value, str) and bool(form.fullmatch(value)), f"like {sample}", "text")


def _one_of(words: list[Any]) -> str:
    return f"one of {', '.join(map(str, words))}"


def _each(rule: Rule) -> Rule:
    return rules.rule(
        lambda value: isinstance(value, list) and bool(value) and all(map(rule.is_good, value)),
        f"a list; each must be {rule.wanted}",
    )


def _around(root: Mapping[str, Any], body: Any) -> Iterator[tuple[Place, str]]:
    """Where another kind of value stands, and what is wanted there."""
    for place, _ in leaves(body):
        for length in range(1, len(place)):
            given, is_list = at(root, place[:length]), isinstance(place[length], int)
            if given is not ABSENT and not isinstance(given, list if is_list else Mapping):
                yield place[:length], "a list" if is_list else "an object"
    for place, names in _sizes(body).items():
        given = at(root, place)
        missing = names - given.keys() if isinstance(given, Mapping) else set()
        if missing and (missing != names or set(at(body, place)) == names):
            yield place, f"an object with {' and '.join(sorted(names))}"


def _sizes(body: Any) -> dict[Place, set[str]]:
    """The objects inside of the body that have a width or a height, and under which names."""
    found: dict[Place, set[str]] = {}
    for place, text in leaves(body):
        if len(place) > 1 and isinstance(place[-1], str) and fill.used(text) & {"width", "height"}:
            found.setdefault(place[:-1], set()).add(place[-1])
    return found
