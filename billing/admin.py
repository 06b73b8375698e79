"""Holds and ledger entries in the admin: to look at only."""

from django.contrib import admin

from billing.models import Hold, LedgerEntry
from common.admin_pages import ReadOnlyAdmin, cost, moment, status


@admin.register(Hold)
class HoldAdmin(ReadOnlyAdmin):
    list_display = ("reference", status("state"), "account", cost("amount_micros"), moment("created_at"))
    list_filter = ("state",)
    list_select_related = ("account",)
    search_fields = ("reference__exact",)
    search_help_text = "Task id."
    ordering = ("-reference",)
    columns = (*list_display, moment("closed_at"))


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "reference", "kind", "book", "account", cost("amount_micros"), "reason", moment("at"))
    list_filter = ("kind", "book")
    list_select_related = ("account",)
    search_fields = ("reference__exact",)
    search_help_text = "Task id or the reference of a credit."
    columns = list_display
