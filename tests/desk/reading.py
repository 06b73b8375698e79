"""Pages as a person reads them."""

import re
from html import unescape
from typing import Any


def words_of(answer: Any) -> str:
    """The text of a page, on one line."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())
