"""List of everything done in the admin, by whom, when and why, including on deleted rows."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry

from pages.admin_pages import ReadOnlyAdmin, moment


@admin.display(description="what and why")
def message(entry: LogEntry) -> str:
    return entry.get_change_message() or entry.get_action_flag_display()


class HistoryAdmin(ReadOnlyAdmin):
    list_display = ("id", moment("action_time"), "user", "content_type", "object_repr", message)
    list_filter = ("action_flag",)
    list_select_related = ("user", "content_type")
    search_fields = ("user__username__exact", "object_id__exact")
    search_help_text = "User name or id of the row."
    columns = (*list_display, "object_id")
