"""Navigation of the desk: pages in the order of an operator's day, filtered by permission."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

PLACES = (
    ("Now", "index", ""),
    ("Tasks", "tasks_task_changelist", "tasks.view_task"),
    ("Callbacks", "callbacks_delivery_changelist", "callbacks.view_delivery"),
    ("Unknown outcomes", "tasks_call_unknown", "tasks.view_call"),
    ("Models", "catalog_mediamodel_changelist", "catalog.view_mediamodel"),
    ("Plans", "catalog_plan_changelist", "catalog.view_plan"),
    ("Channels", "catalog_channel_changelist", "catalog.view_channel"),
    ("Catalog file", "catalog_file", "catalog.view_mediamodel"),
    ("Key groups", "accounts_group_changelist", "accounts.view_group"),
    ("Accounts", "accounts_account_changelist", "accounts.view_account"),
    ("Keys", "accounts_apikey_changelist", "accounts.view_apikey"),
    ("Money", "money", "billing.view_ledgerentry"),
    ("Bills", "desk_providerbill_changelist", "desk.view_providerbill"),
    ("Service", "tasks_servicestate_changelist", "tasks.view_servicestate"),
    ("History", "admin_logentry_changelist", "admin.view_logentry"),
)
"""Label, URL name in the admin, and required permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    """Entry of the navigation; `is_here` marks the current page's entry."""

    label: str
    url: str
    is_here: bool


def places(request: HttpRequest) -> Iterator[NavigationEntry]:
    """List the entries that this user may open."""
    for label, name, permission in PLACES:
        if permission and not request.user.has_perm(permission):
            continue
        url = reverse(f"admin:{name}")
        is_here = request.path == url if name == "index" else request.path.startswith(url)
        yield NavigationEntry(label=label, url=url, is_here=is_here)
