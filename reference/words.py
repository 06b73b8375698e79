"""Describes a schema in words: the kind of a value, and its other constraints."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reference.schemas import NONE, Document, Refs, Schema, flat, variants

FORMATS = {
    "date-time": "ISO 8601 time",
    "uri": "URL",
    "binary": "file",
    "byte": "base64",
}
ANY = "anything"
NOT_BLANK = r"\S"
OF_PYTHON = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A short remark: words, followed by values as in JSON."""

    label: str
    values: tuple[str, ...] = ()


def kind(schema: Schema | bool, document: Document) -> str:
    """Names a value's kind: string; integer or null; array of objects; map of strings or nulls, or null."""
    return either(kinds(schema, document, NONE))


def kinds(schema: Schema | bool, document: Document, seen: Refs) -> list[str]:
    """Names one kind for each type, null last; for a schema without a type, those of its forms."""
    whole, refs = flat(schema, document)
    if refs & seen:
        return ["object"]
    seen |= refs
    found = [name for form in variants(whole) for name in kinds(form, document, seen) if name != ANY]
    if not found or "type" in whole:
        found = [_kind_of(name, whole, document, seen) for name in _types(whole)]
    return sorted(dict.fromkeys(found), key="null".__eq__)


def either(names: Sequence[str]) -> str:
    """Joins names: a; a or b; a, b or c; a or b, or c if the first is itself a choice."""
    *others, last = names
    comma = "," if any(" or " in name for name in others) else ""
    return f"{', '.join(others)}{comma} or {last}" if others else last


def _types(schema: Schema) -> list[str]:
    """Returns the schema's JSON types, named or implied."""
    if "type" in schema:
        return [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return list(dict.fromkeys(OF_PYTHON.get(type(value), "object") for value in values))
    if "properties" in schema or "additionalProperties" in schema:
        return ["object"]
    return ["array"] if "items" in schema else [ANY]


def _kind_of(name: str, schema: Schema, document: Document, seen: Refs) -> str:
    if name == "array":
        return f"array of {_many(schema['items'], document, seen)}" if "items" in schema else "array"
    if name == "object":
        inner = schema.get("additionalProperties")
        is_map = isinstance(inner, dict) and inner and not schema.get("properties")
        return f"map of {_many(schema['additionalProperties'], document, seen)}" if is_map else "object"
    form = str(schema.get("format") or schema.get("contentEncoding") or "") if name == "string" else ""
    return f"{name} ({FORMATS.get(form, form)})" if form else name


def _many(schema: Schema | bool, document: Document, seen: Refs) -> str:
    return either([plural(name) for name in kinds(schema, document, seen)])


def plural(name: str) -> str:
    """Returns a kind's plural: string → strings; array of strings → arrays of strings."""
    first, space, rest = name.partition(" ")
    return name if name == ANY else f"{first}s{space}{rest}"


def schema_facts(schema: Schema | bool, document: Document) -> tuple[Fact, ...]:
    """Lists values, bounds, default and an example, also for the items of an array of plain values."""
    whole, _ = flat(schema, document)
    items, _ = flat(whole.get("items", {}), document)
    each = (Fact(label=f"Each: {fact.label}", values=fact.values) for fact in _facts(items))
    return (*_facts(whole), *each)


def _facts(schema: Schema) -> Iterator[Fact]:
    if "const" in schema:
        yield Fact(label="Always", values=(literal(schema["const"]),))
    elif "enum" in schema:
        yield Fact(label="One of", values=tuple(map(literal, schema["enum"])))
    yield from _bounds(schema)
    if schema.get("pattern") == NOT_BLANK:
        yield Fact(label="Not blank")
    elif "pattern" in schema:
        yield Fact(label="Matches", values=(schema["pattern"],))
    if schema.get("uniqueItems"):
        yield Fact(label="No item twice")
    if "default" in schema:
        yield Fact(label="Default", values=(literal(schema["default"]),))
    samples = [schema["example"]] if "example" in schema else schema.get("examples", ())
    plain = tuple(literal(value) for value in samples if not isinstance(value, dict | list))
    if plain and "enum" not in schema and "const" not in schema:
        yield Fact(label="For example", values=plain)


def _bounds(schema: Schema) -> Iterator[Fact]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if (between := bounds(low, high, "")) is not None:
        yield Fact(label=between)
    if "exclusiveMinimum" in schema:
        yield Fact(label=f"More than {number(schema['exclusiveMinimum'])}")
    if "exclusiveMaximum" in schema:
        yield Fact(label=f"Less than {number(schema['exclusiveMaximum'])}")
    if "multipleOf" in schema:
        yield Fact(label=f"A multiple of {number(schema['multipleOf'])}")
    for suffix, unit in (("Length", "character"), ("Items", "item"), ("Properties", "field")):
        if (between := bounds(schema.get(f"min{suffix}"), schema.get(f"max{suffix}"), unit)) is not None:
            yield Fact(label=between)


def bounds(low: Any, high: Any, unit: str) -> str | None:
    """Describes bounds: At least 1 item; at most 16 items; 1 to 64 characters; exactly 3 items; from 1 to 10."""
    if low is None and high is None:
        return None
    if high is None:
        return f"At least {counted(low, unit)}"
    if low is None or (unit and low == 0):
        return f"At most {counted(high, unit)}"
    if low == high:
        return f"Exactly {counted(high, unit)}"
    return f"{number(low)} to {counted(high, unit)}"


def counted(count: Any, unit: str) -> str:
    return f"{number(count)} {unit}{'' if count == 1 else 's'}" if unit else number(count)


def number(value: float) -> str:
    return f"{value:,}"


def literal(value: Any) -> str:
    """Shows a text as it is, anything else as JSON."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
