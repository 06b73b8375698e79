"""Validates requests, answers and callbacks against the OpenAPI document. What is not documented is refused.

Schemas are read as JSON Schema 2020-12, with formats checked. A failure is an AssertionError that says what is wrong.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from reference.document import document
from tests.reference.places import Place, Undocumented, at, operation

ROOT = "urn:darkroom:openapi"
# What HTTP and browsers ask for on any answer.
USUAL = {
    *("allow", "cache-control", "connection", "content-length", "content-type", "date", "vary"),
    *("content-security-policy", "strict-transport-security", "referrer-policy", "x-frame-options"),
    *("cross-origin-opener-policy", "cross-origin-resource-policy", "x-content-type-options", "accept-ranges"),
    *("request-id", "x-accel-buffering"),
}


class Response(Protocol):
    """An answer as Django's test client and `requests` give it."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes


def request(method: str, path: str, body: Any, *, media_type: str = "application/json") -> None:
    """That this body is a documented request."""
    valid(media(operation(method, path)["requestBody"], media_type), body)


def answer(method: str, path: str, response: Response) -> None:
    """That status, headers and body of this answer are documented."""
    called = f"{method} {path} → {response.status_code}"
    responses = operation(method, path)["responses"]
    if str(response.status_code) not in responses:
        raise Undocumented(f"{called}: {response.content[:500]!r}")
    found = responses[str(response.status_code)]
    try:
        headers(found, response.headers)
        if method != "HEAD":
            body(found, response.headers.get("Content-Type", ""), response.content)
    except AssertionError as error:
        raise type(error)(f"{called}: {error}") from error


def refusal(name: str, response: Response) -> None:
    """That this answer is the response of that name, which no operation has: of an unknown path or method, say."""
    found = at("components", "responses", name)
    headers(found, response.headers)
    body(found, response.headers.get("Content-Type", ""), response.content)


def callback(name: str, sent: Mapping[str, str], content: bytes) -> None:
    """That headers and body of this call are those of the webhook of that name."""
    webhook = at("webhooks", name)["post"]
    for each in range(len(webhook.value["parameters"])):
        parameter = webhook["parameters"][str(each)]
        text(parameter, parameter.value["name"], sent.get(parameter.value["name"]))
    valid(media(webhook["requestBody"], sent["Content-Type"]), json.loads(content))


def headers(found: Place, sent: Mapping[str, str]) -> None:
    """That each header is as documented, and none but the usual ones are not documented."""
    named = found.value.get("headers", {})
    for name in named:
        text(found["headers"][name], name, sent.get(name))
    if more := {name.lower() for name in sent} - {name.lower() for name in named} - USUAL:
        raise Undocumented(f"the headers {sorted(more)}")


def text(described: Place, name: str, value: str | None) -> None:
    """That a header or parameter of this description may have this value; None is absent."""
    if value is None:
        assert not described.value.get("required"), f"{name} is missing"
        return
    schema = described["schema"]
    is_number = schema.value.get("type") in ("integer", "number")
    valid(schema, json.loads(value) if is_number else value, name)


def body(found: Place, content_type: str, content: bytes) -> None:
    """That a body of this type is as documented; what is not JSON is known by its media type alone."""
    if "content" not in found:
        assert not content, f"a body where none is documented: {content[:200]!r}"
        return
    schema = media(found, content_type)
    if content_type.startswith("application/json"):
        valid(schema, json.loads(content))


def media(described: Place, content_type: str) -> Place:
    """The schema of that media type."""
    plain = content_type.split(";")[0].strip().lower()
    for name in (plain, plain.split("/")[0] + "/*", "*/*"):
        if name in described["content"]:
            return described["content"][name]["schema"]
    raise Undocumented(f"the media type {content_type!r}")


def valid(schema: Place, value: Any, name: str = "body") -> None:
    """That the value is one of the schema."""
    problems = [f"{each.json_path.replace('$', name, 1)}: {each.message}" for each in errors(schema, value)]
    assert not problems, "\n".join(problems)


def errors(schema: Place, value: Any) -> list[Any]:
    """What is wrong with the value, by the depth at which it is."""
    validator = Draft202012Validator(
        {"$ref": f"{ROOT}#{schema.pointer}"}, registry=registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    return sorted(validator.iter_errors(value), key=lambda error: len(error.absolute_path))


@lru_cache(maxsize=1)
def registry() -> Registry:
    """The document, in which schemas find what they refer to."""
    return Registry().with_resource(ROOT, Resource(contents=document(), specification=DRAFT202012))
