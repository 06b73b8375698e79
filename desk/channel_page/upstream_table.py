"""Table of a protocol's upstream fields: which callers may set, and which values are always sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms

from adapters.base import Adapter, FieldKind, Target, UpstreamField
from adapters.kit import field_complaints
from adapters.kit.field_table import steps_of
from desk.channel_page import values
from desk.channel_page.declared_fields import JsonValueField, ObjectField
from desk.kit.rows import LinesField

ALLOW, MORE_ALLOWED, MORE_FIXED = "allow", "allow-more", "fixed-more"
FIXED = "fixed:"
KINDS: Mapping[FieldKind, str] = {
    FieldKind.NEUTRAL: "neutral",
    FieldKind.PRICED: "priced",
    FieldKind.OPERATOR: "the operator's",
    FieldKind.FORBIDDEN: "forbidden",
}
MEANINGS: Mapping[str, str] = {
    "neutral": "cannot change the cost; callers may set it",
    "priced": "changes what is bought; callers may set it and pay for it",
    "the operator's": "can change the cost in ways that have no price; callers may set it only if it is ticked",
    "forbidden": "callers may not set it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRow:
    """Row of one upstream field: its kind in words, and what an operator may change."""

    path: str
    kind: str
    words: str
    source: str
    may_allow: bool
    may_fix: bool


def rows(adapter: Adapter | None, target: Target) -> list[UpstreamRow]:
    """List the fields by path; empty if the adapter or this target's protocol lists none."""
    listed: Sequence[UpstreamField] = adapter.fields(target) if adapter and hasattr(adapter, "fields") else ()
    return [_row(adapter, field, target) for field in sorted(listed, key=lambda field: field.path) if adapter]


def _row(adapter: Adapter, field: UpstreamField, target: Target) -> UpstreamRow:
    plain = replace(target, capabilities={}, extra_fields=[], fixed={})
    return UpstreamRow(
        path=field.path,
        kind=KINDS[field.kind],
        words=_words(field),
        source=field.source,
        may_allow=not _complaints(adapter, plain, extra_fields=[field.path]),
        may_fix="[" not in field.path and not _complaints(adapter, plain, fixed=_only(field.path)),
    )


def _words(field: UpstreamField) -> str:
    if not field.values:
        return KINDS[field.kind]
    listed = ", ".join(values.as_text(value) for value in field.values)
    return f"{KINDS[field.kind]} as {listed}; else {KINDS[field.otherwise]}"


def _only(path: str) -> dict[str, Any]:
    return values.nested([(path, "a-value")])


def _complaints(adapter: Adapter, plain: Target, **said: Any) -> list[str]:
    return list(field_complaints.complaints(adapter, replace(plain, **said)))


class UpstreamFields:
    """Form fields of `extra_fields` and `fixed`: in the table if the field is listed there, else as extra rows."""

    def __init__(self, table: Sequence[UpstreamRow], extra_fields: Sequence[str], fixed: Mapping[str, Any]) -> None:
        self.table = table
        self.extra_fields = extra_fields
        self._allowable = [row.path for row in table if row.may_allow]
        self._fixable = {row.path for row in table if row.may_fix}
        self._fixed = dict(values.flat(fixed))

    def made(self) -> Iterator[tuple[str, forms.Field]]:
        yield (
            ALLOW,
            forms.MultipleChoiceField(
                required=False, choices=[(path, path) for path in self._allowable], widget=forms.CheckboxSelectMultiple
            ),
        )
        for row in self.table:
            if row.may_fix:
                yield f"{FIXED}{row.path}", JsonValueField(label=f"{row.path} is always sent as")
        yield (
            MORE_ALLOWED,
            LinesField(
                required=False,
                label="Further fields that callers may set",
                help_text="Paths that are missing from the table, such as svg.model or tools[].type.",
            ),
        )
        yield (
            MORE_FIXED,
            ObjectField(
                required=False,
                label="Further fields that are always sent",
                help_text="Callers cannot set another value. A value is a text, a number, true, false or JSON.",
            ),
        )

    def initial(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            ALLOW: [path for path in self.extra_fields if path in self._allowable],
            MORE_ALLOWED: [path for path in self.extra_fields if path not in self._allowable],
            MORE_FIXED: [row for row in self._fixed.items() if row[0] not in self._fixable],
        }
        return found | {f"{FIXED}{path}": text for path, text in self._fixed.items() if path in self._fixable}

    def read_allowed(self, cleaned: Mapping[str, Any]) -> list[str]:
        """Read the allowed paths, stored ones first in their order."""
        said = [*cleaned.get(ALLOW, ()), *(cleaned.get(MORE_ALLOWED) or ())]
        return [*(path for path in self.extra_fields if path in said), *(p for p in said if p not in self.extra_fields)]

    def read_fixed(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Read the fixed values. Raises Misspelled."""
        in_table = [(path, text) for path in sorted(self._fixable) if (text := cleaned.get(f"{FIXED}{path}"))]
        return values.nested([*in_table, *values.flat(cleaned.get(MORE_FIXED) or {})])

    def field_of(self, path: str, allowed: Sequence[str]) -> str:
        """Find the form field of a complaint about `extra_fields[2]` or `fixed.quality`."""
        place, _, rest = path.partition(".")
        if place.startswith("extra_fields"):
            index = place.removeprefix("extra_fields[").removesuffix("]")
            is_in_table = index.isdigit() and int(index) < len(allowed) and allowed[int(index)] in self._allowable
            return ALLOW if is_in_table else MORE_ALLOWED
        steps = tuple(rest.split("."))
        return next((f"{FIXED}{each}" for each in self._fixable if steps_of(each) == steps), MORE_FIXED)
