"""The fields of a body, each by its path."""

from reference.rows import rows

DOCUMENT = {
    "components": {
        "schemas": {
            "Input": {
                "type": "object",
                "properties": {"url": {"type": "string", "description": "Where."}},
                "required": ["url"],
            },
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "next": {"$ref": "#/components/schemas/Node"},
                    "more": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
                },
            },
        }
    }
}
INPUT = {"$ref": "#/components/schemas/Input"}


def told(schema):
    return [f"{row.path}: {row.variant}" if row.variant else f"{row.path}|{row.name}" for row in rows(schema, DOCUMENT)]


def test_fields_stand_under_the_field_that_holds_them():
    schema = {"properties": {"params": {"properties": {"inputs": {"type": "array", "items": INPUT}}}, "n": {}}}
    assert told(schema) == ["|params", "params|inputs", "params.inputs[]|url", "|n"]
    deepest = rows(schema, DOCUMENT)[2]
    assert (deepest.kind, deepest.is_required, deepest.description) == ("string", True, "Where.")


def test_a_schema_that_holds_itself_is_written_out_once():
    assert told({"$ref": "#/components/schemas/Node"}) == ["|name", "|next", "|more"]
    twice = {"properties": {"a": {"$ref": "#/components/schemas/Node"}, "b": {"$ref": "#/components/schemas/Node"}}}
    assert told(twice) == ["|a", "a|name", "a|next", "a|more", "|b", "b|name", "b|next", "b|more"]


def test_forms_with_fields_have_heads_where_there_are_several():
    film = {"title": "A film", "properties": {"duration": {"type": "integer"}}}
    params = {"properties": {"params": {"oneOf": [INPUT, film]}}}
    assert told(params) == ["|params", "params: Form 1", "params|url", "params: A film", "params|duration"]
    assert told({"properties": {"input": {"anyOf": [INPUT, {"type": "null"}]}}}) == ["|input", "input|url"]


def test_forms_that_only_narrow_known_fields_are_not_told():
    schema = {
        "properties": {"a": {}, "b": {}},
        "anyOf": [{"required": ["a"], "properties": {"a": {}}}, {"required": ["b"]}],
    }
    assert told(schema) == ["|a", "|b"]


def test_forbidden_fields_are_not_told():
    assert told({"properties": {"a": False, "b": {"type": "null"}, "c": {"type": "null", "description": "Soon."}}}) == [
        "|c"
    ]


def test_names_of_the_callers_choice_are_shown_as_such():
    assert told({"additionalProperties": INPUT}) == ["{name}|url"]
    both = {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}
    assert told(both) == ["|a", "|{name}"]


def test_an_array_of_objects_is_a_body_too():
    assert told({"type": "array", "items": INPUT}) == ["[]|url"]


def test_what_a_text_holds_is_told():
    assert told({"type": "string", "contentMediaType": "text/event-stream", "contentSchema": INPUT}) == ["|url"]
