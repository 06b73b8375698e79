"""Schemas in words."""

import pytest

from reference import words

DOCUMENT = {
    "components": {
        "schemas": {
            "Size": {"type": "string", "enum": ["1K", "2K"]},
            "Tree": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "Task": {"type": "object", "properties": {"id": {"type": "string"}}},
        }
    }
}
TASK = {"$ref": "#/components/schemas/Task"}
KINDS = [
    ({"type": "string"}, "string"),
    ({"type": ["null", "integer"]}, "integer or null"),
    ({"type": "string", "format": "date-time"}, "string (ISO 8601 time)"),
    ({"type": "integer", "format": "int64"}, "integer"),
    ({"type": "string", "format": "hostname"}, "string (hostname)"),
    ({"$ref": "#/components/schemas/Size"}, "string"),
    (TASK, "object"),
    ({"type": "array", "items": TASK}, "array of objects"),
    ({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, "array of arrays of numbers"),
    ({"type": "array", "items": {"type": ["string", "null"]}}, "array of strings or nulls"),
    ({"type": "array", "items": {"type": "string", "format": "uri"}}, "array of strings (URL)"),
    ({"type": ["array", "null"], "items": {"type": ["string", "null"]}}, "array of strings or nulls, or null"),
    ({"type": "array"}, "array"),
    ({"type": "object", "additionalProperties": {"type": "string"}}, "map of strings"),
    ({"type": "object", "additionalProperties": True}, "object"),
    ({"anyOf": [TASK, {"type": "null"}]}, "object or null"),
    (
        {"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "array", "items": TASK}]},
        "string, array of objects or null",
    ),
    ({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, "object"),
    ({"allOf": [TASK], "description": "It."}, "object"),
    ({"enum": ["a", 1, None]}, "string, integer or null"),
    ({"const": True}, "boolean"),
    ({}, "anything"),
    (True, "anything"),
    ({"$ref": "#/components/schemas/Tree"}, "array of objects"),
]
FACTS = [
    ({"const": "task"}, ["Always task"]),
    ({"enum": ["a", None, 2], "default": "a"}, ["One of a null 2", "Default a"]),
    ({"minimum": 1}, ["At least 1"]),
    ({"minimum": 1, "maximum": 86400}, ["1 to 86,400"]),
    (
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
        ["More than 0", "Less than 1", "A multiple of 0.25"],
    ),
    ({"minLength": 1}, ["At least 1 character"]),
    ({"minLength": 0, "maxLength": 64}, ["At most 64 characters"]),
    ({"minLength": 3, "maxLength": 3}, ["Exactly 3 characters"]),
    ({"maxItems": 16, "uniqueItems": True}, ["At most 16 items", "No item twice"]),
    ({"maxProperties": 50}, ["At most 50 fields"]),
    ({"pattern": "^a$"}, ["Matches ^a$"]),
    ({"pattern": r"\S"}, ["Not blank"]),
    ({"enum": ["a", "b"], "const": "a"}, ["Always a"]),
    ({"default": False}, ["Default false"]),
    ({"default": ""}, ['Default ""']),
    ({"examples": ["x", {"a": 1}, 2]}, ["For example x 2"]),
    (
        {"type": "array", "items": {"$ref": "#/components/schemas/Size"}, "minItems": 1},
        ["At least 1 item", "Each: One of 1K 2K"],
    ),
    ({"type": "string"}, []),
]


@pytest.mark.parametrize(("schema", "said"), KINDS, ids=[said for _, said in KINDS])
def test_the_kind_of_a_value_is_said(schema, said):
    assert words.kind(schema, DOCUMENT) == said


@pytest.mark.parametrize(("schema", "said"), FACTS, ids=[" and ".join(said) or "nothing" for _, said in FACTS])
def test_what_else_holds_is_said(schema, said):
    assert [" ".join((fact.label, *fact.values)) for fact in words.schema_facts(schema, DOCUMENT)] == said
