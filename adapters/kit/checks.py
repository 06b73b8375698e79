"""Checks of a request against a channel model's capabilities, shared by the adapters; those of films alone are in
`adapters/kit/film_checks.py`.

Each yields Unsupported with the field's path and a reason. A capability that is absent forbids nothing.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from adapters.base import ImageRef, TaskRequest, Unsupported
from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, by_area
from common import documents
from common.params import tables

MASK = "params.mask"
LONG = " characters long"
FIELDS = {
    "image": ("prompt", "n", "image_size", "aspect_ratio", "images", "extra_body"),
    "video": ("prompt", "duration", "resolution", "aspect_ratio", "generate_audio", "inputs", "provider_options"),
}


class FinalCount(NamedTuple):
    """How many images the final request asks for: where it says so, and what, before anybody has checked it; None where
    it leaves the number to the model."""

    field: str
    value: Any


def fields(modality: str, *more: str) -> dict[str, frozenset[str]]:
    """What an adapter declares that expresses the fields which `images` or `film_checks.video` judge, and these. Raises
    ValueError for a field that no table of `common/params` has."""
    names = frozenset((*FIELDS[modality], *more))
    if unknown := sorted(names - tables.known(modality)):
        raise ValueError(f"{modality} has no field {', '.join(unknown)}")
    return {modality: names}


def images(
    request: TaskRequest,
    capabilities: Mapping[str, Any],
    *,
    max_n: int,
    max_images: int,
    types: Sequence[str] = (),
    count: FinalCount | None = None,
) -> Iterator[Unsupported]:
    """Prompt, count, reference images and mask. `max_n` and `max_images` are the protocol's own limits, which
    capabilities can only narrow; `types` are the content types that it takes, none for all. `count` is needed where it
    is not `extra_body.n` or `n`."""
    yield from at_most("params.prompt", len(request.prompt), capabilities.get("prompt_max"), LONG)
    if count is None:
        given = request.extra_body
        count = FinalCount("params.extra_body.n", given["n"]) if "n" in given else FinalCount("params.n", request.n)
    yield from _count(count, min(capabilities.get("max_n", max_n), max_n))
    limit = min(capabilities.get("max_images", max_images), max_images)
    yield from at_most("params.images", len(request.images), limit)
    for index, image in enumerate(request.images):
        yield from _file(f"params.images[{index}].image_url", image, capabilities, types)
    if request.mask is not None:
        yield from _file(MASK, request.mask, capabilities, types)


def _count(final: FinalCount, limit: int) -> Iterator[Unsupported]:
    field, count = final
    if count is None:
        yield Unsupported(field=field, reason="is required here: without it models make different numbers of images")
    elif not isinstance(count, int) or isinstance(count, bool) or count < 1:
        yield Unsupported(field=field, reason="must be a whole number, 1 or more", is_illegal=True)
    else:
        yield from at_most(field, count, limit)


def _file(field: str, image: ImageRef, capabilities: Mapping[str, Any], types: Sequence[str]) -> Iterator[Unsupported]:
    """Bytes of ours must be taken, and of a type that is."""
    if image.stored is None:
        return
    if capabilities.get("data_url", True) is False:
        yield Unsupported(field=field, reason="must be an http or https URL here")
    elif types and image.stored.content_type not in types:
        names = ", ".join(name.removeprefix("image/").upper() for name in types)
        yield Unsupported(field=field, reason=f"must be one of {names} here")


def mask(request: TaskRequest, *, has_images: bool) -> Iterator[Unsupported]:
    """Of a request with a mask to a protocol that has a field `mask`: it must mean one of the images, and be given
    once."""
    if not has_images:
        yield Unsupported(field=MASK, reason="needs a reference image")
    if "mask" in request.extra_body:
        yield Unsupported(field="params.extra_body.mask", reason="cannot stand beside a mask that is a file")


def asked_tier(request: TaskRequest, capabilities: Mapping[str, Any], known: Callable[[], Sequence[str]]) -> str | None:
    """The tier asked for; with only a ratio the first of the capability `tiers`, else of those that the protocol knows,
    smallest first; None with neither."""
    if request.image_size is not None or request.aspect_ratio is None:
        return request.image_size
    tiers: Sequence[str] = capabilities.get("tiers") or known()
    return tiers[0]


def tabled(request: TaskRequest, capabilities: Mapping[str, Any], table: SizeTable) -> Iterator[Unsupported]:
    """Of a protocol that takes pixels: the tier and the ratio must have a size in the table."""
    tier = asked_tier(request, capabilities, partial(by_area, table))
    if tier is None or "size" in request.extra_body:
        return
    ratio = request.aspect_ratio or DEFAULT_RATIO
    problems = [
        *listed("params.image_size", tier, capabilities.get("tiers", list(table))),
        *listed("params.aspect_ratio", ratio, capabilities.get("ratios")),
    ]
    if not problems and tier not in table:
        problems = [Unsupported(field="params.image_size", reason=f"{tier} has no pixel size here")]
    yield from problems or listed("params.aspect_ratio", ratio, list(table[tier]))


def named(
    request: TaskRequest, capabilities: Mapping[str, Any], names: Mapping[str, str], ratios: Collection[str]
) -> Iterator[Unsupported]:
    """Of a protocol that takes names of tiers, {our tier: its name}, and ratios, each where `extra_body` does not stand
    for it."""
    is_given = {"size", "resolution"} & request.extra_body.keys()
    tier = None if is_given else asked_tier(request, capabilities, partial(list, names))
    if tier is not None:
        allowed = [name for name in names if name in capabilities.get("tiers", names)]
        yield from listed("params.image_size", tier, allowed)
    if request.aspect_ratio is not None and "aspect_ratio" not in request.extra_body:
        allowed = [ratio for ratio in ratios if ratio in capabilities.get("ratios", ratios)]
        yield from listed("params.aspect_ratio", request.aspect_ratio, allowed)


def stands_for(request: TaskRequest, *names: str) -> bool:
    """Whether `extra_body` gives one of these fields, and so stands for what would be derived in its place."""
    return any(name in request.extra_body for name in names)


def reserved(place: str, values: object, forbidden: Sequence[str]) -> Iterator[Unsupported]:
    """The names that stand at a place although they are ours to set; nothing for what is no object."""
    for name in forbidden:
        if name in documents.shown(values):
            yield Unsupported(field=f"{place}.{name}", reason="cannot be set by the caller")


def once(*problems: Unsupported) -> Iterator[Unsupported]:
    """The first problem of each field."""
    first: dict[str, Unsupported] = {}
    for problem in problems:
        first.setdefault(problem.field, problem)
    yield from first.values()


def listed(field: str, value: object, allowed: object) -> Iterator[Unsupported]:
    """The value must be in the list, where there is one."""
    if isinstance(allowed, list) and value not in allowed:
        yield Unsupported(field=field, reason=f"must be one of {', '.join(map(str, allowed))} here")


def at_most(field: str, count: int, limit: object, unit: str = "") -> Iterator[Unsupported]:
    """The count may not pass the limit, where there is one; `unit` are the words for what is counted."""
    if isinstance(limit, int) and count > limit:
        yield Unsupported(field=field, reason=f"must be at most {limit}{unit} here")
