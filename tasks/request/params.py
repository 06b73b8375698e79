"""Step 4: validate `params` of any modality into a TaskRequest. Pure: its Data URLs are stored by the submission.

Which fields there are, `common/params/` declares; the bounds of a model (`catalog/runnable/bounds.py`) say what it
takes of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from adapters.base import TaskRequest
from common.params import tables
from common.params.row import Param, ParamKind, ParamTable
from tasks.request import images, inputs, options
from tasks.request.fields import ParamField, RequestFields, refuse
from tasks.request.values import ParamRules

FLAGS = (True, False)
EITHER: Mapping[ParamKind, Mapping[str, Any]] = {
    ParamKind.TEXT: {"type": "string"},
    ParamKind.INPUTS: {"type": "array", "minItems": 1},
}
"""What the schema says of a field of which a request needs one among others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamParser:
    """Reads the params of one modality within a model's bounds. `fields` are in the order in which they are read."""

    modality: str
    declared: ParamTable
    fields: Mapping[str, ParamField]

    def parse(self, params: dict[str, Any], *, model_name: str, rules: ParamRules) -> TaskRequest:
        """The request; `model_name` is the model as the top level names it. Raises InvalidRequest."""
        given = RequestFields(values=params, path="params")
        if "model" in params and (given.text("model") or model_name) != model_name:
            refuse("params.model", "must equal model")
        if not params.keys() <= self.fields.keys():
            given.refuse_unknown(("model", *self.fields), self.declared.hints)
        values: dict[str, Any] = {}
        for name, field in self.fields.items():
            value = field.default if params.get(name) is None else field.read(given, name, rules)
            if value is not None:
                values[name] = value
            elif field.is_required:
                refuse(given.at(name), "is required")
        if self.declared.either and not any(values.get(name) for name in self.declared.either):
            refuse(" or ".join(map(given.at, self.declared.either)), "is required")
        return TaskRequest(modality=self.modality, **values)

    @property
    def either(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: EITHER[self.declared[name].kind] for name in self.declared.either}


def parser(modality: str, bounds: Mapping[str, Any]) -> ParamParser:
    declared = tables.TABLES[modality]
    fields = {row.name: _field(row, declared, bounds) for row in declared.rows}
    return ParamParser(modality=modality, declared=declared, fields=fields)


def _field(row: Param, table: ParamTable, bounds: Mapping[str, Any]) -> ParamField:
    offered = bounds.get(row.name) or {}
    if not offered.get("values", row.kind is not ParamKind.CHOICE):
        return refused()
    match row.kind:
        case ParamKind.TEXT:
            return text(is_required=row.is_required, longest=row.most_of(bounds), description=row.help)
        case ParamKind.WHOLE:
            return whole(
                largest=row.most_of(bounds) or 0,
                least=row.least,
                is_required=row.is_required,
                default=row.default,
                description=row.help,
            )
        case ParamKind.FLAG:
            return flag(offered)
        case ParamKind.CHOICE:
            return choice(offered)
        case ParamKind.IMAGES:
            return images.field(largest=row.most_of(bounds) or 0, takes_data=bounds.get("data_url", True))
        case ParamKind.INPUTS:
            return inputs.field(row.roles, offered, most=row.most_of(bounds) or 0)
        case ParamKind.OPTIONS:
            largest = {name: table[name].most_of(bounds) or 0 for name in row.numbers}
            return options.field(reserved=table.reserved, largest=largest)
        case _:
            assert_never(row.kind)


def text(*, is_required: bool = False, longest: int | None = None, description: str = "") -> ParamField:
    """A string with more than blanks in it."""
    schema = _type("string", is_required) | {"pattern": r"\S"}
    schema |= {"description": description} if description else {}
    schema |= {"maxLength": longest} if longest else {}
    return ParamField(
        read=lambda fields, name, _: fields.text(name, longest=longest), schema=schema, is_required=is_required
    )


def whole(
    *, largest: int, least: int = 1, is_required: bool = False, default: int | None = None, description: str = ""
) -> ParamField:
    """A whole number from `least` to `largest`; `default` is that of `TaskRequest`."""
    schema = _type("integer", is_required) | {"minimum": least, "maximum": largest}
    schema |= {"description": description} if description else {}
    schema |= {} if default is None else {"default": default}
    return ParamField(
        read=lambda fields, name, _: fields.integer(name, largest=largest, least=least),
        schema=schema,
        is_required=is_required,
    )


def flag(offered: Mapping[str, Any]) -> ParamField:
    """True or false, or the one of both that the model offers; both where nothing is said."""
    values = offered.get("values", FLAGS)
    narrowed = {} if len(values) == len(FLAGS) else {"enum": [*values, None]}
    return ParamField(
        read=lambda fields, name, _: fields.flag(name, values), schema=_type("boolean", is_required=False) | narrowed
    )


def choice(offered: Mapping[str, Any]) -> ParamField:
    """One of the values that the model offers."""
    values, default = tuple(offered.get("values") or ()), offered.get("default")
    return ParamField(
        read=lambda fields, name, _: fields.choice(name, values),
        schema={"enum": list(values)} if default is None else {"enum": [*values, None], "default": default},
        is_required=default is None,
        default=default,
    )


def refused() -> ParamField:
    """A field that the model does not take."""

    def read(fields: RequestFields, name: str, _: ParamRules) -> None:
        refuse(fields.at(name), "is not supported by this model")

    return ParamField(read=read, schema={"type": "null"})


def _type(name: str, is_required: bool) -> dict[str, Any]:
    return {"type": name if is_required else [name, "null"]}
