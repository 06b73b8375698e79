"""Counts the bytes that the model has written in an answer or a piece of one, to estimate missing usage."""

from collections.abc import Collection
from typing import Any


def written_bytes(
    value: Any, texts: Collection[str] = (), objects: Collection[str] = (), *, is_written: bool = False
) -> int:
    """Counts the bytes of all texts under these names and of everything in the objects under those, at any depth; with
    `is_written`, of everything."""
    total = 0
    waiting = [(value, is_written)]
    while waiting:
        value, is_written = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, is_written) for item in value]
        elif isinstance(value, dict):
            for name, item in value.items():
                total += len(name) if is_written else 0
                is_own = is_written or name in objects or (name in texts and isinstance(item, str))
                if isinstance(item, (dict, list)):
                    waiting.append((item, is_own))
                elif is_own and item is not None:
                    total += text_bytes(str(item))
        elif is_written and value is not None:
            total += text_bytes(str(value))
    return total


def text_bytes(text: str) -> int:
    """Returns the text's length in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))
