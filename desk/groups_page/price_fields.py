"""Form fields for a group's prices of tokens, long contexts, images and tools."""

from collections.abc import Mapping
from typing import Any

from django import forms

from catalog.token_prices import AMOUNTS, COUNTS
from desk.kit.rows import AmountsField, Row, RowColumn, RowsField

LABELS = {
    "cache_write_1h": "Cache write, 1 hour",
    "image_tokens": "Most tokens of an image",
    "max_input_tokens": "Most input tokens",
    "max_output_tokens": "Most output tokens",
}
PATTERN = RowColumn(name="pattern", label="Pattern", placeholder="gpt-5.2")


def check_names(rows: list[Row], what: str) -> None:
    """Check that first cells are filled and unique. Raises forms.ValidationError."""
    names = [row[0] for row in rows]
    problems = [f"{name}: appears twice." for name in dict.fromkeys(names) if name and names.count(name) > 1]
    problems += [f"{', '.join(filter(None, row))}: enter its {what}." for row in rows if not row[0]]
    if problems:
        raise forms.ValidationError(problems)


def _columns(*names: str) -> tuple[RowColumn, ...]:
    return tuple(
        RowColumn(name=name, label=LABELS.get(name, name.replace("_", " ").capitalize()), mode="decimal")
        for name in names
    )


class _PatternsField(RowsField):
    """Base of fields with named amounts and counts by pattern."""

    names: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()

    def rows_of(self, value: Any) -> list[Row]:
        if not isinstance(value, Mapping):
            return list(value or [])
        return [(pattern, *(str(price.get(name, "")) for name in self.names)) for pattern, price in value.items()]

    def read(self, rows: list[Row]) -> dict[str, Any]:
        check_names(rows, "pattern")
        return {pattern: self._price(cells) for pattern, *cells in rows}

    def _price(self, cells: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {name: cell for name, cell in zip(self.names, cells, strict=True) if cell}
        numbers = {name: int(found[name][:18]) for name in self.counts if found.get(name, "").isdecimal()}
        return found | numbers


class TokenPricesField(_PatternsField):
    """Field of token prices by pattern."""

    names = (*AMOUNTS, *COUNTS)
    counts = COUNTS
    columns = (PATTERN, *_columns(*names))
    add = "Add a pattern"


class LongContextsField(_PatternsField):
    """Field of long-context prices by pattern."""

    names = ("above", *AMOUNTS)
    counts = ("above",)
    columns = (PATTERN, *_columns(*names))
    add = "Add a pattern"


class PicturePricesField(RowsField):
    """Field of USD per image by pattern, and by size and quality where they differ."""

    columns = (
        RowColumn(name="pattern", label="Pattern", placeholder="gpt-image-2"),
        RowColumn(name="size", label="Size", placeholder="1024x1024 or *"),
        RowColumn(name="quality", label="Quality", placeholder="high"),
        RowColumn(name="usd", label="USD per image", placeholder="0.04", mode="decimal"),
    )
    add = "Add a price"

    def rows_of(self, value: Any) -> list[Row]:
        if not isinstance(value, Mapping):
            return list(value or [])
        return [(pattern, *row) for pattern, price in value.items() for row in _tiers(price)]

    def read(self, rows: list[Row]) -> dict[str, Any]:
        problems = [f"{_said(row)}: enter its pattern." for row in rows if not row[0]]
        problems += [f"{_said(row)}: enter its price, or clear the row." for row in rows if not row[3]]
        problems += [f"{_said(row)}: enter the size, or * for any." for row in rows if row[2] and not row[1]]
        keys = [row[:3] for row in rows]
        problems += [f"{_said(key)}: appears twice." for key in dict.fromkeys(keys) if keys.count(key) > 1]
        problems += [
            f"{_said(key)}: has a single price and further prices: enter a size or quality for each."
            for key in _wholes(keys)
        ]
        if problems:
            raise forms.ValidationError(problems)
        return _tree(rows)


def _said(row: Row) -> str:
    return ", ".join(filter(None, row))


def _wholes(keys: list[Row]) -> list[Row]:
    """List keys whose single price conflicts with more specific ones."""
    known = {key: tuple(filter(None, key)) for key in keys}
    return [
        key for key, named in known.items() if any(other[: len(named)] == named and other != key for other in known)
    ]


def _tiers(price: Any) -> list[Row]:
    """List the rows of one pattern without its name."""
    if not isinstance(price, Mapping):
        return [("", "", str(price))]
    sizes = ((size, tier if isinstance(tier, Mapping) else {"": tier}) for size, tier in price.items())
    return [(size, quality, str(usd)) for size, tier in sizes for quality, usd in tier.items()]


def _tree(rows: list[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pattern, size, quality, usd in rows:
        if not size:
            found[pattern] = usd
        elif not quality:
            found.setdefault(pattern, {})[size] = usd
        else:
            found.setdefault(pattern, {}).setdefault(size, {})[quality] = usd
    return found


class ToolPricesField(AmountsField):
    """Field of USD per call of a tool, by the vendor's name."""

    columns = (
        RowColumn(name="tool", label="Tool", placeholder="web_search"),
        RowColumn(name="usd", label="USD per call", placeholder="0.01", mode="decimal"),
    )
    add = "Add a tool"
