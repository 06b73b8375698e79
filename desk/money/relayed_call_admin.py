"""Read-only admin of relayed calls with their holds and ledger entries."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.models import Group
from billing.models import Hold, LedgerEntry, RelayedCall
from billing.relayed_calls import PREFIX
from catalog.models import Channel
from common.token_usage import COUNTS
from pages.admin_pages import ReadOnlyAdmin, cost, masked, moment, status
from pages.templatetags.pages import usd


def money(reference: str) -> SafeString:
    """List the holds and ledger entries of a reference."""
    holds = Hold.objects.filter(reference=reference)
    entries = LedgerEntry.objects.filter(reference=reference).order_by("id")
    lines = [(f"hold, {hold.state}", usd(hold.amount_micros)) for hold in holds]
    lines += [(f"{entry.kind}, {entry.book}", usd(entry.amount_micros)) for entry in entries]
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}: {}</li>", lines))


class CareFilter(admin.SimpleListFilter):
    """Filter of calls that may need attention, each kind by its own index."""

    title, parameter_name = "attention", "care"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("loss", "Operator's loss"), ("estimated", "Charged by an estimate")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[RelayedCall]) -> QuerySet[RelayedCall]:
        if self.value() == "loss":
            return queryset.filter(is_loss=True)
        return queryset.filter(is_estimated=True) if self.value() else queryset


class RelayedCallAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        status("state"),
        "model",
        "dialect",
        "caller",
        cost("estimated_micros"),
        cost("actual_micros"),
        "outcome",
        moment("created_at"),
        moment("ended_at"),
    )
    list_filter = ("state", CareFilter)
    list_select_related = ("key__account",)
    search_fields = ("id__exact",)  # or the model, see get_search_results
    search_help_text = "Id of a relayed call (the X-Call-Id of its answer), or the name of a model."
    columns = (
        *list_display,
        "key",
        "group",
        "channel",
        "is_stream",
        "http_status",
        "is_estimated",
        "is_loss",
        cost("overrun_micros"),
        masked("flags"),
        "request_id",
        "process",
        *COUNTS,
        cost("noted_micros"),
        masked("price"),
        masked("attempts"),
        "money",
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[RelayedCall], search_term: str
    ) -> tuple[QuerySet[RelayedCall], bool]:
        """Search by id or by model: an OR of both would scan all calls."""
        if not search_term or search_term.startswith(PREFIX):
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(model=search_term), False

    @admin.display(description="account / key")
    def caller(self, call: RelayedCall) -> str:
        return f"{call.key.account.name} / {call.key.name}"

    def group(self, call: RelayedCall) -> str:
        return _named(Group.objects.all(), call.group_id)

    @admin.display(description="last channel")
    def channel(self, call: RelayedCall) -> str:
        return _named(Channel.objects.all(), call.channel_id)

    @admin.display(description="hold and ledger")
    def money(self, call: RelayedCall) -> SafeString:
        return money(call.id)


def _named(rows: QuerySet[Any], row_id: int | None) -> str:
    """Look up the name of a row that may have been deleted."""
    if row_id is None:
        return "–"
    return str(rows.filter(pk=row_id).values_list("name", flat=True).first() or f"deleted: {row_id}")
