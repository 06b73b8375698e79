"""What the OpenAPI document says of facts that the code declares: written into it, so that each is spelled once."""

from typing import Any

from callbacks import schedule, signing
from callbacks.signing import CallbackHeader
from common import error_types
from common.error_types import ErrorType


def fill(whole: dict[str, Any]) -> None:
    """Add what is declared elsewhere to the document that was read from `openapi/`."""
    callback = whole["webhooks"]["taskEnded"]["post"]
    callback["parameters"] = [parameter(header) for header in signing.HEADERS]
    callback["description"] = callback["description"].replace("{attempts}", schedule.in_words(schedule.DEFAULT))
    whole["x-errors"] = [row(each) for each in error_types.REFUSALS]
    schemas = whole["components"]["schemas"]
    schemas["ErrorType"]["enum"] = [each.name for each in error_types.REFUSALS]
    of_task = schemas["TaskError"]["properties"]["type"]
    of_task["description"] = "".join(f"- `{each.name}`: {each.of_task}.\n" for each in error_types.FAILURES)
    of_task["enum"] = [each.name for each in error_types.FAILURES]


def row(error: ErrorType) -> dict[str, Any]:
    """A type in the table of the reference."""
    return {"type": error.name, "statuses": list(error.statuses), "when": error.when, "next": error.next_step}


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
