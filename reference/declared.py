"""What the OpenAPI document says of facts that the code declares: written into it, so that each is spelled once."""

from typing import Any

from callbacks import schedule, signing
from callbacks.signing import CallbackHeader


def fill(whole: dict[str, Any]) -> None:
    """Add what is declared elsewhere to the document that was read from `openapi/`."""
    callback = whole["webhooks"]["taskEnded"]["post"]
    callback["parameters"] = [parameter(header) for header in signing.HEADERS]
    callback["description"] = callback["description"].replace("{attempts}", schedule.in_words(schedule.DEFAULT))


def parameter(header: CallbackHeader) -> dict[str, Any]:
    """A header of a callback, as OpenAPI describes it."""
    return {
        "name": header.name,
        "in": "header",
        "required": True,
        "description": header.meaning,
        "schema": dict(header.schema),
        "example": header.example,
    }
