"""Reads single fields of a relayed request: only those that affect the bill or the route. The provider checks the
others."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl

from common import strict_json
from common.errors import InvalidRequest, UnsupportedMediaType

JSON = "application/json"
CHARSETS = ("utf-8", "utf8")
LONGEST_MODEL = 256
LONGEST_TEXT = 64
MOST_TOKENS = 2**31


def mapping(value: object) -> dict[str, Any]:
    """Returns the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, Any]]:
    """Returns the objects in the value if it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def index_of(item: Mapping[str, Any], place: int) -> int:
    """Returns an item's own index, or its position in the list if it has none."""
    index = item.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else place


def json_object(raw: bytes, content_type: str) -> dict[str, Any]:
    """Parses a body that is one JSON object. Raises UnsupportedMediaType, then InvalidRequest."""
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media_type != JSON:
        raise UnsupportedMediaType(f"Content-Type: must be {JSON}.")
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name.strip() == "charset" and value.strip().strip('"') not in CHARSETS:
            raise UnsupportedMediaType("Content-Type: the charset must be utf-8.")
    return strict_json.loads_object(raw, is_kept=False)


def model(document: Mapping[str, Any]) -> str:
    """Returns the name in `model`. Raises InvalidRequest."""
    return checked_model(document.get("model"))


def checked_model(name: Any) -> str:
    """Returns a valid model name. Raises InvalidRequest."""
    if not isinstance(name, str) or not name or len(name) > LONGEST_MODEL or not name.isprintable():
        raise refusal("model", f"must be a text of 1 to {LONGEST_MODEL} printable characters")
    if name != name.strip():
        raise refusal("model", "must not begin or end with white space")
    return name


def text(document: Mapping[str, Any], name: str) -> str:
    """Returns a short text, empty if absent or null. Raises InvalidRequest."""
    value = document.get(name)
    if value is not None and not (isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_TEXT):
        raise refusal(name, f"must be a text of at most {LONGEST_TEXT} printable characters")
    return value or ""


def flag(document: Mapping[str, Any], name: str, parent: str = "") -> bool:
    """Returns a boolean, false if absent or null. Raises InvalidRequest."""
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise refusal(strict_json.field(parent, name), "must be true or false")
    return bool(value)


def count(
    document: Mapping[str, Any], name: str, *, least: int = 1, most: int = MOST_TOKENS, parent: str = ""
) -> int | None:
    """Returns a whole number within the bounds; None if absent or null. Raises InvalidRequest."""
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise refusal(strict_json.field(parent, name), f"must be an integer from {least} to {most:,}")
    return value


def optional_object(document: Mapping[str, Any], name: str, parent: str = "") -> dict[str, Any]:
    """Returns an object, empty if absent or null. Raises InvalidRequest."""
    value = document.get(name)
    if value is not None and not isinstance(value, dict):
        raise refusal(strict_json.field(parent, name), "must be an object")
    return value or {}


def query(sent: str, known: Collection[str]) -> dict[str, str]:
    """Parses the query. Raises InvalidRequest for an unknown parameter, which the upstream would never see."""
    found = dict(parse_qsl(sent, keep_blank_values=True))
    for name in found:
        if name not in known:
            raise refusal(strict_json.field("", name), "is not a query parameter of this endpoint")
    return found


def refusal(path: str, reason: str) -> InvalidRequest:
    return InvalidRequest(f"{path} {reason}.", param=path)
