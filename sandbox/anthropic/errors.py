"""Errors of the Messages protocol, as answers and in streams."""

import json
import secrets
from typing import Any

from sandbox.steering import Word
from sandbox.text.frames import typed
from sandbox.wire import Refusal, Request, Response, json_response

VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def body_of(status: int, message: str) -> dict[str, Any]:
    """Returns an error object."""
    kind = KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def error(status: int, message: str) -> Response:
    """Returns an error answer."""
    request_id = f"req_{secrets.token_hex(12)}"
    headers = {"request-id": request_id, **({"retry-after": "1"} if status == 429 else {})}
    return json_response(body_of(status, message) | {"request_id": request_id}, status, headers)


def invalid(message: str) -> Refusal:
    """Returns a 400 about the request; the message begins with the field."""
    return Refusal(error(400, message))


def fault_of(word: Word, *, is_in_stream: bool) -> tuple[int, str]:
    """Returns status and message for a steering word. `[fail]` is the caller's fault, but within a stream the
    provider's."""
    match word.name:
        case "moderated":
            return 400, "Output blocked by content filtering policy"
        case "rate-limited":
            return 429, "This request would exceed your organization's rate limit."
        case "overloaded":
            return 529, "Overloaded"
        case "status":
            return int(word.number or 500), "As asked."
        case _:
            return (500, "Internal server error") if is_in_stream else (400, "messages: the model cannot answer this.")


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    return error(*fault_of(word, is_in_stream=False))


def error_frame_for(word: Word) -> bytes:
    """Returns the error frame for a steering word within a stream."""
    return typed(body_of(*fault_of(word, is_in_stream=True)))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`, in either header, with a version. Raises Refusal."""
    match request.headers.get("x-api-key") or request.bearer:
        case "":
            raise Refusal(error(401, "x-api-key header is required"))
        case "wrong":
            raise Refusal(error(401, "invalid x-api-key"))
        case "broke":
            raise Refusal(error(402, "Your credit balance is too low to access the Anthropic API."))
    version = request.headers.get("anthropic-version")
    if version is None:
        raise invalid("anthropic-version: header is required")
    if version not in VERSIONS:
        raise invalid(f'anthropic-version: "{version}" is not a valid version')


def fields_of(request: Request) -> dict[str, Any]:
    """Returns the JSON object of the body. Raises Refusal."""
    try:
        fields = json.loads(request.body)
    except ValueError as problem:
        raise invalid("The request body is not valid JSON.") from problem
    if not isinstance(fields, dict):
        raise invalid("Input should be a valid dictionary")
    return fields
