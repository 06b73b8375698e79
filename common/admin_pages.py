"""Building blocks of the admin's pages: base classes, and columns for moments, money, states and documents.

Their tables hold millions of rows: no list counts to the end, sorts by an unindexed column or asks per row.
"""

import json
from collections.abc import Callable
from datetime import UTC
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.money import MICROS
from common.redaction import clean, cleaned

Column = Callable[[Any], str]

SHAPES = {
    "queued": "○",
    "pending": "○",
    "open": "○",
    "running": "▶",
    "succeeded": "✔",
    "delivered": "✔",
    "settled": "✔",
    "failed": "✖",
    "exhausted": "✖",
    "timeout": "◷",
    "canceled": "⊘",
    "released": "⊘",
}


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than anybody pages; older rows are found by searching."""

    CAP = 10_000

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows[: self.CAP].count()


class ReadOnly:
    """Shows its `columns` to those who may view, and lets nobody add, change or delete."""

    columns: ClassVar[tuple[str | Column, ...]] = ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.columns

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.columns

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    actions = None
    ordering = ("-pk",)
    paginator = CappedPaginator
    show_full_result_count = False
    sortable_by = ()


class ReadOnlyInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    ordering = ("pk",)


class KnownRows:
    """For formsets of rows on their parent's page: Django takes changes to a row that is another parent's, or gone,
    and drops them without a word."""

    def clean(self) -> None:
        formset: Any = self
        super().clean()  # type: ignore[misc]
        for form in formset.initial_forms:
            if form.instance._state.adding and (form.has_changed() or form in formset.deleted_forms):
                raise ValidationError("One of these rows is not, or no longer, of this page: load the page again.")


def moment(field: str) -> Column:
    """A time, to the second, with its zone."""

    def show(row: Any) -> str:
        at = getattr(row, field)
        return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "–"

    return _column(show, field, field.removesuffix("_at"))


def cost(field: str) -> Column:
    """Micro-USD as USD, to the last digit."""

    def show(row: Any) -> str:
        micros = getattr(row, field)
        return "–" if micros is None else dollars(micros)

    return _column(show, field, field.removesuffix("_micros"))


def status(field: str = "status") -> Column:
    """A status by shape and word, so that nothing hangs on colour."""

    def show(row: Any) -> str:
        word = getattr(row, field)
        return f"{SHAPES.get(word, '·')} {word}"

    return _column(show, field, field)


def masked(field: str) -> Column:
    """A text or a JSON document without secrets, Data URLs and the queries of URLs."""

    def show(row: Any) -> str:
        return document(getattr(row, field))

    return _column(show, field, field)


def _column(show: Column, field: str, name: str) -> Column:
    show.__name__ = field
    return admin.display(description=name.replace("_", " "))(show)


def dollars(micros: int) -> str:
    whole, rest = divmod(abs(micros), MICROS)
    return f"{'-' if micros < 0 else ''}${whole:,}.{rest:06d}"


def document(value: object) -> SafeString | str:
    """A text or a JSON value without secrets; JSON as HTML, a text still to be escaped."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return clean(value)
    return format_html("<pre>{}</pre>", json.dumps(cleaned(value), indent=2, ensure_ascii=False))
