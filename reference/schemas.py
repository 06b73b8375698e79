"""Resolves `$ref` and `allOf` in the document's schemas."""

from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]
Document = Mapping[str, Any]
Refs = frozenset[str]
NONE: Refs = frozenset()
GATHERED = ("properties", "required")


def lookup(ref: str, document: Document) -> Any:
    """Returns the target of a reference within the document. Raises KeyError."""
    found: Any = document
    for step in ref.removeprefix("#/").split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def resolved(node: Any, document: Document) -> Any:
    """Returns a parameter, header, answer or example itself, or the one that it refers to."""
    while isinstance(node, Mapping) and "$ref" in node:
        node = lookup(node["$ref"], document)
    return node


def flat(schema: Schema | bool, document: Document, seen: Refs = NONE) -> tuple[Schema, Refs]:
    """Returns a schema as one mapping, with the references followed to it.

    Fields beside a `$ref` or an `allOf` override theirs. Raises ValueError for a schema that refers to itself.
    """
    if isinstance(schema, bool):
        return {}, NONE
    ref = schema.get("$ref")
    if ref in seen:
        raise ValueError(f"{ref} refers to itself")
    found = [flat(inner, document, seen) for inner in schema.get("allOf", ())]
    refs = NONE.union(*(further for _, further in found))
    if ref:
        target, further = flat(lookup(ref, document), document, seen | {ref})
        found.insert(0, (target, further))
        refs |= further | {ref}
    return merged([*(part for part, _ in found), without(schema, "$ref", "allOf")]), refs


def merged(parts: Iterable[Schema]) -> Schema:
    """Merges schemas that all apply: later fields override, and properties are combined."""
    whole: dict[str, Any] = {}
    for part in parts:
        properties = both(whole.get("properties", {}), part.get("properties", {}))
        required = [*dict.fromkeys([*whole.get("required", ()), *part.get("required", ())])]
        whole |= without(part, *GATHERED)
        whole |= {name: value for name, value in zip(GATHERED, (properties, required), strict=True) if value}
    return whole


def both(first: Schema, second: Schema) -> Schema:
    """Merges the fields of two schemas; a field of both must satisfy both."""
    shared = {name: {"allOf": [first[name], second[name]]} for name in first if name in second}
    return {**first, **second, **shared}


def variants(schema: Schema) -> list[Schema | bool]:
    """Returns the alternative forms of a value."""
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


def without(schema: Schema, *names: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in names}
