"""The body of an image call in OpenAI's words, as a submission in ours; and our refusals in the client's words.

What has no word of ours goes to `extra_body`, where the rules of upstream fields judge it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catalog import pixel_sizes, routing
from catalog.runnable import bounds
from catalog.snapshot import Catalog
from common.params.image import LONGEST_PROMPT
from tasks.request.body import MAX_NAME
from tasks.request.fields import RequestFields, refuse
from tasks.request.pixel_sizes import tier_and_ratio
from tasks.request.values import UnstoredFile
from tasks_api.openai.bodies import SentBody, SentFile
from tasks_api.openai.client_words import ClientWords

Format = Literal["url", "b64_json"]
FORMATS: tuple[Format, ...] = ("url", "b64_json")
IMAGES = ("image", "image[]")
FILES = (*IMAGES, "mask")
OWN = ("model", "prompt", "n", "size", "response_format", "stream", "partial_images", "image", "images", "mask")
REFUSED = {
    "metadata": "is not supported here; POST /v1/tasks keeps metadata",
    "callback_url": "is not supported here; POST /v1/tasks calls back",
    "plan": "is not supported; the plan is chosen for the key",
}
# What a form can only say as text, of the fields that OpenAI documents as numbers; `n` JSON may say so, too.
NUMBERS = ("partial_images", "output_compression", "frame_count", "frame_duration_ms")
WHOLE = re.compile(r"-?[0-9]{1,18}")
FLAGS = {"true": True, "false": False}

SIZE = {r"(?:image_size|aspect_ratio)\b": "size"}
# By what a client calls its images.
WORDS = {
    "image": ClientWords("extra_body", {**SIZE, r"images\b(?:\[\d+\]\.image_url)?": "image"}),
    "images": ClientWords("extra_body", {**SIZE, r"images\b": "images"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRequest:
    """`document` and `mask` are for `examination.prepare`, their files as they are; `images_name` is what the client
    calls its images."""

    document: dict[str, Any]
    mask: Any
    response_format: Format | None
    images_name: str


def parse(sent: SentBody, *, is_edit: bool, key_id: int, catalog: Catalog) -> ImageRequest:
    """Raises the ApiError of the first check that fails, in the client's words."""
    fields = RequestFields(values=_typed(sent), path="")
    _refuse_strangers(fields)
    model = fields.required_text("model", longest=MAX_NAME)
    prompt = fields.required_text("prompt", longest=LONGEST_PROMPT)
    response_format = fields.choice("response_format", FORMATS)
    images_name, images = _images(fields, sent)
    mask = _mask(fields, sent)
    if not images and (is_edit or mask):
        refuse(images_name, "is required" if is_edit else "is required with a mask")
    params = {"prompt": prompt, "n": fields.values.get("n"), **_size(fields, model, key_id, catalog)}
    options = {name: value for name, value in fields.values.items() if name not in OWN and value is not None}
    params |= {"images": images} if images else {}
    params |= {"extra_body": options} if options else {}
    document = {"model": model, "modality": "image", "params": params}
    return ImageRequest(document=document, mask=mask, response_format=response_format, images_name=images_name)


def format_of(sent: SentBody) -> Format | None:
    """What a replay asks for, whatever else is wrong with it."""
    asked = sent.fields.get("response_format")
    return next((known for known in FORMATS if known == asked), None)


def _typed(sent: SentBody) -> Mapping[str, Any]:
    """The fields with their numbers and truths read, where those came as text."""
    names = ("n", *NUMBERS) if sent.is_form else ("n",)
    texts = {name: text for name in names if isinstance(text := sent.fields.get(name), str)}
    numbers = {name: int(text) for name, text in texts.items() if WHOLE.fullmatch(text)}
    stream = FLAGS.get(sent.fields.get("stream", "").lower()) if sent.is_form else None
    return {**sent.fields, **numbers, **({} if stream is None else {"stream": stream})}


def _refuse_strangers(fields: RequestFields) -> None:
    for name, reason in REFUSED.items():
        if name in fields.values:
            refuse(name, reason)
    if fields.flag("stream"):
        refuse("stream", "is not supported; the answer comes as a whole")
    partial = fields.values.get("partial_images")
    if partial is not None and (isinstance(partial, bool) or partial != 0):
        refuse("partial_images", "is not supported; the answer comes as a whole")


def _size(fields: RequestFields, model_name: str, key_id: int, catalog: Catalog) -> dict[str, str]:
    """The tier and the ratio that the size stands for, where it stands for any."""
    size = fields.values.get("size")
    if size is None:
        return {}
    found = routing.resolve(catalog, key_id, model_name, "image")
    known = bounds.of_submissions(catalog, found.model, found.plan)
    tier, ratio = tier_and_ratio(size, known, pixel_sizes.tables(found.routes))
    fields_of_size = {"image_size": tier, "aspect_ratio": ratio}
    return {name: value for name, value in fields_of_size.items() if value is not None}


def _images(fields: RequestFields, sent: SentBody) -> tuple[str, list[dict[str, Any]]]:
    """What the client calls them, and the elements of `params.images`."""
    if files := sent.named(*IMAGES):
        return "image", [{"image_url": _image_file(file)} for file in files]
    if fields.values.get("images") is None:
        given = fields.values.get("image")
        urls = [] if given is None else given if isinstance(given, list) else [given]
        return "image", [{"image_url": url} for url in urls]
    if fields.values.get("image") is not None:
        refuse("image", "must not be given beside images")
    if not isinstance(fields.values["images"], list):
        refuse("images", "must be an array")
    return "images", fields.values["images"]


def _image_file(file: SentFile) -> UnstoredFile:
    if file.image_type is None:
        refuse(file.name, "must be a PNG, JPEG, WebP or GIF image")
    return UnstoredFile.of(file.content, file.image_type)


def _mask(fields: RequestFields, sent: SentBody) -> Any:
    """An element like those of the images, unchecked; None where there is none."""
    if files := sent.named("mask"):
        return {"image_url": _image_file(files[0])}
    given = fields.values.get("mask")
    return {"image_url": given} if isinstance(given, str) else given
