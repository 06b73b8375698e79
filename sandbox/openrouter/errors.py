"""Errors of the OpenRouter protocols: `{"error": {"code": an HTTP status, "message", "metadata"}}`."""

from typing import Any

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response


def error(status: int, message: str, *, metadata: dict[str, Any] | None = None) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    body = {"code": status, "message": message} | ({"metadata": metadata} if metadata else {})
    return json_response({"error": body}, status, headers)


def invalid(name: str, wanted: str) -> Refusal:
    """Returns a 400 about one parameter."""
    return Refusal(error(400, f"{name}: {wanted}"))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "":
            raise Refusal(error(401, "No auth credentials found"))
        case "wrong":
            raise Refusal(error(401, "User not found."))
        case "broke":
            raise Refusal(error(402, "Insufficient credits. Add more using the credits page."))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated" | "moderated-output":
            message = "Your chosen model requires moderation and your input was flagged"
            return error(403, message, metadata={"reasons": ["violence"], "flagged_input": "…"})
        case "rate-limited":
            return error(429, "Rate limit exceeded")
        case "status":
            status = int(word.number or 500)
            return error(status, f"Status {status}, as asked.")
        case _:
            return error(500, "Internal Server Error")
