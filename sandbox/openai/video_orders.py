"""Reads a call of the OpenAI Videos protocol as strictly as the provider, from JSON or a form."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox import multipart
from sandbox.films import Film
from sandbox.openai.errors import error, invalid
from sandbox.openai.orders import check_file, json_fields
from sandbox.wire import Refusal, Request

MAX_PROMPT = 32_000
SECONDS = re.compile(r"[1-9]\d{0,4}", re.ASCII)
MAX_SECONDS = 86_400
SIZES = {"1280x720": "16:9", "720x1280": "9:16", "1792x1024": "16:9", "1024x1792": "9:16"}
TEXTS = ("model", "prompt", "seconds", "size")
REFERENCE = "input_reference"
REFERENCES = ("image_url", "file_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the film to make."""

    model: str
    prompt: str
    seconds: int
    size: str

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=SIZES[self.size], seconds=seconds, sound=True)


def order_of(request: Request) -> Order:
    """Returns the submission's order. Raises Refusal."""
    is_form = request.headers.get("content-type", "").startswith("multipart/")
    fields = form_fields(request) if is_form else json_fields(request)
    for name, value in fields.items():
        check(name, value, is_form=is_form)
    for name in ("model", "prompt"):
        if not fields.get(name):
            raise invalid(name, f"Missing required parameter: '{name}'.", "missing_required_parameter")
    if fields["model"] == "no-such-model":
        raise Refusal(error(404, "The model does not exist or you do not have access to it.", code="model_not_found"))
    return Order(
        model=fields["model"],
        prompt=fields["prompt"],
        seconds=int(fields.get("seconds", "4")),
        size=fields.get("size", "720x1280"),
    )


def form_fields(request: Request) -> Mapping[str, Any]:
    """Returns the fields of a form; the reference must be a picture in a file. Raises Refusal."""
    try:
        parts = multipart.parse(request.headers.get("content-type", ""), request.body)
    except ValueError as problem:
        raise Refusal(error(400, f"The body is no usable form: {problem}.")) from problem
    fields: dict[str, Any] = {}
    for part in parts:
        if part.name in fields:
            raise invalid(part.name, f"Duplicate parameter: '{part.name}'.", "duplicate_parameter")
        if part.filename is None:
            fields[part.name] = part.content.decode(errors="replace")
        else:
            check_file(part)
            fields[part.name] = part
    return fields


def check(name: str, value: Any, *, is_form: bool) -> None:
    """Checks one parameter. Raises Refusal."""
    if name == REFERENCE:
        check_reference(value, is_form=is_form)
    elif name not in TEXTS:
        raise invalid(name, f"Unknown parameter: '{name}'.", "unknown_parameter")
    elif not isinstance(value, str):
        raise invalid(name, f"Invalid type for '{name}': expected a string.", "invalid_type")
    elif name == "seconds" and not (SECONDS.fullmatch(value) and int(value) <= MAX_SECONDS):
        raise invalid(name, f"Invalid value for 'seconds': a whole number from 1 to {MAX_SECONDS} is expected.")
    elif name == "size" and value not in SIZES:
        raise invalid(name, f"Invalid value for 'size'. Supported values are: {', '.join(SIZES)}.")
    elif name == "prompt" and len(value) > MAX_PROMPT:
        raise invalid(name, f"The prompt is longer than {MAX_PROMPT} characters.", "string_above_max_length")


def check_reference(value: Any, *, is_form: bool) -> None:
    """Checks for a file in a form, or an object with one address or id in JSON. Raises Refusal."""
    if is_form:
        is_good = isinstance(value, multipart.Part)
    else:
        is_good = (
            isinstance(value, dict)
            and len(value) == 1
            and all(name in REFERENCES and isinstance(text, str) and text for name, text in value.items())
        )
    if not is_good:
        raise invalid(REFERENCE, f"Invalid value for '{REFERENCE}'.", "invalid_type")
