"""Buttons of a row's page. Each opens a page that says what it will do and asks for a reason; then a domain function
does it, and the history records who did it, when and why.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse

from desk.access import proof
from desk.access.guarded_admin import REASON_LENGTH, GuardedAdmin


class ActionRefused(Exception):
    """Raised when an action was not done; the message is a sentence for the operator."""


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, help_text="Recorded in the history.")


class RowAction:
    """Button with a page. `right` is the permission it needs; `needs_proof` asks for the password again.

    `is_atomic` runs it in one transaction with its history entry: only for actions without I/O.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    right: ClassVar[str]
    form_class: ClassVar[type[forms.Form]] = ReasonForm
    needs_proof: ClassVar[bool] = False
    is_danger: ClassVar[bool] = False
    is_atomic: ClassVar[bool] = False

    def applies(self, row: Any) -> bool:
        """Check whether the row's page shows the button now."""
        return True

    def meaning(self, row: Any) -> str:
        """Explain what it will do, with the numbers in question, in one or two sentences."""
        raise NotImplementedError

    def form(self, row: Any, data: Any = None) -> forms.Form:
        return self.form_class(data)

    def apply(self, row: Any, values: Mapping[str, Any], *, by: str) -> str:
        """Do it and return the result as a sentence for message and history. Raises ActionRefused."""
        raise NotImplementedError

    def next_url(self, row: Any) -> str:
        """Return the page to open afterwards."""
        return page_of(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """Label and address of a button, for templates."""

    label: str
    url: str
    is_danger: bool


def page_of(row: Any) -> str:
    """Return the address of the row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[quote(row.pk)])


def url_of(row: Any, name: str) -> str:
    """Return the address of one of the row's actions."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_do", args=[quote(row.pk), name])


class ActionPages(GuardedAdmin):
    """ModelAdmin whose rows have buttons: the page of a row gets them as `row_actions`."""

    row_actions: ClassVar[tuple[RowAction, ...]] = ()

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_do"
        view = self.admin_site.admin_view(self.do)
        return [path("<path:object_id>/do/<slug:name>/", view, name=name), *super().get_urls()]

    def offered(self, request: HttpRequest, row: Any) -> Iterator[Offered]:
        """Yield the buttons that apply to the row and that this user may press."""
        return self.among(request, row, {action.name for action in self.row_actions})

    def among(self, request: HttpRequest, row: Any, names: Collection[str]) -> Iterator[Offered]:
        """Yield only the buttons with these names: checking whether one applies may query the database."""
        for action in self.row_actions:
            if action.name in names and request.user.has_perm(action.right) and action.applies(row):
                yield Offered(label=action.label, url=url_of(row, action.name), is_danger=action.is_danger)

    def render_change_form(
        self,
        request: HttpRequest,
        context: Any,
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> Any:
        context["row_actions"] = list(self.offered(request, obj)) if obj is not None else []
        return super().render_change_form(request, context, add, change, form_url, obj)

    @proof.asked
    def do(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """Show the page of one action; POST does it."""
        row = self.get_object(request, unquote(object_id))
        action = next((action for action in self.row_actions if action.name == name), None)
        if row is None or action is None:
            raise Http404
        if not (self.has_view_permission(request, row) and request.user.has_perm(action.right)):
            raise PermissionDenied
        if action.needs_proof:
            proof.demand(request)
        form = action.form(row, request.POST if request.method == "POST" else None)
        if request.method == "POST" and self._done(request, action, row, form):
            return redirect(action.next_url(row))
        return self.page(
            request, "admin/action.html", title=action.label, action=action, meaning=action.meaning(row), form=form,
            original=row, back=page_of(row),
        )  # fmt: skip

    def _done(self, request: HttpRequest, action: RowAction, row: Any, form: forms.Form) -> bool:
        if not form.is_valid():
            return False
        try:
            with _transaction(action):
                done = action.apply(row, form.cleaned_data, by=request.user.get_username())
                reason = form.cleaned_data.get("reason")
                self.log_change(request, row, f"{done} {reason}" if reason else done)
        except ActionRefused as refusal:
            form.add_error(None, str(refusal))
            return False
        messages.success(request, done)
        return True


def _transaction(action: RowAction) -> AbstractContextManager[Any]:
    return transaction.atomic() if action.is_atomic else nullcontext()
