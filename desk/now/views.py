"""Home of the desk: the page Now, and Django's index of all tables at its own address."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone

from catalog.models import Channel
from desk.now import now_facts
from desk.now.channel_rows import ChannelNow

# Data that these buttons need is prefetched with the rows (`desk/now/channel_rows.py`).
BUTTONS = ("pause", "resume", "test")
TARGETS: Mapping[str, tuple[str, str]] = {
    "tasks": ("tasks_task_changelist", ""),
    "queued": ("tasks_task_changelist", "status__exact=queued"),
    "running": ("tasks_task_changelist", "status__exact=running"),
    "succeeded": ("tasks_task_changelist", "status__exact=succeeded"),
    "failed": ("tasks_task_changelist", "status__exact=failed"),
    "money": ("money", "since={today}&until={today}"),
    "relayed": ("billing_relayedcall_changelist", ""),
    "lost": ("billing_relayedcall_changelist", "care=loss"),
    "service": ("tasks_servicestate_changelist", ""),
    "workers": ("tasks_worker_changelist", ""),
    "unknown": ("tasks_call_unknown", ""),
    "exhausted": ("callbacks_delivery_changelist", "status__exact=exhausted"),
    "channels": ("catalog_channel_changelist", ""),
    "models": ("catalog_mediamodel_changelist", ""),
    "credentials": ("catalog_channel_changelist", ""),
    "ledger": ("billing_ledgerentry_changelist", ""),
}
"""Rows behind each number: name of the admin page and its query."""
ROWS = {"model": "catalog_mediamodel", "channel": "catalog_channel"}
"""Prefixes of targets that are single rows, such as `channel 7`."""


def url(target: str) -> str:
    """Build the address of a target; empty if it has no page."""
    kind, _, pk = target.partition(" ")
    if pk:
        return reverse(f"admin:{ROWS[kind]}_change", args=[pk])
    if target not in TARGETS:
        return ""
    name, query = TARGETS[target]
    address = reverse(f"admin:{name}")
    return f"{address}?{query.format(today=timezone.now().date())}" if query else address


class NowSite(AdminSite):
    """Admin site whose index is the page Now for users who may view tasks."""

    def get_urls(self) -> list[URLResolver | URLPattern]:
        return [path("tables/", self.admin_view(self.tables), name="tables"), *super().get_urls()]

    def tables(self, request: HttpRequest) -> HttpResponse:
        """Show Django's own index of tables."""
        return super().index(request, {"title": "All tables"})

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        if not request.user.has_perm("tasks.view_task"):
            return super().index(request, extra_context)
        found = now_facts.read(timezone.now())
        context = {
            **self.each_context(request),
            "title": "Now",
            "facts": found,
            "lead_url": url(found.sentence.target),
            "urls": {target: url(target) for target in TARGETS},
            "needs": [(need, url(need.target)) for need in found.needs],
            "channels": [self._with_buttons(request, channel) for channel in found.channels],
            "strips": [(strip, url(f"model {strip.model_id}" if strip.model_id else "")) for strip in found.strips],
            "base_url": settings.PUBLIC_BASE_URL,
            **(extra_context or {}),
        }
        request.current_app = self.name
        return TemplateResponse(request, "admin/now/index.html", context)

    def _with_buttons(self, request: HttpRequest, channel: ChannelNow) -> ChannelNow:
        """Add the buttons that the channel's page offers this user."""
        page: Any = self._registry[Channel]
        return replace(channel, buttons=tuple(page.among(request, channel.row, BUTTONS)))
