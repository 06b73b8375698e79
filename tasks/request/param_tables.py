"""The fields that a request of a modality may have, made of their declarations (`common/params/`) for the bounds of a
model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from common.by_identity import by_identity
from common.params import tables
from common.params.row import Param, ParamKind, ParamTable
from tasks.request import images, inputs, options, param_fields
from tasks.request.param_fields import ParamField

EITHER: Mapping[ParamKind, Mapping[str, Any]] = {
    ParamKind.TEXT: {"type": "string"},
    ParamKind.INPUTS: {"type": "array", "minItems": 1},
}
"""What the schema says of a field of which a request needs one among others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalityParams:
    """The params of one modality. Bounds are those of a model (`catalog/runnable/bounds.py`)."""

    declared: ParamTable

    def table(self, bounds: Mapping[str, Any]) -> Mapping[str, ParamField]:
        """The fields by name, in the order in which they are read."""
        return {row.name: _field(row, self.declared, bounds) for row in self.declared.rows}

    @property
    def either(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: EITHER[self.declared[name].kind] for name in self.declared.either}


MODALITIES: Mapping[str, ModalityParams] = {
    name: ModalityParams(declared=declared) for name, declared in tables.TABLES.items()
}
# A model's bounds never change within a picture of the catalog.
FIELDS = {modality: by_identity(params.table) for modality, params in MODALITIES.items()}


def _field(row: Param, table: ParamTable, bounds: Mapping[str, Any]) -> ParamField:
    offered = bounds.get(row.name) or {}
    if not offered.get("values", row.kind is not ParamKind.CHOICE):
        return param_fields.refused()
    match row.kind:
        case ParamKind.TEXT:
            return param_fields.text(is_required=row.is_required, longest=row.most_of(bounds), description=row.help)
        case ParamKind.WHOLE:
            return param_fields.whole(
                largest=row.most_of(bounds) or 0,
                least=row.least,
                is_required=row.is_required,
                default=row.default,
                description=row.help,
            )
        case ParamKind.FLAG:
            return param_fields.flag(offered)
        case ParamKind.CHOICE:
            return param_fields.choice(offered)
        case ParamKind.IMAGES:
            return images.field(largest=row.most_of(bounds) or 0, takes_data=bounds.get("data_url", True))
        case ParamKind.INPUTS:
            return inputs.field(row.roles, offered, most=row.most_of(bounds) or 0)
        case ParamKind.OPTIONS:
            largest = {name: table[name].most_of(bounds) or 0 for name in row.numbers}
            return options.field(reserved=table.reserved, largest=largest)
        case _:
            assert_never(row.kind)
