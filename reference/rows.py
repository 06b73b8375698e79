"""Lists the fields of a body as table rows, each by its path as in errors (`params.images[].image_url`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from reference import words
from reference.schemas import NONE, Document, Refs, Schema, flat, variants
from reference.words import Fact

ANY_NAME = "{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """A field; or, with a `variant`, the heading of one of several forms that the value at its path may have."""

    path: str
    name: str = ""
    kind: str = ""
    description: str = ""
    facts: tuple[Fact, ...] = ()
    is_required: bool = False
    is_deprecated: bool = False
    variant: str = ""


def rows(schema: Schema | bool, document: Document) -> tuple[FieldRow, ...]:
    """Lists the fields of a value from the outside in; a recursive schema is written out once."""
    return tuple(_inside(schema, "", NONE, document))


def _inside(schema: Schema | bool, path: str, trail: Refs, document: Document) -> Iterator[FieldRow]:
    whole, refs = flat(schema, document)
    if refs & trail:
        return
    trail |= refs
    required = whole.get("required", ())
    for name, inner in whole.get("properties", {}).items():
        field = row(path, name, inner, document, is_required=name in required)
        if not is_refused(inner, field):
            yield field
            yield from _inside(inner, joined(path, name), trail, document)
    for held, place in (("items", f"{path}[]"), ("contentSchema", path)):
        if held in whole:
            yield from _inside(whole[held], place, trail, document)
    yield from _others(whole, path, trail, document)
    yield from _forms(whole, path, trail, document)


def _others(whole: Schema, path: str, trail: Refs, document: Document) -> Iterator[FieldRow]:
    """Lists fields with names that the caller chooses."""
    inner = whole.get("additionalProperties")
    if isinstance(inner, dict) and inner:
        if whole.get("properties"):
            yield row(path, ANY_NAME, inner, document)
        yield from _inside(inner, joined(path, ANY_NAME), trail, document)


def _forms(whole: Schema, path: str, trail: Refs, document: Document) -> Iterator[FieldRow]:
    """Lists each form under its own heading if several add fields."""
    known = whole.get("properties", {}).keys()
    adding = [
        form for form in variants(whole) if not known or flat(form, document)[0].get("properties", {}).keys() - known
    ]
    forms = [(form, list(_inside(form, path, trail, document))) for form in adding]
    full = [(form, inner) for form, inner in forms if inner]
    for place, (form, inner) in enumerate(full, 1):
        if len(full) > 1:
            said, _ = flat(form, document)
            title = said.get("title") or f"Form {place}"
            yield FieldRow(path=path, variant=title, description=said.get("description", ""))
        yield from inner


def is_refused(schema: Schema | bool, field: FieldRow) -> bool:
    """Tells whether a schema only forbids the field."""
    return schema is False or (field.kind == "null" and not field.description)


def row(path: str, name: str, schema: Schema | bool, document: Document, *, is_required: bool = False) -> FieldRow:
    """Describes one field without its inner fields."""
    whole, _ = flat(schema, document)
    return FieldRow(
        path=path,
        name=name,
        kind=words.kind(schema, document),
        description=whole.get("description", ""),
        facts=words.schema_facts(schema, document),
        is_required=is_required,
        is_deprecated=bool(whole.get("deprecated")),
    )


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
