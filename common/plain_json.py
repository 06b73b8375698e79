"""JSON as the service writes it: as `json.dumps` does, and with decimals as plain numbers.

`json` writes a float below 0.0001 with an exponent, and no decimal at all, so `common/money.py` gives small amounts as
decimals. Here they are marked strings until the text is whole, which then loses marks and quotes. No other string
begins with the mark, a NUL: requests are refused with one, and PostgreSQL stores none. So `json` stays as fast as it
is.
"""

import json
import re
from decimal import Decimal
from typing import Any

MARK = "\0"
MARKED = re.compile(r'"\\u0000(-?[0-9]+(?:\.[0-9]+)?)"')


class PlainEncoder(json.JSONEncoder):
    """For `json.dumps(…, cls=PlainEncoder)`. Other types than JSON's and decimals are a TypeError."""

    has_marks = False  # so that a text without decimals is not searched

    def default(self, o: Any) -> Any:
        if isinstance(o, Decimal):
            self.has_marks = True
            return f"{MARK}{o:f}"
        return super().default(o)

    def encode(self, o: Any) -> str:
        text = super().encode(o)
        return MARKED.sub(r"\1", text) if self.has_marks else text


def dumps(document: Any, **options: Any) -> str:
    """As `json.dumps` with these options."""
    return json.dumps(document, cls=PlainEncoder, **options)
