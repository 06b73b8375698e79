"""Errors of the Runway protocol: words and a status, no codes."""

from collections.abc import Sequence

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response

VERSION = "2024-11-06"
DOCUMENTATION = "https://docs.dev.runwayml.com/api"


def error(status: int, message: str, issues: Sequence[dict[str, object]] = ()) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    body = {"error": message, **({"issues": issues} if issues else {}), "docUrl": DOCUMENTATION}
    return json_response(body, status, headers)


def invalid(*path: str | int, reason: str = "Invalid input") -> Refusal:
    """Returns a 400 about one field of the body."""
    issue: dict[str, object] = {"code": "custom", "path": list(path), "message": reason}
    return Refusal(error(400, "Validation of body failed", [issue]))


def unknown_task() -> Refusal:
    """Returns a 404 for a task that does not exist, or no longer."""
    return Refusal(error(404, "A task with that ID could not be found."))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong`, and the only version of the API. Raises Refusal."""
    if request.headers.get("x-runway-version") != VERSION:
        raise Refusal(error(400, f"The X-Runway-Version header must be {VERSION}."))
    if request.bearer in ("", "wrong"):
        raise Refusal(error(401, "Unauthorized"))


def charge(request: Request) -> None:
    """Refuses an empty account with a 400. Raises Refusal."""
    if request.bearer == "broke":
        raise Refusal(error(400, "You do not have enough credits to run this task."))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            return error(400, "The prompt did not pass content moderation.")
        case "rate-limited":
            return error(429, "Too many requests.")
        case "status" if word.number:
            return error(int(word.number), f"Status {int(word.number)}, as asked.")
        case _:
            return error(500, "An internal error occurred.")
