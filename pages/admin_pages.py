"""Building blocks of admin pages: base classes, and columns for times, money, states and documents.

Tables may hold millions of rows: no list counts to the end, sorts by an unindexed column or queries per row.
"""

import json
from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.forms import Media
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.redaction import clean, cleaned
from pages import words
from pages.templatetags.pages import usd

AdminColumn = Callable[[Any], str]


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Paginator with a capped count; older rows are found by searching."""

    CAP = 10_000

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows[: self.CAP].count()


class ReadOnly:
    """Mixin that shows `columns` and forbids adding, changing and deleting."""

    columns: ClassVar[tuple[str | AdminColumn, ...]] = ()

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


class LightPages:
    """Mixin without jQuery, for pages that need neither date pickers nor Django's inlines."""

    media = Media(js=["admin/js/core.js", "admin/js/actions.js"])


class OwnForm(LightPages):
    """Mixin of an admin whose row's page has its own form template (templates/admin/light_change_form.html)."""

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        """Add the template's context; `obj` is None when a row is added."""

    def render_change_form(
        self,
        request: HttpRequest,
        context: Any,
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> Any:
        self.fill(request, context, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)  # type: ignore[misc]


class ReadOnlyAdmin(LightPages, ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    actions = None
    ordering = ("-pk",)
    paginator = CappedPaginator
    show_full_result_count = False
    sortable_by = ()


class ReadOnlyInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    ordering = ("pk",)


class KnownRows:
    """Mixin of formsets on their parent's page, which rejects rows that belong to another parent or were deleted;
    Django ignores them silently."""

    def clean(self) -> None:
        formset: Any = self
        super().clean()  # type: ignore[misc]
        for form in formset.initial_forms:
            if form.instance._state.adding and (form.has_changed() or form in formset.deleted_forms):
                raise ValidationError("One of these rows does not, or no longer, belong to this page: reload the page.")


def moment(field: str) -> AdminColumn:
    """Build a column of a time, to the second, with its zone."""

    def show(row: Any) -> str:
        at = getattr(row, field)
        return words.absolute(at)

    return _column(show, field, field.removesuffix("_at"))


def cost(field: str) -> AdminColumn:
    """Build a column of micro-USD as USD to the cent, exact on hover."""

    def show(row: Any) -> str:
        return usd(getattr(row, field))

    return _column(show, field, field.removesuffix("_micros"))


def status(field: str = "status") -> AdminColumn:
    """Build a column of a status by shape and word."""

    def show(row: Any) -> str:
        word = getattr(row, field)
        return f"{words.style(word).shape} {word}"

    return _column(show, field, field)


def masked(field: str) -> AdminColumn:
    """Build a column of a text or JSON document without secrets, Data URLs and queries of URLs."""

    def show(row: Any) -> str:
        return document(getattr(row, field))

    return _column(show, field, field)


def _column(show: AdminColumn, field: str, name: str) -> AdminColumn:
    show.__name__ = field
    return admin.display(description=name.replace("_", " "))(show)


def document(value: object) -> SafeString | str:
    """Show a text or JSON value without secrets; JSON as HTML, a text still to be escaped."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return clean(value)
    return format_html("<pre>{}</pre>", json.dumps(cleaned(value), indent=2, ensure_ascii=False))
