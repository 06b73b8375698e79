"""Validates requests, answers and callbacks against the OpenAPI document. What is not documented is refused.

Schemas are read as JSON Schema 2020-12, with formats checked. A failure is an AssertionError that says what is wrong.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from reference.document import document

ROOT = "urn:darkroom:openapi"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PLACEHOLDER = re.compile(r"\{[^{}]+\}")


class Undocumented(AssertionError):
    """A path, method, status, media type or header that the document does not know."""


class Response(Protocol):
    """An answer as Django's test client and `requests` give it."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An object of the document, and the way to it from the root: names, and places in lists. References are
    followed."""

    names: tuple[str, ...]
    value: Any

    def __getitem__(self, name: str) -> "Place":
        return at(*self.names, name)

    def __contains__(self, name: str) -> bool:
        return name in self.value

    @property
    def pointer(self) -> str:
        """As a fragment of a URI."""
        return "".join("/" + quote(name.replace("~", "~0").replace("/", "~1")) for name in self.names)


def at(*names: str) -> Place:
    """The object at the end of this way; where a reference stands there, what it points to."""
    value: Any = document()
    for name in names:
        value = value[int(name) if isinstance(value, list) else name]
    if isinstance(value, dict) and "$ref" in value:
        return at(*unescaped(value["$ref"]))
    return Place(names=names, value=value)


def unescaped(reference: str) -> list[str]:
    """The names of a local reference."""
    assert reference.startswith("#/"), f"{reference} points out of the document"
    return [name.replace("~1", "/").replace("~0", "~") for name in reference[2:].split("/")]


def operations() -> Iterator[tuple[str, str, Place]]:
    """Method, path and place of each operation; methods in lower case."""
    for path in document()["paths"]:
        for method in METHODS:
            if method in at("paths", path):
                yield method, path, at("paths", path)[method]


def operation(method: str, path: str) -> Place:
    """The one that serves this request; HEAD is GET's where it has none of its own. Literal paths come first."""
    found = [template for template in document()["paths"] if pattern(template).fullmatch(urlsplit(path).path)]
    for template in sorted(found, key=lambda each: len(PLACEHOLDER.findall(each))):
        for name in [method.lower(), *(["get"] if method == "HEAD" else [])]:
            if name in at("paths", template):
                return at("paths", template)[name]
    raise Undocumented(f"{method} {path}")


@lru_cache(maxsize=200)
def pattern(template: str) -> re.Pattern[str]:
    """What a path of this template looks like. A value takes no slash."""
    fixed = map(re.escape, PLACEHOLDER.split(template))
    return re.compile("[^/]+".join(fixed))


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
    """That the documented headers are as documented."""
    for name in found.value.get("headers", {}):
        text(found["headers"][name], name, sent.get(name))


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
