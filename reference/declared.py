"""Adds facts that the code declares to the OpenAPI document, so that each is written once."""

from typing import Any

from callbacks import schedule, signing
from callbacks.signing import CallbackHeader
from common import error_types
from common.error_types import ErrorType


def fill(whole: dict[str, Any]) -> None:
    """Adds what the code declares to the document read from `openapi/`."""
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
    """Describes an error type for the reference's table."""
    return {"type": error.name, "statuses": list(error.statuses), "when": error.when, "next": error.next_step}


def parameter(header: CallbackHeader) -> dict[str, Any]:
    """Describes a callback header in OpenAPI's terms."""
    return {
        "name": header.name,
        "in": "header",
        "required": True,
        "description": header.meaning,
        "schema": dict(header.schema),
        "example": header.example,
    }
