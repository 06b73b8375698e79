"""Image params: the portable fields within what the model offers, reference images by URL or as Data URLs."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.base import ImageRef, StoredFile, TaskRequest
from tasks.request import data_urls, options
from tasks.request.fields import Fields, refuse
from tasks.request.rules import Blob, ParamRules, public_url

MAX_PROMPT = 32_000
NAMES = ("model", "prompt", "n", "image_size", "aspect_ratio", "images", "extra_body")
HINTS = {
    "size": "use params.image_size and params.aspect_ratio",
    "resolution": "use params.image_size",
    "generationConfig": "use the portable fields or params.extra_body",
    "contents": "use params.prompt and params.images",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The values that a model offers for a field; without values the field must stay absent, and without a default
    it must be given."""

    values: tuple[str, ...]
    default: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What the catalog says of an image model; a part that it leaves out offers no choice, one image, no reference."""

    image_size: Choice
    aspect_ratio: Choice
    max_n: int
    max_images: int


def offer(catalog: Mapping[str, Any]) -> Offer:
    """The offer in a model's `params` object of the catalog."""
    return Offer(
        image_size=_choice(catalog.get("image_size") or {}),
        aspect_ratio=_choice(catalog.get("aspect_ratio") or {}),
        max_n=(catalog.get("n") or {}).get("max", 1),
        max_images=(catalog.get("images") or {}).get("max", 0),
    )


def parse(fields: Fields, rules: ParamRules) -> tuple[TaskRequest, tuple[Blob, ...]]:
    """The request and the bytes of its Data URLs, whose references have no storage key yet. Raises InvalidRequest."""
    offered = offer(rules.catalog)
    fields.refuse_unknown(NAMES, HINTS)
    prompt = fields.required_text("prompt", longest=MAX_PROMPT)
    n = fields.integer("n", largest=offered.max_n) or 1
    image_size = _chosen(fields, "image_size", offered.image_size)
    aspect_ratio = _chosen(fields, "aspect_ratio", offered.aspect_ratio)
    extra_body = options.read(fields, "extra_body")
    _refuse_more(extra_body, offered.max_n)
    images, blobs = _images(fields, rules, offered.max_images)
    request = TaskRequest(
        modality="image",
        prompt=prompt,
        n=n,
        image_size=image_size,
        aspect_ratio=aspect_ratio,
        images=images,
        extra_body=extra_body,
    )
    return request, blobs


def _refuse_more(extra_body: Mapping[str, Any], most: int) -> None:
    """The final count may not pass the model's maximum either; whether another value is a count is the adapter's."""
    count = extra_body.get("n")
    if isinstance(count, int) and count > most:
        refuse("params.extra_body.n", f"must be at most {most}")


def _choice(spec: Mapping[str, Any]) -> Choice:
    return Choice(values=tuple(spec.get("values") or ()), default=spec.get("default"))


def _chosen(fields: Fields, name: str, choice: Choice) -> str | None:
    if not choice.values and fields.values.get(name) is not None:
        refuse(fields.at(name), "is not supported by this model")
    given = fields.choice(name, choice.values) or choice.default
    if choice.values and given is None:
        refuse(fields.at(name), "is required")
    return given


def _images(fields: Fields, rules: ParamRules, most: int) -> tuple[tuple[ImageRef, ...], tuple[Blob, ...]]:
    references, blobs = [], []
    for position, element in enumerate(fields.items("images", most=most)):
        element.refuse_unknown(("image_url",))
        if data_urls.is_data_url(element.required_text("image_url")):
            blob = _blob(element, position)
            blobs.append(blob)
            references.append(ImageRef(stored=_unstored(blob)))
        else:
            references.append(ImageRef(url=public_url(element, "image_url", rules)))
    return tuple(references), tuple(blobs)


def _blob(element: Fields, position: int) -> Blob:
    try:
        content_type, content = data_urls.decode(element.values["image_url"])
    except ValueError as error:
        refuse(element.at("image_url"), str(error))
    return Blob(position=position, content_type=content_type, content=content)


def _unstored(blob: Blob) -> StoredFile:
    return StoredFile(
        key="",
        content_type=blob.content_type,
        size_bytes=len(blob.content),
        sha256=hashlib.sha256(blob.content).hexdigest(),
    )
