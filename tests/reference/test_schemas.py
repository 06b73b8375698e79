"""Schemas without their indirections."""

import pytest

from reference.schemas import flat, lookup, resolved

DOCUMENT = {
    "components": {
        "schemas": {
            "Name": {"type": "string", "description": "A name."},
            "Base": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}},
            "Snake": {"$ref": "#/components/schemas/Snake"},
        },
        "parameters": {"a/b": {"name": "x"}, "Other": {"$ref": "#/components/parameters/a~1b"}},
    }
}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def test_a_reference_stands_for_what_it_names():
    assert lookup("#/components/schemas/Name", DOCUMENT)["type"] == "string"
    assert resolved({"$ref": "#/components/parameters/Other"}, DOCUMENT) == {"name": "x"}


def test_words_beside_a_reference_win():
    whole, refs = flat({**ref("Name"), "description": "The model."}, DOCUMENT)
    assert whole == {"type": "string", "description": "The model."}
    assert refs == {"#/components/schemas/Name"}


def test_all_of_has_the_fields_of_all():
    more = {"properties": {"size": {"type": "integer"}}, "required": ["size"]}
    whole, refs = flat({"allOf": [ref("Base"), more], "description": "Both."}, DOCUMENT)
    assert list(whole["properties"]) == ["id", "size"]
    assert (whole["required"], whole["description"]) == (["id", "size"], "Both.")
    assert refs == {"#/components/schemas/Base"}
    assert "allOf" not in whole


def test_a_field_beside_a_reference_narrows_that_field():
    whole, _ = flat({**ref("Base"), "properties": {"id": {"const": "a"}}}, DOCUMENT)
    assert flat(whole["properties"]["id"], DOCUMENT)[0] == {"type": "string", "const": "a"}


def test_a_schema_that_holds_itself_is_opened_once():
    whole, _ = flat(ref("Node"), DOCUMENT)
    assert whole["properties"]["next"] == ref("Node")


def test_a_schema_that_is_itself_is_an_error():
    with pytest.raises(ValueError, match="Snake refers to itself"):
        flat(ref("Snake"), DOCUMENT)


def test_true_says_nothing():
    assert flat(True, DOCUMENT) == ({}, frozenset())
