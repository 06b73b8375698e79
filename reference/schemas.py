"""Schemas of the document without their indirections: `$ref` and `allOf` are gone, what they stand for is there."""

from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]
Document = Mapping[str, Any]
Refs = frozenset[str]
NONE: Refs = frozenset()
GATHERED = ("properties", "required")


def lookup(ref: str, document: Document) -> Any:
    """What a reference into the document stands for. Raises KeyError."""
    found: Any = document
    for step in ref.removeprefix("#/").split("/"):
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def resolved(node: Any, document: Document) -> Any:
    """A parameter, header, answer or example, itself or what it refers to."""
    while isinstance(node, Mapping) and "$ref" in node:
        node = lookup(node["$ref"], document)
    return node


def flat(schema: Schema | bool, document: Document, seen: Refs = NONE) -> tuple[Schema, Refs]:
    """A schema as one mapping, and the references that were followed to it.

    What stands beside a `$ref` or an `allOf` wins over what they bring. Raises ValueError for a schema that is itself.
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
    """Several schemas that all hold: the later one's words win, fields of all are there."""
    whole: dict[str, Any] = {}
    for part in parts:
        properties = both(whole.get("properties", {}), part.get("properties", {}))
        required = [*dict.fromkeys([*whole.get("required", ()), *part.get("required", ())])]
        whole |= without(part, *GATHERED)
        whole |= {name: value for name, value in zip(GATHERED, (properties, required), strict=True) if value}
    return whole


def both(first: Schema, second: Schema) -> Schema:
    """Fields of two schemas; one that both have must be as both say."""
    shared = {name: {"allOf": [first[name], second[name]]} for name in first if name in second}
    return {**first, **second, **shared}


def variants(schema: Schema) -> list[Schema | bool]:
    """The forms of which a value has one."""
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


def without(schema: Schema, *names: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in names}
