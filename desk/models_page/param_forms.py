"""Form fields for a model's `params`, made from the table that also validates the catalog file.

A param of kind CHOICE has a list of values and a default; one of kind MOST has a number. Stored params that these
cannot show are listed separately and kept until an operator removes them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from catalog import model_params
from catalog.fields import Invalid
from catalog.model_params import CHOICE, RULES, ParamBound
from desk.kit.rows import LinesField

DROP = "drop_params"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamFields:
    """Form fields of one param."""

    param: str
    modality: str
    bound: ParamBound

    @property
    def names(self) -> tuple[str, ...]:
        if self.bound.kind == CHOICE:
            return (f"{self.param}_values", f"{self.param}_default")
        return (f"{self.param}_max",)

    def made(self) -> Iterator[tuple[str, forms.Field]]:
        if self.bound.kind == CHOICE:
            values, default = self.names
            yield values, LinesField(required=False, label=f"{self.param}: values", help_text=self.bound.about)
            yield (
                default,
                forms.CharField(
                    required=False,
                    label=f"Default of {self.param}",
                    help_text="One of the values. Empty: each request must choose.",
                ),
            )
        else:
            yield (
                self.names[0],
                forms.IntegerField(required=False, label=f"{self.param}, at most", help_text=self.bound.about),
            )

    def shown(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the stored param to field values."""
        if self.bound.kind == CHOICE:
            return dict(zip(self.names, (stored.get("values"), stored.get("default", "")), strict=True))
        return {self.names[0]: stored.get("max")}

    def written(self, cleaned: Mapping[str, Any]) -> dict[str, Any] | None:
        """Convert field values to the param; None if they are empty."""
        given = [cleaned.get(name) for name in self.names]
        if all(value in (None, "", []) for value in given):
            return None
        if self.bound.kind == CHOICE:
            values, default = given
            return {"values": values} | ({"default": default} if default else {})
        return {"max": given[0]}

    def field_of(self, path: str) -> str:
        """Find the form field of a problem at this path within the param."""
        return self.names[-1] if path.startswith("default") else self.names[0]


def build(modality: str) -> list[ParamFields]:
    """List the fields of one modality, or of all if it is empty."""
    return [
        ParamFields(param=name, modality=each, bound=bound)
        for each, rules in RULES.items()
        for name, bound in rules.items()
        if modality in ("", each)
    ]


def others(modality: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Select stored params that no field can show."""
    rules = RULES.get(modality, {})
    return {name: value for name, value in params.items() if name not in rules or not _is_shown(rules[name], value)}


def _is_shown(bound: ParamBound, stored: object) -> bool:
    try:
        return bound.read(stored) == stored
    except Invalid:
        return False


def unreadable(modality: str, params: Mapping[str, Any]) -> list[str]:
    """List stored params whose shape cannot be used to validate requests."""
    rules = RULES.get(modality, {})
    return sorted(name for name, value in params.items() if name in rules and not _is_readable(rules[name], value))


def _is_readable(bound: ParamBound, stored: object) -> bool:
    if not isinstance(stored, Mapping):
        return False
    if bound.kind == CHOICE:
        return isinstance(stored.get("values", []), list)
    return isinstance(stored.get("max", 0), int)


def initial(modality: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Build the initial values of all fields of the modality."""
    hidden = others(modality, params)
    found: dict[str, Any] = {}
    for fields in build(modality):
        if fields.param in params and fields.param not in hidden:
            found |= fields.shown(params[fields.param])
    return found


def drops(hidden: Mapping[str, Any]) -> forms.MultipleChoiceField:
    """Build the field that lists hidden params, with a box to remove each."""
    return forms.MultipleChoiceField(
        required=False,
        label="Other params",
        choices=[(name, f"{name}: {json.dumps(value, ensure_ascii=False)}") for name, value in hidden.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="This form cannot show them and keeps them unchanged. Tick the ones to remove.",
    )


def lacks_tiers(mode: str, params: Mapping[str, Any], hidden: Mapping[str, Any]) -> bool:
    """Check whether tiers are priced that no request can choose; skip the check if image_size is hidden."""
    return "image_size" not in hidden and model_params.lacks_tiers(mode, params)
