"""Channels in the admin, with their credentials and models. Every write goes through the rows' own save and delete,
which raise the version."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from catalog import credentials, standing
from catalog.models import Channel, Credential
from catalog.secret_forms import CredentialForm, CredentialFormSet


class CredentialInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Credential
    form = CredentialForm
    formset = CredentialFormSet
    readonly_fields = ("ending", "origin", "state", "reason", "disabled_at", "suspected_at", "probe_at")
    fields = ("ending", "origin", "secret", "switch", "state", "reason", "disabled_at", "suspected_at", "probe_at")
    ordering = ("id",)
    verbose_name_plural = "credentials, used in turn"

    def get_extra(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        return 1

    @admin.display(description="ends in")
    def ending(self, row: Credential) -> str:
        return str(row) if row.pk else "–"

    def state(self, row: Credential) -> str:
        return standing.of_credential(row, timezone.now()) if row.pk else "–"


class ChannelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Registered by the desk, which knows the jobs that channels are needed for."""

    inlines = (CredentialInline,)
    list_display = ("name", "adapter", "base_url", "credential", "state", "models", "max_running", "enabled")
    list_select_related = ("health", "group_link__group")
    list_filter = ("adapter", "enabled")
    search_fields = ("name", "base_url", "channel_models__upstream_model")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Channel]:
        count = Count("channel_models", filter=Q(channel_models__enabled=True), distinct=True)
        channels: QuerySet[Channel] = super().get_queryset(request).prefetch_related("credentials", "rests")
        return channels.annotate(count=count)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        credentials.retire_strays(form.instance)

    def state(self, channel: Channel) -> str:
        return standing.now_of(channel, timezone.now())

    def last_fault(self, channel: Channel) -> str:
        return standing.last_fault(channel)

    def credential(self, channel: Channel) -> str:
        rows = [row for row in channel.credentials.all() if row.retired_at is None]
        shown = [f"{row} disabled" if row.disabled_at else str(row) for row in rows]
        return ", ".join(shown) or "none"

    @admin.display(description="enabled models")
    def models(self, channel: Any) -> str:
        """Or the group that it serves."""
        if link := getattr(channel, "group_link", None):
            return f"group {link.group}"
        return str(channel.count) if channel.count else "none"
