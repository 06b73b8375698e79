"""What a caller's `input` holds: messages of the user, each of texts and inline pictures. Pure.

Facts: Alibaba's documentation of multimodal-generation and image-generation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.kit.replaced_inputs import MessagePart, Odd, elements, only, text_part
from common.http import data_urls

PARTS = ("text", "image")


def parts(field: str, value: object) -> Iterator[MessagePart]:
    """The texts and pictures in their order. Raises Odd for whatever else there is."""
    if not isinstance(value, Mapping):
        raise Odd(field, "must be an object with messages")
    only(field, value, ("messages",))
    for place, message in elements(f"{field}.messages", value.get("messages")):
        only(place, message, ("role", "content"))
        if message.get("role") != "user":
            raise Odd(f"{place}.role", "must be user")
        for at, part in elements(f"{place}.content", message.get("content")):
            yield _part(at, part)


def _part(place: str, part: Mapping[str, Any]) -> MessagePart:
    if text := text_part(place, part, PARTS):
        return text
    picture = part["image"]
    if not isinstance(picture, str) or not data_urls.is_data_url(picture):
        raise Odd(f"{place}.image", "must be an inline picture here, as a Data URL")
    return MessagePart(field=f"{place}.image", picture=picture)
