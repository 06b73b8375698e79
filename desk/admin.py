"""Accounts and keys in the admin, with the forms that book money, show secrets and rotate keys."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.forms import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from accounts import keys
from accounts.models import Account, ApiKey, KeySecret
from billing import ledger
from catalog.models import Channel, PlanChoice
from common.admin_pages import KnownRows, cost, dollars, moment
from desk import proof
from desk.channel_admin import KeptChannelAdmin
from desk.forms import ApiKeyForm, CreditForm, RotateForm
from desk.guarded_admin import KeptAdmin, may
from desk.history_admin import HistoryAdmin
from desk.people_admin import DeskGroupAdmin, DeskUserAdmin
from tasks.models import Call
from tasks.unknown.admin import CallAdmin

DISABLED = moment("disabled_at")
admin.site.unregister((User, Group))
for model, its_admin in {
    User: DeskUserAdmin,
    Group: DeskGroupAdmin,
    LogEntry: HistoryAdmin,
    Channel: KeptChannelAdmin,
    Call: CallAdmin,
}.items():
    admin.site.register(model, its_admin)


@admin.register(Account)
class AccountAdmin(KeptAdmin):
    money = (cost("balance_micros"), cost("held_micros"))
    list_display = ("name", "billing", *money, "max_queued", "max_running", moment("created_at"))
    list_filter = ("billing",)
    search_fields = ("name",)
    readonly_fields: ClassVar[Any] = (*money, moment("created_at"))
    fields: ClassVar[Any] = ("name", "billing", "max_queued", "max_running", *readonly_fields)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.credit)
        return [path("<int:account_id>/credit/", view, name="accounts_account_credit"), *super().get_urls()]

    @proof.asked
    def credit(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Book a credit or debit."""
        account = self.row_for(request, account_id, right="book_money")
        form = CreditForm(request.POST or None)
        if form.is_valid() and self._book(request, account, form):
            return redirect("admin:accounts_account_change", account.pk)
        return self.page(request, "admin/desk_form.html", title="Credit or debit", form=form, original=account)

    def _book(self, request: HttpRequest, account: Account, form: CreditForm) -> bool:
        amount, reason, reference = (form.cleaned_data[name] for name in ("amount", "reason", "reference"))
        try:
            with transaction.atomic():
                ledger.credit(account.pk, amount, reference=reference, reason=reason)
                self.log_change(request, account, f"Booked {dollars(amount)}: {reason}")
        except ValueError:
            form.add_error(None, "This form has been booked already.")
            return False
        messages.success(request, f"Booked {dollars(amount)}.")
        return True


class PlanChoiceFormSet(KnownRows, BaseInlineFormSet):  # type: ignore[type-arg]
    """The plans of a key."""


class PlanChoiceInline(admin.TabularInline):  # type: ignore[type-arg]
    model = PlanChoice
    formset = PlanChoiceFormSet
    fields = ("model", "plan")
    extra = 0


@admin.register(ApiKey)
class ApiKeyAdmin(KeptAdmin):
    form = ApiKeyForm
    fields = ApiKeyForm.Meta.fields
    limits = ("task_api", "max_queued", "max_running")
    list_display = ("id", "name", "account", "binding", "last4", *limits, DISABLED, moment("expires_at"), "tasks")
    list_display_links = ("id", "name")
    list_filter = ("binding", "task_api", ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("account",)
    search_fields = ("name", "account__name", "secrets__last4")
    actions = ("disable", "enable")
    inlines = (PlanChoiceInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        newest = KeySecret.objects.filter(key=OuterRef("pk")).order_by("-id").values("last4")[:1]
        annotated: QuerySet[ApiKey] = super().get_queryset(request).annotate(last4=Subquery(newest))
        return annotated

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("account", "binding", DISABLED) if obj else ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.fields, DISABLED) if obj else (*self.fields, "reason")

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
        """As good as issuing them again."""
        proof.demand(request)
        for key in queryset:
            keys.enable(key)
            self.log_change(request, key, "Enabled.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.rotate)
        return [path("<int:key_id>/rotate/", view, name="accounts_apikey_rotate"), *super().get_urls()]

    @proof.asked
    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        if self.has_add_permission(request):
            proof.demand(request)
        return super().add_view(request, form_url, extra_context)

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
            return self.page(request, "admin/desk_form.html", title="Rotate", form=form, original=key)
        grace_seconds, reason = form.cleaned_data["grace_seconds"], form.cleaned_data["reason"]
        with transaction.atomic():
            secret = keys.rotate(key, grace_seconds=grace_seconds)
            self.log_change(request, key, f"Rotated, {grace_seconds} s of grace: {reason}")
        return self.show_once(request, key, secret)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return self.show_once(request, obj, keys.issue(obj))

    def show_once(self, request: HttpRequest, key: ApiKey, secret: str) -> HttpResponse:
        """The answer itself shows the secret: a message would leave it in a cookie or a session."""
        title = f"Secret of {key.name}"
        return self.page(request, "admin/key_secret.html", title=title, original=key, secret=secret)
