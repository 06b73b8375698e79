"""Errors of OpenAI's text endpoints, as answers and in streams."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.openai.errors import error, invalid
from sandbox.steering import Word
from sandbox.wire import Refusal, Response

HEADERS = {"openai-organization": "org-sandbox", "openai-version": "2020-10-01"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFault:
    """One error in the protocol's words; `kind` is the field `type`."""

    status: int
    message: str
    kind: str
    code: str | None

    @property
    def detail(self) -> dict[str, Any]:
        """Returns the object `error`."""
        return {"message": self.message, "type": self.kind, "param": None, "code": self.code}


def fault_of(word: Word, *, is_in_stream: bool) -> TextFault:
    """Returns the fault for a steering word. `[fail]` is the caller's fault before a stream, and the provider's within
    it."""
    match word.name:
        case "moderated":
            message = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
            return TextFault(status=400, message=message, kind="invalid_request_error", code="invalid_prompt")
        case "rate-limited":
            message = "Rate limit reached for requests."
            return TextFault(status=429, message=message, kind="requests", code="rate_limit_exceeded")
        case "overloaded":
            message = "Our servers are currently overloaded. Please try again later."
            return TextFault(status=503, message=message, kind="service_unavailable_error", code="server_is_overloaded")
        case "fail" if not is_in_stream:
            message = "The model cannot answer this request."
            return TextFault(status=400, message=message, kind="invalid_request_error", code=None)
        case _:
            status = int(word.number or 500) if word.name == "status" else 500
            kind, code = ("server_error", "server_error") if status >= 500 else ("invalid_request_error", None)
            message = "The server had an error while processing your request."
            return TextFault(status=status, message=message, kind=kind, code=code)


def text_error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    fault = fault_of(word, is_in_stream=False)
    return error(fault.status, fault.message, code=fault.code, kind=fault.kind)


def check_fields(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Checks that every field is known, and the values that all text endpoints share. Raises Refusal."""
    for name in fields:
        if name not in known:
            raise invalid(name, f"Unknown parameter: '{name}'.", "unknown_parameter")
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("model", "you must provide a model parameter", "missing_required_parameter")
    if model == "no-such-model":
        message = f"The model `{model}` does not exist or you do not have access to it."
        raise Refusal(error(404, message, code="model_not_found"))
    check_number(fields, "temperature", 0, 2)
    check_number(fields, "top_p", 0, 1)
    if not isinstance(fields.get("stream", False), bool | None):
        raise invalid("stream", "Invalid type for 'stream': expected a boolean.", "invalid_type")


def check_number(fields: Mapping[str, Any], name: str, low: float, high: float) -> None:
    """Checks for a number within its bounds, or none. Raises Refusal."""
    value = fields.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(name, f"Invalid type for '{name}': expected a number.", "invalid_type")
    if not low <= value <= high:
        raise invalid(name, f"Invalid '{name}': expected a value from {low} to {high}.", "invalid_value")


def whole_number(fields: Mapping[str, Any], name: str, *, low: int = 1, high: int | None = None) -> int | None:
    """Returns an integer within its bounds, or None if absent. Raises Refusal."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(name, f"Invalid type for '{name}': expected an integer.", "invalid_type")
    if value < low or (high is not None and value > high):
        code = "integer_below_min_value" if value < low else "integer_above_max_value"
        raise invalid(name, f"Invalid '{name}': {value} is out of bounds.", code)
    return value


def list_of(fields: Mapping[str, Any], name: str) -> list[Any]:
    """Returns an array of objects, empty if absent. Raises Refusal."""
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise invalid(name, f"Invalid type for '{name}': expected an array of objects.", "invalid_type")
    return value
