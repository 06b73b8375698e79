"""A list of short rows as one field of a form: prices by tier, aliases, values.

A row is one input for each column, named `<field>-<number>-<column>`. Empty rows count for nothing, so that emptying a
row removes it and a spare one takes another. `desk/rows.js` adds and removes rows; nothing needs it.
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
class Column:
    """`mode` is the keyboard that a phone shows for it, as in HTML's `inputmode`."""

    name: str
    label: str
    placeholder: str = ""
    mode: str = "text"


class RowsWidget(forms.Widget):
    """Rows of inputs, and one that is empty."""

    use_fieldset = True

    def __init__(self, columns: Sequence[Column], add: str) -> None:
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
        """The rows that hold anything, in the order of their numbers."""
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
    """Its value is a list of rows. A subclass says what they mean: `rows_of` a stored value, `read` of the rows."""

    columns: Sequence[Column] = ()
    add = "Add a row"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(widget=RowsWidget(self.columns, self.add), **kwargs)

    def rows_of(self, value: Any) -> list[Row]:
        """A stored value as rows; rows stay as they are."""
        return list(value or [])

    def read(self, rows: list[Row]) -> Any:
        """What the rows mean. Raises forms.ValidationError."""
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
    """A list of texts."""

    columns = (Column(name="text", label="Value"),)
    add = "Add one"

    def rows_of(self, value: Any) -> list[Row]:
        return [(item,) if isinstance(item, str) else tuple(item) for item in value or []]

    def read(self, rows: list[Row]) -> list[str]:
        return [text for (text,) in rows]


class AmountsField(RowsField):
    """USD by tier: the value is a mapping from text to text."""

    columns = (
        Column(name="tier", label="Tier", placeholder="1K, 720p or *"),
        Column(name="usd", label="USD", placeholder="0.04", mode="decimal"),
    )
    add = "Add a tier"

    def rows_of(self, value: Any) -> list[Row]:
        return [(tier, str(usd)) for tier, usd in value.items()] if isinstance(value, Mapping) else list(value or [])

    def read(self, rows: list[Row]) -> dict[str, str]:
        what = self.columns[0].label.lower()
        tiers = [tier for tier, _ in rows]
        problems = [f"{tier}: is there twice." for tier in dict.fromkeys(tiers) if tier and tiers.count(tier) > 1]
        problems += [f"{usd}: name the {what} that this price is for." for tier, usd in rows if not tier]
        problems += [f"{tier}: enter its price, or empty the row." for tier, usd in rows if not usd]
        if problems:
            raise forms.ValidationError(problems)
        return dict(rows)  # type: ignore[arg-type]
