"""Admin of groups of general keys: one page with a group's offer and the channels that serve it.

A channel's credentials are on the channel's own page.
"""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.forms import Media
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Group
from catalog import group_checks, snapshot, standing
from catalog.models import CatalogVersion, GroupChannel, GroupOffer
from desk.groups_page.forms import GroupChannelForm, GroupChannelFormSet, GroupOfferForm
from pages.admin_pages import OwnForm


class GroupOfferInline(admin.StackedInline):  # type: ignore[type-arg]
    model = GroupOffer
    form = GroupOfferForm
    can_delete = False
    media = Media()


class GroupChannelInline(admin.TabularInline):  # type: ignore[type-arg]
    model = GroupChannel
    form = GroupChannelForm
    formset = GroupChannelFormSet
    ordering = ("priority", "id")
    extra = 1
    media = Media()

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupChannel]:
        rows: QuerySet[GroupChannel] = super().get_queryset(request)
        return rows.select_related("channel__health").prefetch_related("channel__credentials", "channel__rests")


class KeyGroupAdmin(OwnForm, admin.ModelAdmin):  # type: ignore[type-arg]
    nothing_yet = (
        "No key group yet",
        "Each general key belongs to a group, which sets what it may call and at which prices.",
    )
    change_form_template = "admin/accounts/group/change_form.html"
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

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        shown = {
            each.formset.prefix: each.formset for each in context["inline_admin_formsets"]
        }  # those that the user may see
        channels, now = shown.get("channels"), timezone.now()
        context["offer"], context["formset"] = shown.get("offer"), channels
        context["channels"] = [
            {"form": form, "state": standing.now_of(form.instance.channel, now) if form.instance.pk else ""}
            for form in (channels.forms if channels else ())
        ]
        if obj is not None:
            context["title"], context["subtitle"] = obj.name, None
            entry = snapshot.latest().group(obj.pk)
            context["problems"] = group_checks.of_group(entry) if entry else []

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        CatalogVersion.raise_it()  # a group is no catalog record

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        super().delete_model(request, obj)
        CatalogVersion.raise_it()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        super().delete_queryset(request, queryset)
        CatalogVersion.raise_it()
