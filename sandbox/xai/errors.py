"""Errors of xAI: a sentence as code, and a text."""

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response

INVALID = "Client specified an invalid argument"
EXHAUSTED = "Some resource has been exhausted"


def error(status: int, code: str, message: str) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"code": code, "error": message}, status, headers)


def invalid(name: str, reason: str) -> Refusal:
    """Returns a 400 about one field."""
    return Refusal(error(400, INVALID, f"{name} {reason}."))


def no_model(model: str) -> Response:
    """Returns a 404 for an unknown model."""
    return error(404, "Some requested entity was not found", f"The model {model[:100]} does not exist.")


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "":
            raise Refusal(error(401, "Unauthenticated", "No API key was provided."))
        case "wrong":
            raise Refusal(error(400, INVALID, "Incorrect API key provided."))
        case "broke":
            message = "Your team has either used all available credits or reached its monthly spending limit."
            raise Refusal(error(429, EXHAUSTED, message))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word; moderation of results is answered with a success."""
    match word.name:
        case "moderated":
            return error(400, INVALID, "The prompt was rejected by content moderation.")
        case "moderated-output":
            return json_response({"data": [{"url": "", "respect_moderation": False}]})
        case "rate-limited":
            return error(429, EXHAUSTED, "Too many requests, please slow down.")
        case "status":
            status = int(word.number or 500)
            return error(status, "Status", f"Status {status}, as asked.")
        case _:
            return error(400, INVALID, "The image could not be generated from this request.")
