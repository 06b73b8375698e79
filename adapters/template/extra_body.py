"""Where `extra_body` goes in a described request, what it may not touch, and what the final request buys. Pure.

Options that the template lists go to their places; everything else goes shallowly into the root of the body, where it
wins. The places of the template's own constants and of the model's name stay as they are, and the places of `{n}` and
of the size are read again from the body as it goes out.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from adapters.base import TaskRequest, Unsupported
from adapters.kit import checks
from adapters.kit.checks import FinalCount
from adapters.kit.settings import EXTRA_BODY
from adapters.kit.sizes import SizeTable, tier_of
from adapters.template import fill, legal
from adapters.template.form import Template
from adapters.template.places import ABSENT, Place, at, field_of, leaves, names, put

RESERVED = ("model", "version", "stream", "webhook", "webhook_url", "callback_url")
# What providers call the count and the size, in small letters alone. Where the template does not fill such a field,
# nobody could bill it.
PRICED = frozenset(
    {"n", "num", "numimages", "numberofimages", "numoutputs", "numresults", "numsamples", "batch", "batchsize", "count"}
    | {
        "quantity",
        "imagecount",
        "samples",
        "samplecount",
        "outputcount",
        "maximages",
        "maxoutputs",
        "size",
        "imagesize",
    }
    | {"width", "height", "resolution", "outputresolution", "resolutiontier", "megapixels", "dimensions"}
)
SIZE_NAMES = ("image_size", *fill.SIZES)


def at_root(request: TaskRequest, template: Template) -> dict[str, Any]:
    """The part of `extra_body` that is no listed option."""
    return {name: value for name, value in request.extra_body.items() if name not in template.options}


def merged(derived: Mapping[str, Any], request: TaskRequest, template: Template) -> dict[str, Any]:
    """The body as it goes out. For what `problems` passes."""
    body = {**derived, **deepcopy(at_root(request, template))}
    for name in request.extra_body.keys() & template.options.keys():
        put(body, template.options[name], request.extra_body[name])
    return body


def problems(
    request: TaskRequest, template: Template, known: Mapping[str, Any], opened: Collection[str]
) -> Iterator[Unsupported]:
    """What would buy something else than what is billed, or would be dropped. `known` is what fills the template;
    `opened` are the fields that the operator lets pass."""
    root, body = at_root(request, template), template.part("submit").get("body")
    if not body:
        yield from (Unsupported(field=f"{EXTRA_BODY}.{name}", reason="is not an option here") for name in root)
        return
    yield from checks.reserved(EXTRA_BODY, root, RESERVED)
    yield from legal.misshapen(root, body, opened)
    for place, text in leaves(body):
        if place[0] in root and _is_kept(text) and at(root, place) not in (fill.present(text, known) or (ABSENT,)):
            yield Unsupported(field=field_of(place), reason="cannot be set by the caller")
    yield from _unbilled(root, template)
    yield from _options(request.extra_body, root, template)


def final_count(request: TaskRequest, template: Template) -> FinalCount:
    """How many images the body asks for: the most of its places of `{n}`, or the first of them that has no number."""
    root = at_root(request, template)
    places = [(place, text) for place, text in _leaves(template) if "n" in fill.used(text)]
    given = [
        FinalCount(field=field_of(place), value=_count(root, place, text, template))
        for place, text in places
        if place[0] in root
    ]
    if odd := [final for final in given if type(final.value) is not int]:
        return odd[0]
    derived = [FinalCount(field="params.n", value=request.n)] if len(given) < max(len(places), 1) else []
    return max([*given, *derived], key=lambda final: final.value)


def _count(root: Mapping[str, Any], place: Place, text: str, template: Template) -> Any:
    """What is asked for in one place of `{n}`; None where that cannot be told."""
    value = _value(root, place, text, "n", template)
    is_word = isinstance(value, str) and value.isdecimal() and value in template.part("maps").get("n", {})
    return None if value is ABSENT else int(value) if is_word else value


def is_size_given(request: TaskRequest, template: Template) -> bool:
    """Whether `extra_body` stands for the tier."""
    root = at_root(request, template)
    used = (fill.used(text) for place, text in _leaves(template) if place[0] in root)
    return any(found & set(SIZE_NAMES) for found in used)


def final_tier(body: Mapping[str, Any], template: Template, table: SizeTable) -> str | None:
    """The tier of a body whose size `extra_body` gives; None where it names none, or two."""
    found: dict[str, Any] = {}
    for place, text in _leaves(template):
        for name in fill.used(text) & set(SIZE_NAMES):
            value = _value(body, place, text, name, template)
            if found.setdefault(name, value) != value:
                return None
    pairs = [f"{found['width']}x{found['height']}"] if {"width", "height"} <= found.keys() else []
    sizes = [*pairs, *([found["size"]] if "size" in found else [])]
    tiers = {tier_of(size, table) for size in sizes}
    if "image_size" in found:
        tiers.add(found["image_size"] if isinstance(found["image_size"], str) else None)
    return tiers.pop() if len(tiers) == 1 else None


def _leaves(template: Template) -> Iterator[tuple[Place, Any]]:
    body = template.part("submit").get("body")
    return leaves(body) if body else iter(())


def letters(name: str | int) -> str:
    """A name without case and signs."""
    return re.sub("[^a-z0-9]", "", str(name).lower())


def _is_kept(leaf: Any) -> bool:
    """Whether a leaf is a constant, or holds the model's name."""
    return not fill.used(leaf) or "model" in fill.used(leaf)


def _value(body: Any, place: Place, text: str, name: str, template: Template) -> Any:
    """What a body has in the place of a placeholder, in our own words; ABSENT where that cannot be told."""
    value = at(body, place) if text == f"{{{name}}}" else ABSENT
    translation = template.part("maps").get(name, {})
    return next((ours for ours, theirs in translation.items() if theirs == value), value)


def _unbilled(root: Mapping[str, Any], template: Template) -> Iterator[Unsupported]:
    """Counts and sizes outside of the places that are read again, or cannot be changed."""
    told = [place for place, text in _leaves(template) if _is_kept(text) or fill.used(text) & {"n", *SIZE_NAMES}]
    listed = [tuple(path.split(".")) for path in template.options.values()]
    billed = {place[:length] for place in [*told, *listed] for length in range(1, len(place) + 1)}
    for place in names(root):
        if letters(place[-1]) in PRICED and place not in billed:
            yield Unsupported(field=field_of(place), reason="cannot be billed here")


def _options(extra_body: Mapping[str, Any], root: Mapping[str, Any], template: Template) -> Iterator[Unsupported]:
    """A listed option needs an object to go into, and may not be given there with another value."""
    for name in extra_body.keys() & template.options.keys():
        place = tuple(template.options[name].split("."))
        around = [at(root, place[:length]) for length in range(1, len(place))]
        if any(value is not ABSENT and not isinstance(value, dict) for value in around):
            yield Unsupported(field=field_of(place[:1]), reason="must be an object")
        elif at(root, place) not in (ABSENT, extra_body[name]):
            reason = f"has another value inside {place[0]}"
            yield Unsupported(field=f"{EXTRA_BODY}.{name}", reason=reason)
