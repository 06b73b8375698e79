"""The JSON body of a request: its media type, encodings and document; what the fields mean is for `tasks/request/`."""

from typing import Any

from rest_framework.request import Request

from common import strict_json
from common.errors import UnsupportedMediaType

JSON = "application/json"
CHARSETS = ("utf-8", "utf8")


def raw(request: Request) -> bytes:
    """The bytes as they came; the front has bounded them."""
    content: bytes = request._request.body
    return content


def document(request: Request, *, or_else: str | None = None) -> dict[str, Any]:
    """The one JSON object of the body; `or_else` is a media type that is taken here, too, and that it is not of.

    Raises UnsupportedMediaType, then InvalidRequest.
    """
    _require_json(request.headers.get("Content-Type", ""), or_else)
    refuse_encodings(request)
    return strict_json.loads_object(raw(request))


def refuse_encodings(request: Request) -> None:
    """Raises UnsupportedMediaType where the body is compressed, say."""
    if request.headers.get("Content-Encoding", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("Content-Encoding: only identity is accepted.")


def _require_json(content_type: str, or_else: str | None) -> None:
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media_type != JSON:
        raise UnsupportedMediaType(f"Content-Type: must be {' or '.join(filter(None, (JSON, or_else)))}.")
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name.strip() == "charset" and value.strip().strip('"') not in CHARSETS:
            raise UnsupportedMediaType("Content-Type: the charset must be utf-8.")
