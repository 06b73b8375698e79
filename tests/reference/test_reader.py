"""Operations as the pages show them."""

import pytest

from reference import snippets
from reference.reader import operations
from reference.sections import sections_of
from tests.reference.small import DOCUMENT


@pytest.fixture
def thing():
    return next(operations(DOCUMENT))


def test_every_method_and_webhook_of_a_document_is_read():
    assert [(each.id, each.method, each.path, each.is_webhook) for each in operations(DOCUMENT)] == [
        ("sendThing", "POST", "/v1/things/{id}", False),
        ("health", "GET", "/healthz", False),
        ("ended", "POST", "your callback_url", True),
    ]


def test_tags_with_operations_are_pages():
    (page,) = sections_of(DOCUMENT)
    assert (page.slug, len(page.operations), page.has_webhooks) == ("big-things", 3, True)


def test_keys_are_named_where_one_is_needed(thing):
    assert [each.keys for each in operations(DOCUMENT)] == [("A key",), (), ()]
    assert "Authorization" not in list(operations(DOCUMENT))[1].curl


def test_parameters_stand_at_their_place(thing):
    told = [(place, [(row.name, row.is_required) for row in rows]) for place, rows in thing.parameters]
    assert told == [("path", [("id", True)]), ("query", [("size", True), ("page", False)])]


def test_bodies_answers_and_errors_are_told(thing):
    (body,), (answer,), (error,) = thing.bodies, thing.answers, thing.errors
    assert ([row.name for row in body.rows], thing.is_body_required) == (["name"], True)
    assert [example.title for example in body.examples] == ["One"]
    assert (answer.status, answer.phrase, answer.bodies[0].kind) == ("202", "Accepted", "array")
    assert [(row.name, row.description) for row in answer.headers] == [("X-Id", "Its id.")]
    assert (error.status, error.description, error.bodies[0].examples[0].text) == (
        "404",
        "Not there.",
        '{\n  "error": "missing"\n}',
    )


def test_the_shape_of_errors_is_told_once_and_for_all_of_them(thing):
    (row,) = thing.error_rows
    assert (row.name, row.description, row.facts) == ("error", "What happened.", ())


def test_a_command_has_the_address_the_key_and_the_body(thing):
    assert thing.curl.splitlines() == [
        'curl -X POST "$BASE_URL/v1/things/t1?size=3" \\',
        '  -H "Authorization: Bearer $GENERAL_API_KEY" \\',
        '  -H "Content-Type: application/json" \\',
        "  -d '{",
        '  "name": "Ada\'"\'"\'s"',
        "}'",
    ]


def test_a_stream_is_shown_as_it_comes():
    answers = {"200": {"description": "It.", "content": {"text/event-stream": {}}}}
    whole = {**DOCUMENT, "paths": {"/events": {"get": {"operationId": "events", "security": [], "responses": answers}}}}
    assert next(operations(whole)).curl == 'curl -N "$BASE_URL/events"'


def test_a_key_in_another_header_and_a_form_are_written_as_curl_takes_them():
    scheme = ("other", DOCUMENT["components"]["securitySchemes"]["other"])
    form = ("multipart/form-data", {"image": ["@a.png", "@b.png"], "n": 2, "prompt": "a boat"})
    command = snippets.curl("POST", "/v1/x", scheme=scheme, parameters=[], body=form)
    assert command.split(" \\\n  ")[1:] == [
        '-H "x-api-key: $GENERAL_API_KEY"',
        "-F image=@a.png",
        "-F image=@b.png",
        "-F n=2",
        "-F 'prompt=a boat'",
    ]
