"""Errors of the Gemini protocol."""

from typing import Any

from sandbox.steering import Word
from sandbox.wire import Refusal, Request, Response, json_response

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
TYPE = "type.googleapis.com/google.rpc."


def error(status: int, message: str, *details: dict[str, Any]) -> Response:
    """Returns an error answer."""
    body: dict[str, Any] = {"code": status, "message": message, "status": STATUSES.get(status, "UNKNOWN")}
    if details:
        body["details"] = list(details)
    return json_response({"error": body}, status, {"retry-after": "1"} if status == 429 else {})


def invalid(message: str) -> Refusal:
    """Returns a 400 about the request."""
    return Refusal(error(400, message))


def unknown(name: str, place: str) -> Refusal:
    """Returns a 400 about a field that the protocol does not have."""
    at = f" at '{place}'" if place else ""
    return invalid(f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.')


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong` and `broke`. Raises Refusal."""
    match request.headers.get("x-goog-api-key", ""):
        case "":
            raise Refusal(error(403, "Method doesn't allow unregistered callers. Please use an API key."))
        case "wrong":
            detail = {"@type": f"{TYPE}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
            raise Refusal(error(400, "API key not valid. Please pass a valid API key.", detail))
        case "broke":
            raise Refusal(exhausted("GenerateRequestsPerDayPerProjectPerModel", "30s"))


def exhausted(quota: str, delay: str) -> Response:
    """Returns a 429 about one quota."""
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        {"@type": f"{TYPE}QuotaFailure", "violations": [{"quotaId": quota, "quotaValue": "50"}]},
        {"@type": f"{TYPE}RetryInfo", "retryDelay": delay},
    )


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word; refused content is answered with a success."""
    match word.name:
        case "moderated":
            return json_response({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}})
        case "moderated-output":
            return json_response({"candidates": [{"finishReason": "IMAGE_SAFETY", "index": 0}], "usageMetadata": {}})
        case "rate-limited":
            return exhausted("GenerateRequestsPerMinutePerProjectPerModel", "1s")
        case "overloaded":
            return error(503, "The model is overloaded. Please try again later.")
        case "status":
            status = int(word.number or 500)
            return error(status, f"Status {status}, as asked.")
        case _:
            return error(400, "Unable to process the request.")
