"""Choice of a field's widget by its JSON Schema; an unknown schema gets a box for JSON. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from common.documents import elements, shown
from common.params import tables
from console.create import widgets
from console.create.widgets import Choice, Kind, Medium, Slot, Widget
from tasks.request.references import URL

MOST_TILES, MOST_RATIOS = 6, 12
LONG_TEXT = 1000
FLAGS = (Choice(value=True, label="On"), Choice(value=False, label="Off"))
LABELS = {row.name: row.label for table in tables.TABLES.values() for row in table.rows if row.label}


def choose(name: str, schema: Mapping[str, Any], *, is_required: bool = False) -> Widget | None:
    """Choose the widget of `params.<name>`; None for a field that must be left out."""
    rule = _without_null(schema)
    types = _types(rule)
    if types == ["null"] or (rule.get("maxItems") == 0 and types == ["array"]):
        return None
    kind, details = _look(name, rule, types)
    plain = Widget(
        kind=kind,
        path=f"params.{name}",
        label=LABELS.get(name, name.replace("_", " ").capitalize()),
        is_required=is_required,
        default=rule.get("default"),
        help=str(rule.get("description", "")) if name != "prompt" else "",
    )
    return replace(plain, **details)


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Simplify `anyOf` of a schema and null to that schema."""
    parts = [shown(part) for part in elements(schema.get("anyOf")) if shown(part).get("type") != "null"]
    if len(parts) == 1 and "type" not in schema:
        return {**{word: rule for word, rule in schema.items() if word != "anyOf"}, **parts[0]}
    return schema


def _types(rule: Mapping[str, Any]) -> list[str]:
    given = rule.get("type")
    types = [given] if isinstance(given, str) else [each for each in elements(given) if isinstance(each, str)]
    return [each for each in types if each != "null"] or types


def _look(name: str, rule: Mapping[str, Any], types: Sequence[str]) -> tuple[Kind, dict[str, Any]]:
    if types == ["boolean"]:
        taken = elements(rule.get("enum")) or [True, False]
        return "tiles", {"choices": tuple(flag for flag in FLAGS if flag.value in taken)}
    if "enum" in rule:
        return _choice([value for value in elements(rule["enum"]) if value is not None])
    if types in (["integer"], ["number"]):
        return "number", _bounds(rule, is_whole=types == ["integer"])
    if types == ["string"]:
        return _text(name, rule)
    if types == ["array"]:
        return _list(f"params.{name}", rule)
    return "json", {}


def _choice(values: Sequence[Any]) -> tuple[Kind, dict[str, Any]]:
    choices = tuple(Choice(value=value, label=_told(value), shape=widgets.shape_of(value)) for value in values)
    is_ratios = all(choice.shape for choice in choices)
    return "tiles" if len(values) <= (MOST_RATIOS if is_ratios else MOST_TILES) else "select", {"choices": choices}


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bounds(rule: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    low = rule.get("minimum", rule.get("exclusiveMinimum"))
    high = rule.get("maximum", rule.get("exclusiveMaximum"))
    return {"low": low, "high": high, "is_whole": is_whole, "step": rule.get("multipleOf")}


def _text(name: str, rule: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
    longest = rule.get("maxLength")
    if rule.get("format") in ("uri", "url") or rule.get("pattern") == URL:
        return "url", {"longest": longest}
    is_long = "prompt" in name or (longest or 0) >= LONG_TEXT
    return "long" if is_long else "text", {"longest": longest}


def _list(path: str, rule: Mapping[str, Any]) -> tuple[Kind, dict[str, Any]]:
    element = shown(rule.get("items"))
    fields, most = shown(element.get("properties")), rule.get("maxItems", 1000)
    if "image_url" in fields:
        label = LABELS["images"]
        return "media", {"slots": (Slot(name=path, label=label, medium="image", role="", most=most, takes_files=True),)}
    if {"type", "role", "url"} <= fields.keys():
        return "media", {"slots": tuple(_slots(path, element, rule, most))}
    return ("lines" if _types(element) == ["string"] else "json"), {}


def _slots(path: str, element: Mapping[str, Any], rule: Mapping[str, Any], most: int) -> list[Slot]:
    """Build a slot for each type and role; a role that is allowed once has one place."""
    once = {shown(shown(shown(each).get("contains")).get("properties")).get("role", {}).get("const")
            for each in elements(rule.get("allOf"))}  # fmt: skip
    slots: list[Slot] = []
    for part in elements(element.get("anyOf")):
        rules = shown(shown(part).get("properties"))
        medium: Any = shown(rules.get("type")).get("const")
        for role in elements(shown(rules.get("role")).get("enum")):
            slots.append(_slot(path, medium, role, 1 if role in once else most))
    return slots


def _slot(path: str, medium: Medium, role: str, most: int) -> Slot:
    return Slot(
        name=f"{path}.{medium}.{role}",
        label=f"{role.replace('_', ' ')} {medium if role == 'reference' else ''}".strip().capitalize(),
        medium=medium,
        role=role,
        most=most,
        takes_files=medium == "image",
    )
