"""Groups of general keys in the admin: one page with what a group is offered and the channels that serve it.

The credentials of a group's channel are on the channel's own page, as those of every channel.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Group
from catalog import groups, standing, validation
from catalog.fields import each
from catalog.models import CatalogVersion, Channel, GroupChannel, GroupOffer
from catalog.ruled_form import RuledForm
from common.admin_pages import KnownRows


class GroupOfferForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "models_listed": each(validation.name),
        "prices": validation.token_prices,
        "image_prices": validation.image_prices,
        "extra_fields": validation.extra_fields,
    }
    empty: ClassVar[dict[str, Any]] = {"prices": {}, "image_prices": {}, "extra_fields": []}

    class Meta:
        model = GroupOffer
        fields = ("prices", "image_prices", "models_listed", "extra_fields")


class GroupChannelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "dialects": validation.dialects,
        "upstream_models": validation.upstream_models,
    }
    empty: ClassVar[dict[str, Any]] = {"dialects": [], "upstream_models": {}}

    class Meta:
        model = GroupChannel
        fields = ("channel", "priority", "weight", "dialects", "upstream_models", "enabled")


class GroupChannelFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """The channels of a group, whose platform the same page may change."""

    def clean(self) -> None:
        super().clean()
        wanted = groups.adapter(self.instance.platform)
        for form in self.forms:
            channel = form.cleaned_data.get("channel") if form.is_valid() else None
            if channel is not None and channel.adapter != wanted and not form.cleaned_data.get("DELETE"):
                form.add_error("channel", f"Its adapter is {channel.adapter}; this group's channels have {wanted}.")


class GroupOfferInline(admin.StackedInline):  # type: ignore[type-arg]
    model = GroupOffer
    form = GroupOfferForm
    can_delete = False
    verbose_name_plural = "offer: prices in USD per million tokens, and per picture, by model pattern"


class GroupChannelInline(admin.TabularInline):  # type: ignore[type-arg]
    model = GroupChannel
    form = GroupChannelForm
    formset = GroupChannelFormSet
    fields = (*GroupChannelForm.Meta.fields, "state")
    readonly_fields = ("state",)
    ordering = ("priority", "id")
    show_change_link = False
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupChannel]:
        rows: QuerySet[GroupChannel] = super().get_queryset(request)
        return rows.select_related("channel__health").prefetch_related("channel__credentials")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "channel":
            adapters = [groups.adapter(platform) for platform in Group.Platform.values]
            kwargs["queryset"] = Channel.objects.filter(adapter__in=adapters).order_by("name")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def state(self, row: GroupChannel) -> str:
        return standing.of_channel(row.channel, timezone.now()) if row.pk else "–"


class GroupAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    inlines = (GroupOfferInline, GroupChannelInline)
    list_display = ("name", "platform", "image_generation", "channels", "prices")
    list_filter = ("platform",)
    list_select_related = ("offer",)
    search_fields = ("name", "channels__channel__name", "channels__channel__base_url")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        enabled = Count("channels", filter=Q(channels__enabled=True, channels__channel__enabled=True), distinct=True)
        rows: QuerySet[Group] = super().get_queryset(request).annotate(count=enabled)
        return rows

    @admin.display(description="enabled channels")
    def channels(self, group: Any) -> str:
        return str(group.count) if group.count else "none"

    def prices(self, group: Any) -> str:
        offer = getattr(group, "offer", None)
        return ", ".join([*offer.prices, *offer.image_prices]) if offer else "none"

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        CatalogVersion.raise_it()  # a group is no catalog record

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        super().delete_model(request, obj)
        CatalogVersion.raise_it()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        super().delete_queryset(request, queryset)
        CatalogVersion.raise_it()
