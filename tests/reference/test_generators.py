"""What programs that generate clients need of the document: they leave out what they cannot express, without a word."""

import re
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


def test_no_two_schemas_have_one_title():
    titles = [schema["title"] for schema in document.document()["components"]["schemas"].values() if "title" in schema]
    assert len(titles) > 10
    assert sorted(titles) == sorted(set(titles))


def test_what_an_array_or_nothing_holds_has_a_name():
    """Generators name what such an array holds after each place where it stands, and then leave it out."""
    shared = document.document()["components"]["schemas"]
    unsure = [schema for schema in shared.values() if isinstance(schema.get("type"), list) and is_array(schema)]
    assert [schema for schema in unsure if "$ref" not in schema["items"]] == []


def test_the_fields_of_a_form_differ_by_more_than_signs_and_files_are_bytes():
    forms = [said for said in document.document()["components"]["schemas"].items() if said[0].endswith("Form")]
    assert {name for name, _ in forms} >= {"ImageForm", "VideoForm"}
    for _, form in forms:
        parts = [part.get("properties", {}) for part in (form, *form.get("allOf", []))]
        names = [re.sub(r"\W", "", name) for properties in parts for name in properties]
        assert sorted(names) == sorted(set(names))
    files = [
        schema for _, schema in schemas(document.document()) if "octet-stream" in str(schema.get("contentMediaType"))
    ]
    assert {schema.get("format") for schema in files} == {"binary"}
