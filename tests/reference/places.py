"""Finds its way in the OpenAPI document: to what a reference stands for, and to the operation of a request."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any
from urllib.parse import quote, urlsplit

from reference.document import document

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
PLACEHOLDER = re.compile(r"\{[^{}]+\}")


class Undocumented(AssertionError):
    """A path, method, status, media type or header that the document does not know."""


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


def parameters(path: str, operation: Place) -> Iterator[Place]:
    """Those of the path and of its operation."""
    for owner in (at("paths", path), operation):
        for each in range(len(owner.value.get("parameters", ()))):
            yield owner["parameters"][str(each)]


def spelled_out(path: str, operation: Place) -> Iterator[str]:
    """The path with each value that a placeholder may have, where they are listed; `{}` stands for any other."""
    listed = {p.value["name"]: p["schema"].value.get("enum", ["{}"]) for p in parameters(path, operation)}
    fixed, names = PLACEHOLDER.split(path), [name[1:-1] for name in PLACEHOLDER.findall(path)]
    for values in product(*(listed[name] for name in names)):
        yield "".join(part + value for part, value in zip(fixed, (*values, ""), strict=True))
