"""What programs that generate clients need of the document: they leave out what they cannot express, without a word."""

from collections.abc import Iterator
from typing import Any

from reference import document

FORM, JSON = "multipart/form-data", "application/json"
WITH_FILES = ("/v1/images/edits", "/v1/videos")


def schemas(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document, with its place; examples are none of it."""
    if isinstance(value, dict):
        yield place, value
        for name, inner in value.items():
            if name not in ("example", "examples", "const", "enum", "default"):
                yield from schemas(inner, f"{place}/{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from schemas(inner, f"{place}/{number}")


def is_array(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind)


def test_every_array_says_what_it_holds():
    found = [(place, schema) for place, schema in schemas(document.document()) if is_array(schema)]
    assert len(found) > 50
    assert [place for place, schema in found if "items" not in schema] == []


def test_a_form_stands_before_json_where_files_go():
    paths = document.document()["paths"]
    bodies = {path: list(paths[path]["post"]["requestBody"]["content"]) for path in WITH_FILES}
    assert bodies == {path: [FORM, JSON] for path in WITH_FILES}
