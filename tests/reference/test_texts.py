"""A comma ends an unquoted text in a mapping of YAML's short form, and the rest of it becomes a field."""

from collections.abc import Iterator
from typing import Any

from reference.document import document


def test_no_text_became_a_field():
    assert [name for name in names(document()) if " " in name] == []


def names(value: Any) -> Iterator[str]:
    """Of all fields, however deep, but for those of examples."""
    if isinstance(value, list):
        for each in value:
            yield from names(each)
    elif isinstance(value, dict):
        yield from map(str, value)
        for name, each in value.items():
            if name not in ("example", "examples"):
                yield from names(each)
