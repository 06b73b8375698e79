"""Form field that holds a list of short rows: prices by tier, aliases, values.

A row has one input per column, named `<field>-<number>-<column>`. Empty rows are ignored, so clearing a row removes it
and the spare row adds one. `desk/rows.js` adds and removes rows but is optional.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from django.utils.safestring import SafeString, mark_safe

Row = tuple[str, ...]
SPARE = 1
WIDEST = 4  # columns whose placeholders tell enough; more of them have labels


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumn:
    """Column of a rows field; `mode` is its HTML `inputmode`."""

    name: str
    label: str
    placeholder: str = ""
    mode: str = "text"


class RowsWidget(forms.Widget):
    """Widget of input rows with one spare row."""

    use_fieldset = True

    def __init__(self, columns: Sequence[RowColumn], add: str) -> None:
        super().__init__()
        self.columns, self.add = tuple(columns), add

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        rows: list[Row] = [*(value or []), *[("",) * len(self.columns)] * SPARE]
        numbered = [self._inputs(name, str(number), row) for number, row in enumerate(rows)]
        context = {
            "name": name,
            "columns": self.columns,
            "is_wide": len(self.columns) > WIDEST,
            "rows": numbered,
            "next": len(rows),
            "blank": self._inputs(name, "__n__", ("",) * len(self.columns)),
            "add": self.add,
            "attrs": self.build_attrs(self.attrs, attrs),
        }
        return mark_safe(render_to_string("admin/rows.html", context))  # noqa: S308 - escaped by the template

    def _inputs(self, name: str, number: str, row: Row) -> list[Mapping[str, Any]]:
        return [
            {"name": f"{name}-{number}-{column.name}", "column": column, "value": cell}
            for column, cell in zip(self.columns, row, strict=True)
        ]

    def value_from_datadict(self, data: Mapping[str, Any], files: MultiValueDict[str, Any], name: str) -> list[Row]:
        """Collect the non-empty rows in the order of their numbers."""
        pattern = re.compile(
            rf"{re.escape(name)}-([0-9]{{1,6}})-(?:{'|'.join(column.name for column in self.columns)})"
        )
        numbers = {int(found[1]) for key in data if (found := pattern.fullmatch(key))}
        rows = [
            tuple(str(data.get(f"{name}-{number}-{column.name}") or "").strip() for column in self.columns)
            for number in sorted(numbers)
        ]
        return [row for row in rows if any(row)]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        return ""


class RowsField(forms.Field):
    """Field of rows. A subclass converts a stored value to rows (`rows_of`) and rows to a value (`read`)."""

    columns: Sequence[RowColumn] = ()
    add = "Add a row"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=RowsWidget(self.columns, self.add), **kwargs)

    def rows_of(self, value: Any) -> list[Row]:
        """Convert a stored value to rows; keep rows as they are."""
        return list(value or [])

    def read(self, rows: list[Row]) -> Any:
        """Convert rows to a value. Raises forms.ValidationError."""
        return rows

    def prepare_value(self, value: Any) -> list[Row]:
        return self.rows_of(value)

    def clean(self, value: Any) -> Any:
        if self.required and not value:
            raise forms.ValidationError(self.error_messages["required"], code="required")
        return self.read(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return not self.disabled and self.rows_of(initial) != list(data or [])


class LinesField(RowsField):
    """Field of a list of texts."""

    columns = (RowColumn(name="text", label="Value"),)
    add = "Add one"

    def rows_of(self, value: Any) -> list[Row]:
        return [(item,) if isinstance(item, str) else tuple(item) for item in value or []]

    def read(self, rows: list[Row]) -> list[str]:
        return [text for (text,) in rows]


class AmountsField(RowsField):
    """Field of USD by tier: its value maps text to text."""

    columns = (
        RowColumn(name="tier", label="Tier", placeholder="1K, 720p or *"),
        RowColumn(name="usd", label="USD", placeholder="0.04", mode="decimal"),
    )
    add = "Add a tier"

    def rows_of(self, value: Any) -> list[Row]:
        return [(tier, str(usd)) for tier, usd in value.items()] if isinstance(value, Mapping) else list(value or [])

    def read(self, rows: list[Row]) -> dict[str, str]:
        what = self.columns[0].label.lower()
        tiers = [tier for tier, _ in rows]
        problems = [f"{tier}: appears twice." for tier in dict.fromkeys(tiers) if tier and tiers.count(tier) > 1]
        problems += [f"{usd}: enter the {what} of this price." for tier, usd in rows if not tier]
        problems += [f"{tier}: enter its price, or clear the row." for tier, usd in rows if not usd]
        if problems:
            raise forms.ValidationError(problems)
        return dict(rows)  # type: ignore[arg-type]
