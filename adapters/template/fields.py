"""The upstream fields of a described provider, by what they can do to the cost. Pure.

The places of the body say what is derived from it: counts, sizes, lengths and sound are priced, the rest is neutral. A
constant stays as the operator wrote it. Of the options those are neutral that the template says are; all other fields
are the operator's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.kit.upstream_fields import FieldKind, UpstreamField, forbidden, neutral, operators
from adapters.template import fill, legal
from adapters.template.extra_body import PRICED, RESERVED, letters
from adapters.template.form import Template
from adapters.template.places import Place, leaves

TOLD = "the template"
BILLED = {"n", "image_size", *fill.SIZES, "duration", "resolution", "generate_audio"}
# What providers call a length, sound, quality or a safety check, in small letters alone; and envelopes of other fields.
BILLED_NAMES = PRICED | frozenset(
    {"seconds", "duration", "durationseconds", "numseconds", "videolength", "numframes", "frames", "fps"}
    | {"framespersecond", "numvideos", "numberofvideos", "videosize", "videoresolution", "generateaudio", "audio"}
    | {"sound", "generatesound"}
)
NEVER_NEUTRAL = BILLED_NAMES | frozenset(
    {"quality", "mode", "style", "draft", "servicetier", "priority", "tools", "provider"}
    | {"metadata", "extrabody", "extrafields", "extraparams", "extinfo"}
)


def fields_of(template: Template) -> tuple[UpstreamField, ...]:
    found = {field.path: field for field in (*_options(template), *_body(template))}
    found |= {field.path: field for field in forbidden(TOLD, *RESERVED) if field.path not in template.options}
    return tuple(found.values())


def neutrals(template: Template) -> Mapping[str, list[Any]]:
    """The options that the template says are neutral, each with the values that are; none for all."""
    declared = template.document.get("neutral") or {}
    return declared if isinstance(declared, Mapping) else {name: [] for name in declared}


def _options(template: Template) -> Iterator[UpstreamField]:
    """By the name of the option, and by its place, where a whole object may be given."""
    harmless = neutrals(template)
    for name, place in template.options.items():
        paths = dict.fromkeys((name, place))
        if name in harmless:
            yield from neutral(TOLD, *paths, values=tuple(harmless[name]))
        else:
            yield from operators(TOLD, *paths)


def _body(template: Template) -> Iterator[UpstreamField]:
    body = template.part("submit").get("body")
    for place, leaf in leaves(body) if body else ():
        yield _place(place, leaf, template)


def _place(place: Place, leaf: Any, template: Template) -> UpstreamField:
    path, names = path_of(place), fill.used(leaf)
    rule = legal.rule_of(place, leaf, template)
    if names & BILLED:
        choice: Any = legal.choice_of(leaf, template)
        return UpstreamField(path=path, kind=FieldKind.PRICED, source=TOLD, derived=True, replaces=choice, legal=rule)
    if "model" in names or names & {"image", "images"}:  # pictures are given as pictures, and checked as such
        return UpstreamField(path=path, kind=FieldKind.FORBIDDEN, source=TOLD, derived=True)
    if names:
        replaces: Any = "prompt" if "prompt" in names else legal.choice_of(leaf, template)
        return UpstreamField(
            path=path, kind=FieldKind.NEUTRAL, source=TOLD, derived=True, replaces=replaces, legal=rule
        )
    values = () if isinstance(leaf, Mapping | list) else (leaf,)
    kind = FieldKind.NEUTRAL if values else FieldKind.FORBIDDEN
    return UpstreamField(path=path, kind=kind, source=TOLD, values=values, otherwise=FieldKind.FORBIDDEN, derived=True)


def path_of(place: Place) -> str:
    steps = ("[]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def is_billed_name(name: str) -> bool:
    """Whether providers call count, size, length or sound so."""
    return letters(name) in BILLED_NAMES
