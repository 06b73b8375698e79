"""How many bytes the model has written in an answer, or in a piece of one: for an estimate where no usage comes."""

from collections.abc import Collection
from typing import Any


def written_bytes(
    value: Any, texts: Collection[str] = (), objects: Collection[str] = (), *, is_written: bool = False
) -> int:
    """The bytes of all texts under these names, and of all that is in the objects under those, however deep it lies; of
    everything where it `is_written` by the model."""
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
    """How long it is in UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))
