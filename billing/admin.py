"""Holds, ledger entries, usage by day and web processes in the admin: to look at only."""

from django.contrib import admin

from billing.models import Hold, LedgerEntry, RelayUsage, WebProcess
from common.token_usage import COUNTS
from pages.admin_pages import ReadOnlyAdmin, cost, moment, status


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin):
    list_display = ("reference", status("state"), "account", cost("amount_micros"), moment("created_at"))
    list_filter = ("state",)
    list_select_related = ("account",)
    search_fields = ("reference__exact",)
    search_help_text = "Id of a task or a relayed call."
    ordering = ("-reference",)
    columns = (*list_display, moment("closed_at"))


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "reference", "kind", "book", "account", cost("amount_micros"), "reason", moment("at"))
    list_filter = ("kind", "book")
    list_select_related = ("account",)
    search_fields = ("reference__exact",)
    search_help_text = "Id of a task or a relayed call, or the reference of a credit."
    columns = list_display


@admin.register(RelayUsage)
class RelayUsageAdmin(ReadOnlyAdmin):
    columns = ("id", "day", "key", "model", "calls", *COUNTS, cost("cost_micros"))
    list_display = columns
    list_select_related = ("key",)


@admin.register(WebProcess)
class WebProcessAdmin(ReadOnlyAdmin):
    list_display = ("id", "host", "pid", moment("started_at"), moment("heartbeat_at"), moment("stopped_at"))
    ordering = ("-started_at",)
    columns = list_display
