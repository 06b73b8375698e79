"""Admin of callbacks: the list, the page of one, and the page that sends several again."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path

from callbacks import deliveries
from callbacks.models import Delivery
from common.redaction import clean
from desk.callback_page import delivery_facts
from desk.kit.actions import ActionPages
from desk.task_page.actions import CountingForm, SendCallback
from pages import words
from pages.admin_pages import ReadOnlyAdmin

MOST_ATTEMPTS = 100
# Filters as other admin pages link to them.
LONG_NAMES = {"status__exact": "status", "host__exact": "host"}


class DeliveryFilterForm(forms.Form):
    status = forms.ChoiceField(required=False, choices=[("", "any"), *Delivery.Status.choices])
    host = forms.CharField(required=False, max_length=255, label="Receiver (host:port)")
    before = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)


class DeliveryAdmin(ActionPages, ReadOnlyAdmin):
    row_actions = (SendCallback(),)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.send_chosen)
        return [path("send/", view, name="callbacks_delivery_send"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        self._refuse_others(request)
        if wanted := request.GET.get("q", "").strip():
            return self._go_to(request, wanted)
        form = DeliveryFilterForm({LONG_NAMES.get(name, name): value for name, value in request.GET.items()})
        given: dict[str, str] = form.cleaned_data if form.is_valid() else {}
        page = delivery_facts.find(**given)
        filters = {name: value for name, value in given.items() if value and name != "before"}
        context = {
            "title": "Callbacks",
            "form": form,
            "found": page,
            "filters": filters,
            "is_first": not given.get("before"),
            "exhausted": () if given.get("before") or filters else delivery_facts.find(status="exhausted").rows,
            "older": f"?{urlencode({**filters, 'before': page.older})}" if page.older else "",
            "may_send": request.user.has_perm("callbacks.change_delivery"),
        }
        return self.page(request, "admin/callbacks/delivery/list.html", **context)

    def _go_to(self, request: HttpRequest, wanted: str) -> HttpResponse:
        """Redirect to a delivery by its own id or its task's."""
        for delivery_id in (wanted, f"{wanted}.1"):
            if "\x00" not in wanted and Delivery.objects.filter(pk=delivery_id).exists():
                return redirect("admin:callbacks_delivery_change", delivery_id)
        messages.warning(request, "No callback has this delivery or task id.")
        return redirect("admin:callbacks_delivery_changelist")

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        self._refuse_others(request)
        rows = Delivery.objects.select_related("task__key__account")
        delivery = rows.filter(pk=unquote(object_id)).first()
        if delivery is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined]
        attempts = list(delivery.log.order_by("-number")[:MOST_ATTEMPTS])
        return self.page(
            request,
            "admin/callbacks/delivery/page.html",
            title=delivery.pk,
            original=delivery,
            verdict=delivery_facts.verdict(delivery, attempts),
            url=clean(delivery.url),
            attempts=[(attempt, clean(attempt.excerpt)) for attempt in attempts],
            row_actions=list(self.offered(request, delivery)),
        )

    def send_chosen(self, request: HttpRequest) -> HttpResponse:
        """Explain what sending the chosen callbacks again will do; POST does it."""
        if not (self.has_view_permission(request) and request.user.has_perm("callbacks.change_delivery")):
            raise PermissionDenied
        chosen = Delivery.objects.filter(pk__in=[each for each in request.GET.getlist("id") if "\x00" not in each])
        done = chosen.aggregate(sum=Sum("attempts"))["sum"] or 0
        form = CountingForm(request.POST if request.method == "POST" else None, initial={"done_before": done})
        hosts = sorted(set(chosen.values_list("host", flat=True)))
        if hosts and form.is_valid() and self._sent(request, chosen, form, done):
            return redirect("admin:callbacks_delivery_changelist")
        context = {"title": "Send again", "form": form, "count": chosen.count(), "hosts": hosts}
        return self.page(request, "admin/callbacks/delivery/send.html", **context)

    def _sent(self, request: HttpRequest, chosen: QuerySet[Delivery], form: CountingForm, done: int) -> bool:
        if done > form.cleaned_data["done_before"]:
            form.add_error(None, "Some of them were sent in the meantime. Reload this page to send them once more.")
            return False
        count = deliveries.resend(list(chosen.values_list("task_id", flat=True)))
        said = f"Sent the callback again. {form.cleaned_data['reason']}".strip()
        LogEntry.objects.log_actions(request.user.pk, chosen, CHANGE, said)  # type: ignore[arg-type]
        messages.success(request, f"{words.counted(count, 'callback')} will be sent now.")
        return True

    def _refuse_others(self, request: HttpRequest) -> None:
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
