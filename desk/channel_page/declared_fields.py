"""Form fields for an adapter's options or capabilities, made from its own declaration."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms

from adapters.base import OperatorField
from desk.channel_page import values
from desk.channel_page.values import SPELLINGS, Misspelled
from desk.kit.rows import Row, RowColumn, RowsField

NOT_SAID = "default of the protocol"
OWN = "-own"


class ObjectField(RowsField):
    """Field of an object, as rows of paths with values."""

    columns = (
        RowColumn(name="path", label="Field", placeholder="quality"),
        RowColumn(name="value", label="Value", placeholder="medium, 3, true"),
    )

    def rows_of(self, value: Any) -> list[Row]:
        return list(values.flat(value)) if isinstance(value, Mapping) else list(value or [])

    def read(self, rows: list[Row]) -> dict[str, Any]:
        return _read("object", rows)  # type: ignore[no-any-return]


class SizesField(RowsField):
    """Field of pixel sizes by tier and ratio."""

    columns = (
        RowColumn(name="tier", label="Tier", placeholder="1K"),
        RowColumn(name="ratio", label="Ratio", placeholder="16:9"),
        RowColumn(name="size", label="Pixels", placeholder="1360x768"),
    )
    add = "Add a size"

    def rows_of(self, value: Any) -> list[Row]:
        return list(values.sizes_shown(value)) if isinstance(value, Mapping) else list(value or [])

    def read(self, rows: list[Row]) -> dict[str, Any]:
        return _read("sizes", rows)  # type: ignore[no-any-return]


class SpelledField(forms.CharField):
    """Field of one line in the notation of its kind; None if it is empty."""

    def __init__(self, kind: Any, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.kind = kind
        self.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> Any:
        text = str(value or "").strip()
        return _read(self.kind, text) if text else None


class JsonValueField(forms.CharField):
    """Field of a value in the notation of `values.as_text`; its cleaned value is the checked text."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> str:
        text = str(value or "").strip()
        try:
            values.from_text(text)
        except Misspelled as error:
            raise forms.ValidationError(str(error)) from None
        return text


class SwitchField(forms.ChoiceField):
    """Field of yes, no, or the protocol's default."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, choices=[("", NOT_SAID), ("yes", "yes"), ("no", "no")], **kwargs)

    def clean(self, value: Any) -> Any:
        chosen = super().clean(value)
        return _read("switch", chosen) if chosen else None


def _read(kind: Any, shown: Any) -> Any:
    try:
        return SPELLINGS[kind].read(shown)
    except Misspelled as error:
        raise forms.ValidationError(str(error)) from None


class DeclaredFields:
    """Fields of `options` or `capabilities` with their stored values.

    Stored values that no field can show are kept, and listed in the form to be dropped on request. Without a
    declaration, everything is shown as rows of names with values.
    """

    def __init__(self, place: str, declared: Sequence[OperatorField] | None, stored: Mapping[str, Any]) -> None:
        self.place, self.is_declared = place, declared is not None
        known = {field.name: field for field in declared or ()}
        self.hidden = {
            name: value
            for name, value in (stored.items() if self.is_declared else ())
            if name not in known or not values.is_shown(known[name], value)
        }
        self.fields = [field for field in known.values() if field.name not in self.hidden]
        self.stored = stored

    @property
    def rows(self) -> str:
        return f"{self.place}-rows"

    @property
    def drop(self) -> str:
        return f"{self.place}-drop"

    def names_of(self, field: OperatorField) -> list[str]:
        """List the form fields of one adapter field."""
        name = f"{self.place}-{field.name}"
        if field.kind == "counts":
            return [f"{name}-{choice}" for choice in field.choices]
        return [name, f"{name}{OWN}"] if field.kind == "either" else [name]

    def made(self) -> Iterator[tuple[str, forms.Field]]:
        for field in self.fields:
            if field.kind == "either":
                chosen, own = self.names_of(field)
                yield chosen, _made(replace(field, kind="choice"), "")
                yield own, ObjectField(required=False, label=f"Or a custom {field.name}")
                continue
            for name, choice in zip(self.names_of(field), field.choices or ("",), strict=False):
                yield name, _made(field, choice)
        if not self.is_declared:
            yield self.rows, ObjectField(required=False, label=self.place)
        if self.hidden:
            listed = [
                (name, f"{name} = {json.dumps(value, ensure_ascii=False)}") for name, value in self.hidden.items()
            ]
            yield (
                self.drop,
                forms.MultipleChoiceField(
                    required=False,
                    choices=listed,
                    widget=forms.CheckboxSelectMultiple,
                    label="Kept unchanged",
                    help_text="No field shows these. Tick the ones to remove.",
                ),
            )

    def initial(self) -> dict[str, Any]:
        if not self.is_declared:
            return {self.rows: self.stored}
        found: dict[str, Any] = {}
        for field in self.fields:
            if field.name not in self.stored:
                continue
            value = self.stored[field.name]
            if field.kind == "either":
                chosen, own = self.names_of(field)
                found[chosen if isinstance(value, str) else own] = value
                continue
            shown = SPELLINGS[field.kind].shown(value)
            if field.kind == "counts":
                found |= {f"{self.place}-{field.name}-{choice}": count for choice, count in shown.items()}
            else:
                found[f"{self.place}-{field.name}"] = shown
        return found

    def read(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Read the fields, and keep hidden values that are not dropped. Raises Misspelled."""
        if not self.is_declared:
            return dict(cleaned.get(self.rows) or {})
        found = {name: value for name, value in self.hidden.items() if name not in cleaned.get(self.drop, ())}
        for field in self.fields:
            value = self._value(field, cleaned)
            if value not in (None, "", [], {}) or (value is not None and self.stored.get(field.name) == value):
                found[field.name] = value
        return found

    def _value(self, field: OperatorField, cleaned: Mapping[str, Any]) -> Any:
        if field.kind == "either":
            chosen, own = (cleaned.get(name) for name in self.names_of(field))
            if chosen and own:
                raise Misspelled(f"{field.name}: choose one or describe a custom one, not both.")
            return chosen or own
        if field.kind != "counts":
            return cleaned.get(f"{self.place}-{field.name}")
        counts = {choice: cleaned.get(f"{self.place}-{field.name}-{choice}") for choice in field.choices}
        return {choice: count for choice, count in counts.items() if count is not None}

    def field_of(self, path: str) -> str:
        """Find the form field of an adapter's complaint; empty if there is none."""
        name = path.removeprefix(f"{self.place}.").partition(".")[0].partition("[")[0]
        field = next((each for each in self.fields if each.name == name), None)
        if field is not None:
            return self.names_of(field)[0]
        is_hidden = name in self.hidden or (path == self.place and self.hidden)
        return self.drop if is_hidden else "" if self.is_declared else self.rows


def _made(field: OperatorField, choice: str) -> forms.Field:
    label, is_first = field.name, not choice or choice == field.choices[0]
    if field.kind == "counts":
        label = f"{field.name}: {choice}"
    help_text = field.help if field.kind != "counts" or is_first else ""
    common: dict[str, Any] = {"label": label.replace("_", " ").capitalize(), "help_text": help_text}
    match field.kind:
        case "choice":
            return forms.ChoiceField(
                required=False, choices=[("", NOT_SAID), *((each, each) for each in field.choices)], **common
            )
        case "switch":
            return SwitchField(**common)
        case "sizes":
            return SizesField(required=False, **common)
        case "object":
            return ObjectField(required=False, **common)
        case "counts":
            return SpelledField("whole", **common)
        case kind:
            return SpelledField(kind, **common)
