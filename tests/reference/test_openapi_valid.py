"""The document is one of OpenAPI 3.1, and whoever reads it finds what it points to."""

from collections.abc import Iterator
from typing import Any

from openapi_spec_validator import OpenAPIV31SpecValidator

from reference.document import as_json, document
from tests.reference import places

LONGEST_SUMMARY = 60
OF_NO_OPERATION = "MethodNotAllowed"  # what a path answers to all other methods


def test_it_is_an_openapi_document():
    found = [
        f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in OpenAPIV31SpecValidator(document()).iter_errors()
    ]
    assert not found, "\n".join(found)


def test_every_reference_leads_somewhere():
    for reference in references(document()):
        assert places.at(*places.unescaped(reference)).value is not None, reference


def test_every_component_is_referred_to_or_named():
    """Events of a stream are named in its description: OpenAPI 3.1 has no other place for them."""
    used, text = set(references(document())), as_json()
    for kind in document()["components"].keys() - {"securitySchemes"}:
        for name in document()["components"][kind].keys() - {OF_NO_OPERATION}:
            assert f"#/components/{kind}/{name}" in used or f"`{name}`" in text, f"{kind}/{name}"


def references(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, each in value.items():
                if name == "$ref":
                    yield each
                else:
                    yield from references(each)
        case list():
            for each in value:
                yield from references(each)


def test_operation_ids_are_unique():
    webhooks = [webhook["post"]["operationId"] for webhook in document()["webhooks"].values()]
    ids = [place.value["operationId"] for _, _, place in places.operations()] + webhooks
    assert sorted(ids) == sorted(set(ids))


def test_every_operation_says_what_it_is_for():
    tags = {tag["name"] for tag in document()["tags"]}
    for method, path, place in places.operations():
        operation = place.value
        assert 0 < len(operation["summary"]) <= LONGEST_SUMMARY, f"{method} {path}"
        assert operation["description"], f"{method} {path}"
        assert [tag in tags for tag in operation["tags"]] == [True], f"{method} {path}"


def test_every_operation_says_how_it_succeeds_and_what_our_fault_is():
    for method, path, place in places.operations():
        statuses = set(place.value["responses"])
        assert any(status.startswith("2") for status in statuses), f"{method} {path}"
        if path.startswith("/v1"):
            assert {"401", "500", "503"} <= statuses, f"{method} {path}"


def test_every_answer_is_described_and_names_the_request():
    for method, path, place in places.operations():
        for status in place.value["responses"]:
            response = place["responses"][status]
            assert response.value["description"].strip(), f"{method} {path} {status}"
            assert "X-Request-Id" in response.value["headers"], f"{method} {path} {status}"


def test_every_placeholder_is_a_parameter():
    for method, path, place in places.operations():
        found = [parameter.value for parameter in places.parameters(path, place)]
        given = {parameter["name"] for parameter in found if parameter["in"] == "path"}
        assert given == {part[1:-1] for part in places.PLACEHOLDER.findall(path)}, f"{method} {path}"
