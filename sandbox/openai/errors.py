"""Errors of the OpenAI protocol."""

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response


def error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    kind: str = "invalid_request_error",
) -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"error": {"message": message, "type": kind, "param": param, "code": code}}, status, headers)


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated" | "moderated-output":
            message = "Your request was rejected by the safety system."
            return error(400, message, code="moderation_blocked", kind="image_generation_user_error")
        case "rate-limited":
            return error(429, "Rate limit reached.", code="rate_limit_exceeded", kind="requests")
        case "status":
            status = int(word.number or 500)
            return error(status, f"Status {status}, as asked.", kind="server_error" if status >= 500 else "api_error")
        case _:
            message = "The image could not be generated from this request."
            return error(400, message, code="image_generation_failed", kind="image_generation_user_error")


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "":
            raise Refusal(error(401, "No API key was provided in the Authorization header."))
        case "wrong":
            raise Refusal(error(401, "Incorrect API key provided.", code="invalid_api_key"))
        case "broke":
            message = "You exceeded your current quota, please check your plan and billing details."
            raise Refusal(error(429, message, code="insufficient_quota", kind="insufficient_quota"))


def invalid(param: str, message: str, code: str = "invalid_value") -> Refusal:
    """Returns a 400 about one parameter."""
    return Refusal(error(400, message, code=code, param=param))
