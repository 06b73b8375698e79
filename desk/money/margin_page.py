"""Page of earnings, costs and losses in a span of days."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from desk.money import losses, margins

SEEN = "billing.view_ledgerentry"
USUAL = timedelta(days=29)
LONGEST = timedelta(days=366)


class SpanForm(forms.Form):
    """Form of the span of days."""

    since = forms.DateField(label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="to", widget=forms.DateInput(attrs={"type": "date"}))

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        first, last = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if first and last and not (timedelta() <= last - first <= LONGEST and last < date.max):
            self.add_error("until", f"The last day must be at most {LONGEST.days} days after the first.")
        return cleaned


class MarginPages:
    """Views of the money page."""

    def __init__(self, admin_site: AdminSite) -> None:
        self.admin_site = admin_site

    def urls(self) -> list[URLPattern]:
        return [path("money/", self.admin_site.admin_view(self.show), name="money")]

    def show(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(SEEN):
            raise PermissionDenied
        today = timezone.now().date()
        form = SpanForm({"since": today - USUAL, "until": today} | request.GET.dict())
        since, until = span_of(form, today)
        context = {
            **self.admin_site.each_context(request),
            "title": "Money",
            "form": form,
            "since": since,
            "until": until,
            "before": until + timedelta(days=1),
            "margins": margins.read(since, until),
            "losses": losses.read(since, until),
        }
        return TemplateResponse(request, "admin/money/money.html", context)


def span_of(form: SpanForm, today: date) -> tuple[date, date]:
    """Get the requested span, or the last 30 days if it is invalid."""
    if form.is_valid():
        return form.cleaned_data["since"], form.cleaned_data["until"]
    return today - USUAL, today
