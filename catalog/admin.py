"""The catalog in the admin. Every write goes through the rows' own save and delete, which raise the version."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Group
from catalog import credentials, naming, standing
from catalog.admin_forms import (
    ChannelForm,
    ChannelModelForm,
    ChannelModelFormSet,
    MediaModelForm,
    PlanForm,
    RouteForm,
    RouteFormSet,
)
from catalog.group_admin import GroupAdmin
from catalog.models import (
    Channel,
    ChannelModel,
    Credential,
    MediaModel,
    Plan,
    PlanChoice,
    Route,
)
from catalog.secret_forms import CredentialForm, CredentialFormSet

admin.site.register(Group, GroupAdmin)


class CredentialInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Credential
    form = CredentialForm
    formset = CredentialFormSet
    readonly_fields = ("ending", "origin", "state", "reason", "disabled_at", "cooldown_until", "probe_at")
    fields = ("ending", "origin", "secret", "switch", "state", "reason", "disabled_at", "cooldown_until", "probe_at")
    ordering = ("id",)
    verbose_name_plural = "credentials, used in turn"

    def get_extra(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        return 0 if obj else 1

    @admin.display(description="ends in")
    def ending(self, row: Credential) -> str:
        return str(row) if row.pk else "–"

    def state(self, row: Credential) -> str:
        return standing.of_credential(row, timezone.now()) if row.pk else "–"


class ChannelModelInline(admin.TabularInline):  # type: ignore[type-arg]
    model = ChannelModel
    form = ChannelModelForm
    formset = ChannelModelFormSet
    autocomplete_fields = ("model",)
    extra = 0


class RouteInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Route
    form = RouteForm
    formset = RouteFormSet
    autocomplete_fields = ("model", "channel")
    ordering = ("model", "priority", "id")
    extra = 0


@admin.register(MediaModel)
class MediaModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = MediaModelForm
    list_display = ("name", "modality", "aliases", "default_plan", "pricing_mode", "routes", "enabled")
    list_filter = ("modality", "enabled", "default_plan")
    list_select_related = ("default_plan",)
    search_fields = ("names__name", "name")
    ordering = ("modality", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[MediaModel]:
        count = Count("routes", filter=Q(routes__enabled=True), distinct=True)
        models: QuerySet[MediaModel] = super().get_queryset(request).prefetch_related("names").annotate(count=count)
        return models

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("modality",) if obj else ()

    def save_model(self, request: HttpRequest, obj: MediaModel, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if naming.differ(obj, form.cleaned_data["aliases"]):
            naming.write(obj, form.cleaned_data["aliases"])

    def aliases(self, model: MediaModel) -> str:
        return ", ".join(naming.aliases(model)) or "–"

    @admin.display(description="enabled routes")
    def routes(self, model: Any) -> str:
        return str(model.count) if model.count else "none"


class ChannelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Registered by the desk, which knows the jobs that channels are needed for."""

    form = ChannelForm
    inlines = (CredentialInline, ChannelModelInline)
    list_display = ("name", "adapter", "base_url", "credential", "state", "models", "max_running", "enabled")
    list_select_related = ("health", "group_link__group")
    list_filter = ("adapter", "enabled")
    search_fields = ("name", "base_url", "channel_models__upstream_model")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Channel]:
        count = Count("channel_models", filter=Q(channel_models__enabled=True), distinct=True)
        channels: QuerySet[Channel] = super().get_queryset(request).prefetch_related("credentials")
        return channels.annotate(count=count)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("state", "last_fault") if obj else ()

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        credentials.retire_strays(form.instance)

    def state(self, channel: Channel) -> str:
        return standing.of_channel(channel, timezone.now())

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


@admin.register(Plan)
class PlanAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = PlanForm
    inlines = (RouteInline,)
    list_display = ("name", "price_multiplier", "routes", "default_of")
    search_fields = ("name",)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        enabled = Count("routes", filter=Q(routes__enabled=True), distinct=True)
        plans: QuerySet[Plan] = super().get_queryset(request).prefetch_related("default_of").annotate(count=enabled)
        return plans

    @admin.display(description="enabled routes")
    def routes(self, plan: Any) -> str:
        return str(plan.count) if plan.count else "none"

    @admin.display(description="default of")
    def default_of(self, plan: Plan) -> str:
        return ", ".join(model.name for model in plan.default_of.all()) or "–"


@admin.register(PlanChoice)
class PlanChoiceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("key", "model", "plan")
    list_filter = ("plan",)
    list_select_related = ("key", "model", "plan")
    search_fields = ("key__name", "model__name", "plan__name")
    raw_id_fields = ("key",)
    autocomplete_fields = ("model", "plan")
