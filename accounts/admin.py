"""Groups in the admin. Accounts and keys, which need the ledger and the catalog, are in `desk/admin.py`."""

from django.contrib import admin

from accounts.models import Group


@admin.register(Group)
class GroupAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "platform", "image_generation")
    list_filter = ("platform",)
    search_fields = ("name",)
