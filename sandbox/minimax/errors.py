"""Errors of MiniMax's video generation V2: an HTTP status, a type, and a number at the end of the message."""

import secrets

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response

TYPES = {
    400: "bad_request_error",
    401: "authorized_error",
    402: "insufficient_balance_error",
    404: "bad_request_error",
    422: "unprocessable_entity_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error(status: int, number: int, message: str) -> Response:
    """Returns an error answer."""
    detail = {
        "type": TYPES.get(status, "server_error"),
        "message": f"{message} ({number})",
        "http_code": str(status),
    }
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"type": "error", "error": detail, "request_id": secrets.token_hex(16)}, status, headers)


def invalid(reason: str) -> Refusal:
    """Returns a 400 about the request."""
    return Refusal(error(400, 2013, f"invalid params, {reason}"))


def unknown_task() -> Refusal:
    """Returns the error for a job that does not exist, or no longer."""
    return Refusal(error(404, 2013, "invalid task_id"))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "" | "wrong":
            message = "login fail: Please carry the API secret key in the 'Authorization' field of the request header"
            raise Refusal(error(401, 1004, message))
        case "broke":
            raise Refusal(error(402, 1008, "insufficient balance"))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            return error(422, 1026, "video description contains sensitive content")
        case "rate-limited":
            return error(429, 1002, "rate limit, please retry later")
        case "status" if word.number:
            return error(int(word.number), 1000, f"status {int(word.number)}, as asked")
        case _:
            return error(500, 1000, "internal error")
