"""Errors of the DashScope protocols."""

import secrets

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response


def error(status: int, code: str, message: str) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"code": code, "message": message, "request_id": request_id()}, status, headers)


def request_id() -> str:
    """Returns a new id for an answer."""
    return secrets.token_hex(16)


def invalid(message: str) -> Refusal:
    """Returns a 400 about a parameter."""
    return Refusal(error(400, "InvalidParameter", message))


def no_model(model: str) -> Refusal:
    """Returns a 404 for an unknown model."""
    return Refusal(error(404, "ModelNotFound", f"Model can not be found: {model[:100]}."))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "":
            raise Refusal(error(401, "InvalidApiKey", "No API-key provided."))
        case "wrong":
            raise Refusal(error(401, "InvalidApiKey", "Invalid API-key provided."))
        case "broke":
            message = "Access denied, please make sure your account is in good standing."
            raise Refusal(error(400, "Arrearage", message))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated" | "moderated-output":
            side = "Output" if word.name == "moderated-output" else "Input"
            return error(400, "DataInspectionFailed", f"{side} data may contain inappropriate content.")
        case "rate-limited":
            return error(429, "Throttling.RateQuota", "Requests rate limit exceeded, please try again later.")
        case "status" if word.number:
            return error(int(word.number), "Status", f"Status {int(word.number)}, as asked.")
        case _ if word.stage == "submit":
            return error(400, "InvalidParameter", "The image could not be made from this request.")
        case _:
            return error(500, "InternalError", "An internal error has occured, please try again later.")
