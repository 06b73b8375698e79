"""`params.images`: the reference images of an image model, as public URLs or as Data URLs."""

from typing import Any

from adapters.base import ImageRef
from tasks.request import data_urls
from tasks.request.fields import RequestFields, refuse
from tasks.request.param_fields import PUBLIC_URL, ParamField, public_url
from tasks.request.values import ParamRules, UnstoredFile

DATA_URL = {"type": "string", "pattern": "^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z]+;[Bb]"}
ELEMENT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image_url"],
    "properties": {"image_url": {"anyOf": [PUBLIC_URL, DATA_URL]}},
}


def field(*, most: int) -> ParamField:
    """At most so many elements `{"image_url"}`."""
    return ParamField(
        read=lambda fields, name, rules: tuple(_image(each, rules) for each in fields.items(name, most=most)),
        schema={"type": ["array", "null"], "maxItems": most, "items": ELEMENT},
        roles={"image": ["reference"]},
    )


def _image(element: RequestFields, rules: ParamRules) -> ImageRef:
    element.refuse_unknown(("image_url",))
    if data_urls.is_data_url(element.required_text("image_url")):
        return ImageRef(stored=_unstored(element))
    return ImageRef(url=public_url(element, "image_url", rules))


def _unstored(element: RequestFields) -> UnstoredFile:
    try:
        content_type, content = data_urls.decode(element.values["image_url"])
    except ValueError as error:
        refuse(element.at("image_url"), str(error))
    return UnstoredFile.of(content, content_type)
