"""Admin of channel models: a model as one channel offers it."""

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from catalog.models import Channel, ChannelModel
from desk.channel_page.offer_forms import ChannelModelForm
from desk.channel_page.upstream_table import ALLOW, FIXED, MEANINGS, MORE_ALLOWED, MORE_FIXED
from desk.kit.actions import page_of
from pages.admin_pages import OwnForm


class ChannelModelAdmin(OwnForm, admin.ModelAdmin):  # type: ignore[type-arg]
    form = ChannelModelForm
    change_form_template = "admin/catalog/channelmodel/change_form.html"
    list_display = ("channel", "model", "upstream_model", "enabled")
    list_filter = ("channel",)
    list_select_related = ("channel", "model")
    search_fields = ("channel__name", "model__name", "upstream_model")
    ordering = ("channel__name", "model__name")
    fieldsets: ClassVar[Any] = ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Build the form for the channel of the row or of the page's query."""
        return type("OfferForm", (ChannelModelForm,), {"channel": obj.channel if obj else _asked(request)})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if _asked(request) is None:
            context = {
                **self.admin_site.each_context(request),
                "title": "Add a model to a channel",
                "opts": self.opts,
                "channels": Channel.objects.filter(group_link=None).order_by("name"),
            }
            return TemplateResponse(request, "admin/catalog/channelmodel/choose.html", context)
        return super().add_view(request, form_url, extra_context)

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        form = context["adminform"].form
        channel = form.channel
        context["channel"], context["meanings"] = channel, MEANINGS.items()
        context["subtitle"] = None
        context["title"] = f"{obj.model.name} on {channel.name}" if obj else f"Add a model to {channel.name}"
        context["capabilities"] = [form[name] for name in form.capabilities_names()]
        context["upstream"] = [
            {
                "row": row,
                "is_allowed": row.path in (form[ALLOW].value() or ()),
                "fixed": form[f"{FIXED}{row.path}"] if row.may_fix else None,
            }
            for row in form.upstream.table
        ]
        context["allow"], context["more"] = form[ALLOW], [form[MORE_ALLOWED], form[MORE_FIXED]]

    def save_model(self, request: HttpRequest, obj: ChannelModel, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        done = f"Changed how {obj.model.name} is offered" if change else f"Added {obj.model.name}"
        self.log_change(request, obj.channel, done)

    def response_add(self, request: HttpRequest, obj: ChannelModel, post_url_continue: Any = None) -> HttpResponse:
        return self._back(request, obj, super().response_add(request, obj, post_url_continue))

    def response_change(self, request: HttpRequest, obj: ChannelModel) -> HttpResponse:
        return self._back(request, obj, super().response_change(request, obj))

    def _back(self, request: HttpRequest, obj: ChannelModel, answer: HttpResponse) -> HttpResponse:
        """Redirect to the channel's page, unless the user chose to stay."""
        stays = {"_continue", "_addanother", "_saveasnew", "_popup"} & request.POST.keys()
        return answer if stays else redirect(f"{page_of(obj.channel)}#models")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {}


def _asked(request: HttpRequest) -> Channel | None:
    """Find the channel in the page's query."""
    asked = request.GET.get("channel", "")
    return Channel.objects.filter(pk=asked).first() if asked.isascii() and asked.isdigit() and len(asked) < 19 else None
