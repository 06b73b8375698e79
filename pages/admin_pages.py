"""Building blocks of the admin's pages: base classes, and columns for moments, money, states and documents.

Their tables hold millions of rows: no list counts to the end, sorts by an unindexed column or asks per row.
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

Column = Callable[[Any], str]


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


class LightPages:
    """Without jQuery and what stands on it: for pages whose fields need neither date pickers nor Django's inlines."""

    media = Media(js=["admin/js/core.js", "admin/js/actions.js"])


class OwnForm(LightPages):
    """For an admin whose row's page draws its own form (templates/admin/light_change_form.html)."""

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        """Add what its template shows; `obj` is None where a row is added."""

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
        return words.absolute(at)

    return _column(show, field, field.removesuffix("_at"))


def cost(field: str) -> Column:
    """Micro-USD as USD, to the last digit."""

    def show(row: Any) -> str:
        micros = getattr(row, field)
        return "–" if micros is None else words.usd(micros)

    return _column(show, field, field.removesuffix("_micros"))


def status(field: str = "status") -> Column:
    """A status by shape and word, so that nothing hangs on colour."""

    def show(row: Any) -> str:
        word = getattr(row, field)
        return f"{words.look(word).shape} {word}"

    return _column(show, field, field)


def masked(field: str) -> Column:
    """A text or a JSON document without secrets, Data URLs and the queries of URLs."""

    def show(row: Any) -> str:
        return document(getattr(row, field))

    return _column(show, field, field)


def _column(show: Column, field: str, name: str) -> Column:
    show.__name__ = field
    return admin.display(description=name.replace("_", " "))(show)


def document(value: object) -> SafeString | str:
    """A text or a JSON value without secrets; JSON as HTML, a text still to be escaped."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return clean(value)
    return format_html("<pre>{}</pre>", json.dumps(cleaned(value), indent=2, ensure_ascii=False))
