"""The body of `POST /v1/videos` as a submission in our words, and our refusals in the client's words.

What has no word of ours goes to `provider_options`, where the rules of upstream fields judge it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog import pixel_sizes, routing
from catalog.snapshot import Catalog
from common.http import data_urls
from common.params.video import LONGEST_SECONDS
from tasks.request.body import MAX_NAME
from tasks.request.fields import RequestFields, refuse
from tasks.request.frame_sizes import ratio_and_resolution
from tasks.request.values import UnstoredFile
from tasks_api.openai.bodies import SentBody, SentFile
from tasks_api.openai.client_words import ClientWords

REFERENCE = "input_reference"
FILES = (REFERENCE,)
OWN = ("model", "prompt", "seconds", "size", REFERENCE)
REFERENCE_IN_FORM = f"{REFERENCE}["  # as SDKs write the fields of an object in a form
DEFAULT_SECONDS = 4
DEFAULT_SIZE = "1280x720"
REFUSED = {
    "callback_url": "is not supported here; POST /v1/tasks calls back",
    "plan": "is not supported; the plan is chosen for the key",
}

# A form has texts alone: what reads as a number or a truth value is one.
WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
TRUTHS = {"true": True, "false": False}

WORDS = ClientWords(
    "provider_options",
    {
        r"duration\b": "seconds",
        r"(?:resolution|aspect_ratio)\b": "size",
        r"inputs\b(?:\[0\](?:\.(?:url|type|role)\b)?)?": REFERENCE,
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoRequest:
    """`document` is for `examination.prepare`; `size` is what the client asked for."""

    document: dict[str, Any]
    size: str


def parse(sent: SentBody, *, key_id: int, catalog: Catalog) -> VideoRequest:
    """Raises the ApiError of the first check that fails."""
    fields = RequestFields(values=_read(sent), path="")
    for name, reason in REFUSED.items():
        if name in fields.values:
            refuse(name, reason)
    name = fields.required_text("model", longest=MAX_NAME)
    params: dict[str, Any] = {"prompt": fields.required_text("prompt"), "duration": _seconds(fields)}
    reference = _reference(fields, sent)
    routes = routing.resolve(catalog, key_id, name, "video").routes
    size = DEFAULT_SIZE if fields.values.get("size") is None else fields.values["size"]
    sized = ratio_and_resolution(size, pixel_sizes.ratios(routes), pixel_sizes.tables(routes))
    params["aspect_ratio"], params["resolution"] = sized
    if reference is not None:
        params["inputs"] = [{"type": "image", "role": "first_frame", "url": reference}]
    if options := {name: value for name, value in fields.values.items() if name not in OWN and value is not None}:
        params["provider_options"] = options
    return VideoRequest(document={"model": name, "modality": "video", "params": params}, size=size)


def _read(sent: SentBody) -> Mapping[str, Any]:
    """The fields; those of a form with what their texts stand for."""
    if not sent.is_form:
        return sent.fields
    fields: dict[str, Any] = {}
    reference: dict[str, str] = {}
    for name, text in sent.fields.items():
        if name.startswith(REFERENCE_IN_FORM) and name.endswith("]"):
            reference[name[len(REFERENCE_IN_FORM) : -1]] = text
        else:
            fields[name] = text if name in OWN else _value(text)
    return fields | ({REFERENCE: reference} if reference else {})


def _value(text: str) -> str | int | float | bool:
    if text in TRUTHS:
        return TRUTHS[text]
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


def _seconds(fields: RequestFields) -> int:
    given = fields.values.get("seconds")
    if given is None:
        return DEFAULT_SECONDS
    if isinstance(given, str) and WHOLE.fullmatch(given):
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= LONGEST_SECONDS:
        refuse("seconds", f"must be an integer from 1 to {LONGEST_SECONDS}")
    return given


def _reference(fields: RequestFields, sent: SentBody) -> str | UnstoredFile | None:
    """The first frame, by its URL or with its bytes; None where there is none."""
    given = fields.object(REFERENCE)
    if files := sent.named(REFERENCE):
        if given is not None:
            refuse(REFERENCE, "is given more than once")
        return _upload(files[0])
    if given is None:
        return None
    given.refuse_unknown(("image_url",))
    url = given.required_text("image_url")
    return _decoded(url, given.at("image_url")) if data_urls.is_data_url(url) else url


def _upload(file: SentFile) -> UnstoredFile:
    if file.image_type is None:
        refuse(file.name, "must be a PNG, JPEG, WebP or GIF image")
    return UnstoredFile.of(file.content, file.image_type)


def _decoded(url: str, path: str) -> UnstoredFile:
    try:
        content_type, content = data_urls.decode(url)
    except ValueError as error:
        refuse(path, str(error))
    return UnstoredFile.of(content, content_type)
