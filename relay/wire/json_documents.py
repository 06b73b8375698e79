"""Writes JSON that every reader takes, whatever Python has read."""

import json
from typing import Any


def written(document: Any) -> bytes:
    """The document in UTF-8. Numbers that JSON does not have become null. Raises RecursionError for what is too
    deep."""
    try:
        return json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:  # also half a surrogate pair, whose other half may follow
        finite = json.loads(json.dumps(document), parse_constant=lambda _: None)
        return json.dumps(finite).encode()
