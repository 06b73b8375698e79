"""Requests of `http_template`: whether a template can express one. Pure; `template/bodies.py` makes what is sent.

A field is expressed by a placeholder of the body, or by a capability that lists nothing but the value asked for: then
the model makes nothing else. What is neither is refused.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Target, TaskRequest, Unsupported
from adapters.kit import checks, film_checks, references
from adapters.template import extra_body, fill
from adapters.template.bodies import mapped, size_table, word
from adapters.template.fields import is_billed_name, neutrals
from adapters.template.fill import ALL_OF_ROLE, ONE_OF_ROLE, SIZES, size_of, tier_of_request
from adapters.template.form import BadTemplate, Template, of_target
from adapters.template.places import leaves
from common import strict_json

MAX_N = 10
MAX_IMAGES = 16
# Field of the request: the placeholders that express it, and the capability that can fix it.
EXPRESSED = {
    "image": {
        "prompt": (("prompt",), ""),
        "image_size": (("image_size", *SIZES), "tiers"),
        "aspect_ratio": (("aspect_ratio", *SIZES), "ratios"),
    },
    "video": {
        "prompt": (("prompt",), ""),
        "duration": (("duration",), "durations"),
        "resolution": (("resolution", *SIZES), "resolutions"),
        "aspect_ratio": (("aspect_ratio", *SIZES), "ratios"),
    },
}


def problems(request: TaskRequest, target: Target) -> list[Unsupported]:
    """Why the template, or the model behind it, cannot express the request; of each field what the capabilities say,
    as it says most."""
    found = {problem.field: problem for problem in reversed([*_problems(request, target)])}
    return [*found.values()][::-1]


def _problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    try:
        template = of_target(target)
    except (BadTemplate, LookupError, TypeError):
        yield Unsupported(field="params", reason="cannot be expressed: the description of this provider is not usable")
        return
    if request.modality not in template.modalities:
        yield Unsupported(field="modality", reason=f"makes {' and '.join(template.modalities)} only")
        return
    names = fill.used(template.part("submit").get("body"))
    yield from (_image if request.modality == "image" else _video)(request, target.capabilities, template, names)
    yield from _unexpressed(request, target.capabilities, names)
    if request.modality != "image" or not extra_body.is_size_given(request, template):
        yield from _size(request, target.capabilities, names)
    yield from _unmapped(request, target, template, names)
    yield from (_extra_body if request.modality == "image" else _options)(request, target, template)
    yield from _scalars("params.extra_body", request.extra_body, template)
    yield from _scalars("params.provider_options", request.provider_options, template)


def _image(
    request: TaskRequest, capabilities: Mapping[str, Any], template: Template, names: frozenset[str]
) -> Iterator[Unsupported]:
    can_many = "n" in names or template.document.get("fan_out", False)
    most = MAX_IMAGES if "images" in names else int("image" in names)
    max_n, count = MAX_N if can_many else 1, extra_body.final_count(request, template)
    yield from checks.images(request, capabilities, max_n=max_n, max_images=most, types=references.TYPES, count=count)
    if request.image_size is not None:
        yield from checks.listed("params.image_size", request.image_size, capabilities.get("tiers"))
    if request.aspect_ratio is not None:
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, capabilities.get("ratios"))


def _video(
    request: TaskRequest, capabilities: Mapping[str, Any], template: Template, names: frozenset[str]
) -> Iterator[Unsupported]:
    yield from film_checks.video(request, capabilities)
    is_chosen = request.generate_audio is not None and capabilities.get("audio", "switch") == "switch"
    if is_chosen and "generate_audio" not in names:
        yield Unsupported(field="params.generate_audio", reason="cannot be chosen here")
    seen: Counter[str] = Counter()
    for index, item in enumerate(request.inputs):
        role = film_checks.role_of(item)
        seen[role] += 1
        if seen[role] > _limit(role, names):
            reason = f"at most {_limit(role, names)} of {role} here"
            yield Unsupported(field=f"params.inputs[{index}].role", reason=reason)


def _limit(role: str, names: frozenset[str]) -> int:
    if any(name in names for name, listed in ALL_OF_ROLE.items() if listed == role):
        return MAX_IMAGES
    return int(any(name in names for name, single in ONE_OF_ROLE.items() if single == role))


def _unexpressed(request: TaskRequest, capabilities: Mapping[str, Any], names: frozenset[str]) -> Iterator[Unsupported]:
    for field, (placeholders, capability) in EXPRESSED[request.modality].items():
        value = getattr(request, field)
        is_fixed = capabilities.get(capability) == [value]
        if value is not None and not is_fixed and not names.intersection(placeholders):
            yield Unsupported(field=f"params.{field}", reason="cannot be chosen here")


def _size(request: TaskRequest, capabilities: Mapping[str, Any], names: frozenset[str]) -> Iterator[Unsupported]:
    """Where pixels are sent, the size table must have them."""
    if not names.intersection(SIZES):
        return
    table, tiers = size_table(capabilities), capabilities.get("tiers")
    field = "image_size" if request.modality == "image" else "resolution"
    tier = tier_of_request(request, table, tiers)
    if tier is None and request.aspect_ratio is None:
        return
    if tier is None or tier not in table:
        yield Unsupported(field=f"params.{field}", reason=f"{tier or request.aspect_ratio} has no pixel size here")
    elif size_of(request, table, tiers) is None:
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio or "1:1", list(table[tier]))


def _unmapped(request: TaskRequest, target: Target, template: Template, names: frozenset[str]) -> Iterator[Unsupported]:
    """A map has all the values that can be sent."""
    for name, translation in template.part("maps").items():
        value = getattr(request, name, None)
        if name in names and value is not None and word(value) not in translation:
            yield from checks.listed(f"params.{name}", word(value), list(translation))


def _extra_body(request: TaskRequest, target: Target, template: Template) -> Iterator[Unsupported]:
    yield from extra_body.problems(request, template, mapped(request, target, template), target.extra_fields)


def _options(request: TaskRequest, target: Target, template: Template) -> Iterator[Unsupported]:
    """Listed ones; and others that the operator names, unless they would buy something else."""
    for name in request.provider_options.keys() - template.options.keys():
        field = strict_json.field("params.provider_options", name)
        if not film_checks.is_named(name, target):
            yield Unsupported(field=field, reason="is not an option here")
        elif is_billed_name(name) or _is_filled(template, template.place_of(name)):
            yield Unsupported(field=field, reason="is set by the service, or cannot be billed here")


def _scalars(place: str, options: Mapping[str, Any], template: Template) -> Iterator[Unsupported]:
    """Nobody has judged what could stand inside of a neutral option."""
    for name in neutrals(template).keys() & template.options.keys() & options.keys():
        if isinstance(options[name], Mapping | list):
            yield Unsupported(field=f"{place}.{name}", reason="must be text, a number or a boolean")


def _is_filled(template: Template, path: str) -> bool:
    """Whether the template's body, or an option of it, has something there."""
    body, own = template.part("submit").get("body") or {}, tuple(path.split("."))
    listed = (tuple(place.split(".")) for place in template.options.values())
    return any(
        own[: len(place)] == place[: len(own)] for place in (*(place for place, _ in leaves(body)), *listed) if place
    )
