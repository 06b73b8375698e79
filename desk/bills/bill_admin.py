"""Admin of bills: import a file, choose its columns once, read the four lists, settle by a line."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path

from desk.access.guarded_admin import may
from desk.bills import bill_facts, imports
from desk.bills import columns as bill_columns
from desk.bills.bill_actions import BILL_ACTIONS
from desk.bills.bill_facts import LISTS
from desk.bills.columns import BillColumns
from desk.bills.forms import ColumnsForm, ImportForm, first_choice
from desk.bills.imports import BillRefused, Period
from desk.bills.line_actions import LINE_ACTIONS
from desk.bills.tables import UnreadableTable
from desk.kit.actions import ActionPages, page_of
from desk.models import ProviderBill
from pages.admin_pages import ReadOnlyAdmin, cost, moment

RIGHT = "import_bills"
SAMPLES = 3


class BillAdmin(ReadOnlyAdmin, ActionPages):
    list_display = ("file_name", "channel_name", "since", "until", moment("compared_at"), "imported_by")
    list_display_links = ("file_name",)
    row_actions = BILL_ACTIONS
    change_list_template = "admin/desk/providerbill/list.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.columns_view)
        return [path("<int:bill_id>/columns/", view, name="desk_providerbill_columns"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("source")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        shown: HttpResponse = super().changelist_view(request, {"title": "Bills of providers", **(extra_context or {})})
        return shown

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, RIGHT)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Upload a file; compare it at once if the columns of the channel's bills are known."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ImportForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid() and (bill := self._received(request, form)):
            return self._after_upload(request, bill, form.period())
        return self.page(request, "admin/desk/providerbill/import.html", title="Import a provider's bill", form=form)

    def _received(self, request: HttpRequest, form: ImportForm) -> ProviderBill | None:
        channel, file = form.cleaned_data["channel"], form.cleaned_data["file"]
        try:
            bill, is_new = imports.receive(channel, file.name, file.read(), by=request.user.get_username())
        except UnreadableTable as refusal:
            form.add_error("file", str(refusal))
            return None
        if is_new:
            self.log_addition(request, bill, f"Imported {bill.file_name} for {channel.name}.")
        else:
            messages.info(request, "This file was already imported: here it is. Nothing was imported twice.")
        return bill

    def _after_upload(self, request: HttpRequest, bill: ProviderBill, period: Period | None) -> HttpResponse:
        known = imports.remembered(bill.channel_id)
        if bill.run:
            return redirect(page_of(bill))
        if known and known.fit(imports.table_of(bill).head):
            try:
                imports.compare(bill, known, period)
                return redirect(page_of(bill))
            except BillRefused as refusal:
                messages.warning(request, str(refusal))
        if period:
            ProviderBill.objects.filter(pk=bill.pk).update(since=period.first, until=period.last)
        return redirect("admin:desk_providerbill_columns", bill.pk)

    def columns_view(self, request: HttpRequest, bill_id: int) -> HttpResponse:
        """Choose the meaning of the columns, and compare."""
        bill: Any = self.get_object(request, str(bill_id))
        if bill is None:
            raise Http404
        if not (self.has_view_permission(request, bill) and may(request, RIGHT)):
            raise PermissionDenied
        table = imports.table_of(bill)
        known = imports.remembered(bill.channel_id)
        chosen = known if known and known.fit(table.head) else None
        begun = first_choice(bill, chosen, bill_columns.guessed(table.head))
        form = ColumnsForm(request.POST or None, head=table.head, initial=begun)
        if request.method == "POST" and form.is_valid() and self._compared(request, bill, form):
            return redirect(page_of(bill))
        return self.page(
            request, "admin/desk/providerbill/columns.html", title="Choose the columns", form=form, original=bill,
            head=table.head, samples=[row.cells for row in table.rows[:SAMPLES]],
        )  # fmt: skip

    def _compared(self, request: HttpRequest, bill: ProviderBill, form: ColumnsForm) -> bool:
        chosen: BillColumns = form.columns()
        try:
            imports.compare(bill, chosen, form.period())
        except (BillRefused, UnreadableTable) as refusal:
            form.add_error(None, str(refusal))
            return False
        self.log_change(request, bill, f"Compared with our calls by the columns {', '.join(chosen.names)}.")
        return True

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the four lists, or a page of one of them (`?show=`)."""
        bill: Any = self.get_object(request, object_id)
        if bill is None:
            raise Http404
        if not self.has_view_permission(request, bill):
            raise PermissionDenied
        if not bill.run:
            return redirect("admin:desk_providerbill_columns", bill.pk)
        only, page = request.GET.get("show", ""), request.GET.get("p", "")
        number = int(page) if page.isascii() and page.isdecimal() and 0 < len(page) < 5 else 1
        return self.page(
            request, "admin/desk/providerbill/bill.html", title=f"{bill.channel_name}: {bill.file_name}",
            original=bill, lists=bill_facts.lists(bill, only=only, page=max(number, 1)),
            only=only if only in LISTS else "",
            sums=[(verdict, label, bill_facts.sums_of(bill, verdict)) for verdict, (label, _) in LISTS.items()],
            nameless=bill_facts.sums_of(bill, "nameless"), row_actions=list(self.offered(request, bill)),
            may_settle=request.user.has_perm("tasks.change_task"), may_import=may(request, RIGHT),
        )  # fmt: skip


class LineAdmin(ReadOnlyAdmin, ActionPages):
    """Admin of a bill's lines, with the buttons that settle outcomes."""

    list_display = ("id", "bill", "number", "verdict", "upstream_id", cost("amount_micros"), "settled")
    list_select_related = ("bill",)
    row_actions = LINE_ACTIONS
    columns = (
        "bill",
        "number",
        "verdict",
        "upstream_id",
        cost("amount_micros"),
        cost("own_micros"),
        "model",
        moment("billed_at"),
        "call",
        "settled",
        "settled_by",
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("bill").defer("bill__source")

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        shown = {"title": "Settle by a line of the bill", "subtitle": None}
        return super().change_view(request, object_id, form_url, {**shown, **(extra_context or {})})

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        """Hide the model from lists of models."""
        return {}
