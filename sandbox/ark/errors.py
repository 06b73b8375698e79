"""Errors of the Ark protocol."""

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response


def error(status: int, code: str, message: str, *, param: str = "", kind: str = "BadRequest") -> Response:
    """Returns an error answer."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"error": {"code": code, "message": message, "param": param, "type": kind}}, status, headers)


def invalid(param: str, reason: str) -> Refusal:
    """Returns a 400 about one parameter."""
    message = f"The parameter `{param}` specified in the request is not valid: {reason}."
    return Refusal(error(400, "InvalidParameter", message, param=param))


def missing(param: str) -> Refusal:
    """Returns a 400 about a missing parameter."""
    message = f"The request failed because it is missing the `{param}` parameter."
    return Refusal(error(400, "MissingParameter", message, param=param))


def unknown_task() -> Refusal:
    """Returns a 404 for a job that does not exist, or no longer."""
    return Refusal(error(404, "ResourceNotFound", "The specified task is not found.", kind="NotFound"))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.bearer:
        case "" | "wrong":
            message = "The API key in the request is missing or invalid."
            raise Refusal(error(401, "AuthenticationError", message, kind="Unauthorized"))
        case "broke":
            message = "The request failed because your account has an overdue balance."
            raise Refusal(error(403, "AccountOverdueError", message, kind="Forbidden"))


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            message = "The request failed because the input text may contain sensitive information."
            return error(400, "InputTextSensitiveContentDetected", message, param="content")
        case "rate-limited":
            message = "The requests per minute limit of the model is exceeded."
            return error(429, "ModelAccountRpmRateLimitExceeded", message, kind="TooManyRequests")
        case "status" if word.number:
            return error(int(word.number), "Status", f"Status {int(word.number)}, as asked.", kind="Status")
        case _:
            message = "The service encountered an unexpected internal error."
            return error(500, "InternalServiceError", message, kind="InternalServerError")
