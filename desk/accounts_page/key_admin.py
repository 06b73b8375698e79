"""Admin of keys: state, limits and plans, and the forms that issue a key and give it a new secret."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.forms import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from accounts import keys
from accounts.models import Account, ApiKey, KeySecret
from billing import budgets
from catalog.models import MediaModel, Plan, PlanChoice
from desk.access import proof
from desk.access.guarded_admin import KeptAdmin, may
from desk.accounts_page import key_facts
from desk.accounts_page.budget_action import SetBudgets
from desk.accounts_page.forms import ApiKeyForm, RotateForm
from desk.accounts_page.key_actions import DisableKey, EnableKey
from desk.kit.actions import ActionPages, Offered
from pages.admin_pages import KnownRows, OwnForm, moment

DISABLED = moment("disabled_at")
SUGGESTED_ACCOUNTS = 200
MOST_SECRETS = 20


class PlanChoiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of a plan choice with plain selects: Django's add buttons that need a script."""

    model = forms.ModelChoiceField(
        queryset=MediaModel.objects.order_by("name"), widget=forms.Select(attrs={"aria-label": "Model"})
    )
    plan = forms.ModelChoiceField(
        queryset=Plan.objects.order_by("name"), widget=forms.Select(attrs={"aria-label": "Plan"})
    )

    class Meta:
        model = PlanChoice
        fields = ("model", "plan")


class PlanChoiceFormSet(KnownRows, BaseInlineFormSet):  # type: ignore[type-arg]
    """Plan choices of a key."""


class PlanChoiceInline(admin.TabularInline):  # type: ignore[type-arg]
    model = PlanChoice
    form = PlanChoiceForm
    formset = PlanChoiceFormSet
    fields = ("model", "plan")
    extra = 2
    template = "admin/accounts/apikey/plan_choices.html"


class ApiKeyAdmin(OwnForm, ActionPages, KeptAdmin):
    nothing_yet = (
        "No key yet",
        "Customers call with a key of their account. manage.py create_key ACCOUNT issues one, like the button above.",
    )
    form = ApiKeyForm
    fields = ApiKeyForm.Meta.fields
    limits = ("task_api", "videos_api", "max_queued", "max_running")
    list_display = ("id", "name", "account", "binding", "last4", *limits, DISABLED, moment("expires_at"), "tasks")
    list_display_links = ("id", "name")
    list_filter = ("binding", "task_api", "videos_api", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("account",)
    search_fields = ("name", "account__name", "secrets__last4")
    actions = ("disable", "enable")
    inlines = (PlanChoiceInline,)
    row_actions = (SetBudgets(), DisableKey(), EnableKey())

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        newest = KeySecret.objects.filter(key=OuterRef("pk")).order_by("-id").values("last4")[:1]
        annotated: QuerySet[ApiKey] = super().get_queryset(request).annotate(last4=Subquery(newest))
        return annotated

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("account", "binding") if obj else ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields if obj else (*self.fields, "reason")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, "issue_keys")

    def has_issue_permission(self, request: HttpRequest) -> bool:
        return may(request, "issue_keys")

    def last4(self, key: Any) -> str:
        return f"…{key.last4}" if key.last4 else "–"

    def tasks(self, key: ApiKey) -> str:
        return format_html('<a href="{}?key__id__exact={}">tasks</a>', reverse("admin:tasks_task_changelist"), key.pk)

    @admin.action(description="Disable the selected keys", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            keys.disable(key)
            self.log_change(request, key, "Disabled.")

    @admin.action(description="Enable the selected keys", permissions=["issue"])
    def enable(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Enable keys, which is as sensitive as issuing them."""
        proof.demand(request)
        for key in queryset:
            keys.enable(key)
            self.log_change(request, key, "Enabled.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.rotate)
        return [path("<int:key_id>/rotate/", view, name="accounts_apikey_rotate"), *super().get_urls()]

    def offered(self, request: HttpRequest, row: ApiKey) -> Iterator[Offered]:
        if may(request, "rotate_keys"):
            url = reverse("admin:accounts_apikey_rotate", args=[row.pk])
            yield Offered(label="Rotate", url=url, is_danger=False)
        yield from super().offered(request, row)

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        if obj is not None:
            context["facts"] = key_facts.read_one(obj.pk)
            context["secrets"] = list(obj.secrets.order_by("-id")[:MOST_SECRETS])
            context["budgets"] = budgets.standing(obj.account_id, obj.pk)
            context |= {"title": f"Key {obj.name}", "subtitle": None, "show_save_and_add_another": False}

    @proof.asked
    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        if self.has_add_permission(request):
            proof.demand(request)
        names = Account.objects.order_by("name").values_list("name", flat=True)[:SUGGESTED_ACCOUNTS]
        shown = {"title": "Issue a key", "account_names": names, "show_save_and_continue": False}
        shown |= {"show_save_and_add_another": False}
        return super().add_view(request, form_url, {**shown, **(extra_context or {})})

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        if add:
            return f"Issued: {form.cleaned_data['reason']}"
        return super().construct_change_message(request, form, formsets, add)

    @proof.asked
    def rotate(self, request: HttpRequest, key_id: int) -> HttpResponse:
        """Give the key a new secret."""
        key = self.row_for(request, key_id, right="rotate_keys")
        form = RotateForm(request.POST or None)
        if not form.is_valid():
            back = reverse("admin:accounts_apikey_change", args=[key.pk])
            context = {"title": "Rotate", "form": form, "original": key, "back": back, "meaning": ROTATION}
            return self.page(request, "admin/action.html", action={"label": "Rotate"}, **context)
        grace_seconds, reason = form.cleaned_data["grace_seconds"], form.cleaned_data["reason"]
        with transaction.atomic():
            secret = keys.rotate(key, grace_seconds=grace_seconds)
            self.log_change(request, key, f"Rotated, {grace_seconds} s of grace: {reason}")
        return self.show_once(request, key, secret)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return self.show_once(request, obj, keys.issue(obj))

    def show_once(self, request: HttpRequest, key: ApiKey, secret: str) -> HttpResponse:
        """Show the secret in the response: a message would leave it in a cookie or a session."""
        title = f"Secret of {key.name}"
        return self.page(request, "admin/key_secret.html", title=title, original=key, secret=secret)


ROTATION = (
    "The key gets a new secret, which is shown once. The old one stops working after the grace period. Tasks, limits "
    "and callbacks stay with the key."
)
