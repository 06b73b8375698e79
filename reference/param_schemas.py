"""Builds the schemas of params in the OpenAPI document from the declared fields (`common/params/`).

Schemas of `reference/openapi/` refer to them: `params-of: image` for the fields of a request, `bounds-of: image` for
those that a catalog's model lists.
"""

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from catalog import model_params
from catalog.model_params import CHOICE
from common.params import tables
from common.params.row import FIRST_VERSION, Param, ParamKind, ParamTable, Roles
from common.params.video import ROLES

Schema = dict[str, Any]
MODEL: Schema = {"type": ["string", "null"], "description": "If present, equal to the `model` of the task."}
EITHER: Mapping[ParamKind, Schema] = {
    ParamKind.TEXT: {"type": "string"},
    ParamKind.INPUTS: {"type": "array", "minItems": 1, "items": {}},
}


def filled(schema: Schema) -> Schema:
    """Returns the schema with the declared fields in place of such a reference. Raises ValueError for other fields
    beside it."""
    whole: Schema = {}
    for word, said in schema.items():
        more = MADE[word](said) if word in MADE else {word: said}
        if twice := more.keys() & whole.keys():
            raise ValueError(f"{word} repeats {', '.join(sorted(twice))}")
        whole |= more
    return whole


def describe_request(modality: str) -> Schema:
    """Describes the fields of a request."""
    table = tables.TABLES[modality]
    required = [row.name for row in table.rows if row.is_required]
    either = [{"required": [name], "properties": {name: EITHER[table[name].kind]}} for name in table.either]
    return {
        **({"required": required} if required else {}),
        "properties": {"model": MODEL, **{row.name: describe_field(row, table) for row in table.rows}},
        **({"anyOf": either} if either else {}),
    }


def describe_bounds(modality: str) -> Schema:
    """Describes the fields that the catalog lists."""
    rules = model_params.RULES[modality].items()
    return {"properties": {name: _refers("Choice" if rule.kind == CHOICE else "Most") for name, rule in rules}}


MADE: Mapping[str, Callable[[str], Schema]] = {"params-of": describe_request, "bounds-of": describe_bounds}


def describe_field(row: Param, table: ParamTable) -> Schema:
    """Describes one field as any model may accept it."""
    if row.component:
        return _refers(row.component)
    told = row.description if row.since == FIRST_VERSION else f"{row.description} Since version {row.since}."
    kind, rules = _kind_and_rules(row, table)
    return {"type": kind if row.is_required else [kind, "null"], "description": told, **rules}


def _kind_and_rules(row: Param, table: ParamTable) -> tuple[str, Schema]:
    match row.kind:
        case ParamKind.TEXT:
            return "string", {**({"maxLength": row.most} if row.most else {}), "pattern": r"\S"}
        case ParamKind.CHOICE:
            return "string", {}
        case ParamKind.WHOLE:
            default = {} if row.default is None else {"default": row.default}
            return "integer", {"minimum": row.least, "maximum": row.most, **default}
        case ParamKind.FLAG:
            return "boolean", {}
        case ParamKind.IMAGES:
            return "array", {"maxItems": row.most, "items": _refers("ReferenceImage")}
        case ParamKind.INPUTS:
            return "array", {"maxItems": row.most, "items": {**_refers("MediaInput"), **_narrowed(row.roles)}}
        case ParamKind.OPTIONS:
            reserved = {name: {"type": "null"} for name in table.reserved}
            return "object", {"properties": reserved} if reserved else {}
        case _:
            assert_never(row.kind)


def _narrowed(roles: Roles) -> Schema:
    """Describes the types and roles of inputs where not all are accepted."""
    if roles == ROLES:
        return {}
    values: dict[str, list[str]] = {
        "type": list(roles),
        "role": list(dict.fromkeys(role for taken in roles.values() for role in taken)),
    }
    return {
        "properties": {
            name: {"const": taken[0]} if len(taken) == 1 else {"enum": taken} for name, taken in values.items()
        }
    }


def _refers(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
