"""Writes JSON that every reader accepts, whatever Python has parsed."""

import json
from typing import Any


def encode(document: Any) -> bytes:
    """Encodes the document in UTF-8, with numbers that JSON lacks as null. Raises RecursionError if it is too deep."""
    try:
        return json.dumps(document, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:  # allows half a surrogate pair, whose other half may follow
        finite = json.loads(json.dumps(document), parse_constant=lambda _: None)
        return json.dumps(finite).encode()
