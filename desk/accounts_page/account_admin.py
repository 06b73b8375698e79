"""Admin of accounts: balance, spending, keys and statements, and the form that books money."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse

from accounts.models import Account
from billing import ledger
from desk.access import proof
from desk.access.guarded_admin import KeptAdmin, may
from desk.accounts_page import account_facts
from desk.accounts_page.budget_action import SetBudgets
from desk.accounts_page.forms import CreditForm
from desk.kit.actions import ActionPages, Offered
from desk.money.statement_pages import StatementPages
from pages import words
from pages.admin_pages import OwnForm, cost, moment


class AccountAdmin(OwnForm, StatementPages, ActionPages, KeptAdmin):
    nothing_yet = (
        "No account yet",
        "An account pays for the requests of its keys. manage.py create_account NAME --credit 10 also opens one.",
    )
    row_actions = (SetBudgets(),)
    list_display = (
        "name",
        "billing",
        cost("balance_micros"),
        cost("held_micros"),
        "max_queued",
        "max_running",
        moment("created_at"),
    )
    list_filter = ("billing",)
    search_fields = ("name",)
    fields: ClassVar[Any] = ("name", "billing", "max_queued", "max_running")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.credit)
        return [path("<int:account_id>/credit/", view, name="accounts_account_credit"), *super().get_urls()]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        shown = {"title": "Open an account", "show_save_and_add_another": False}
        return super().add_view(request, form_url, {**shown, **(extra_context or {})})

    def fill(self, request: HttpRequest, context: Any, obj: Any) -> None:
        if obj is not None:
            context["facts"] = account_facts.read(obj)
            context |= {"title": obj.name, "subtitle": None, "show_save_and_add_another": False}

    def offered(self, request: HttpRequest, row: Account) -> Iterator[Offered]:
        """Yield the buttons that this user may press."""
        if may(request, "book_money"):
            url = reverse("admin:accounts_account_credit", args=[row.pk])
            yield Offered(label="Credit or debit", url=url, is_danger=False)
        if may(request, "issue_keys"):
            url = f"{reverse('admin:accounts_apikey_add')}?account={row.pk}"
            yield Offered(label="Issue a key", url=url, is_danger=False)
        yield from super().offered(request, row)

    @proof.asked
    def credit(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Book a credit or debit."""
        account = self.row_for(request, account_id, right="book_money")
        form = CreditForm(request.POST or None)
        back = reverse("admin:accounts_account_change", args=[account.pk])
        if form.is_valid() and self._book(request, account, form):
            return redirect(back)
        context = {"title": "Credit or debit", "form": form, "original": account, "meaning": meaning(account)}
        return self.page(request, "admin/action.html", action={"label": "Book it"}, back=back, **context)

    def _book(self, request: HttpRequest, account: Account, form: CreditForm) -> bool:
        amount, reason, reference = (form.cleaned_data[name] for name in ("amount", "reason", "reference"))
        try:
            with transaction.atomic():
                ledger.credit(account.pk, amount, reference=reference, reason=reason)
                self.log_change(request, account, f"Booked {words.usd(amount)}: {reason}")
        except ValueError:
            form.add_error(None, "This form was already booked.")
            return False
        messages.success(request, f"Booked {words.usd(amount)}.")
        return True


def meaning(account: Account) -> str:
    """Explain what a booking does, with the balance that it changes."""
    return (
        f"The balance of {account.name} is {words.cents(account.balance_micros)}, of which "
        f"{words.cents(account.held_micros)} is held for tasks and calls. A booking changes the balance at once and "
        "cannot be undone; the statement shows it with its reason."
    )
