"""What a caller's `contents` hold: the turns of a conversation, each of texts and inline pictures. Pure.

Facts: Google's reference of generateContent (Content, Part, Blob).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.kit.replaced_inputs import MessagePart, Odd, elements, only, text_part

ROLES = ("user", "model")
PARTS = ("text", "inlineData")


def parts(field: str, value: object) -> Iterator[MessagePart]:
    """The texts and pictures in their order. Raises Odd for whatever else there is."""
    for place, content in elements(field, value):
        only(place, content, ("role", "parts"))
        if content.get("role", "user") not in ROLES:
            raise Odd(f"{place}.role", f"must be {' or '.join(ROLES)}")
        for at, part in elements(f"{place}.parts", content.get("parts")):
            yield _part(at, part)


def _part(place: str, part: Mapping[str, Any]) -> MessagePart:
    if text := text_part(place, part, PARTS):
        return text
    blob = part["inlineData"]
    if not isinstance(blob, Mapping):
        raise Odd(f"{place}.inlineData", "must be an object")
    only(f"{place}.inlineData", blob, ("mimeType", "data"))
    kind, data = blob.get("mimeType"), blob.get("data")
    if not isinstance(kind, str) or not isinstance(data, str):
        raise Odd(f"{place}.inlineData", "must have mimeType and data, both texts")
    return MessagePart(field=f"{place}.inlineData", picture=f"data:{kind};base64,{data}")
