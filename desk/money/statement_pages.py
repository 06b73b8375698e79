"""Pages of an account's statements: a month as a page and as a CSV file."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import Account
from common import months
from common.months import Month
from desk.access.guarded_admin import GuardedAdmin
from desk.money import statement, statement_csv

SEEN = "billing.view_ledgerentry"


class StatementPages(GuardedAdmin):
    """Mixin for the account's admin."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:account_id>/statement/", view(self.newest), name="accounts_account_statement"),
            path("<int:account_id>/statement/<slug:month>/", view(self.statement), name="accounts_account_month"),
            path("<int:account_id>/statement/<slug:month>.csv", view(self.statement_csv), name="accounts_account_csv"),
            *super().get_urls(),
        ]

    def newest(self, request: HttpRequest, account_id: int) -> HttpResponse:
        return redirect("admin:accounts_account_month", account_id, str(months.of(timezone.now())))

    def statement(self, request: HttpRequest, account_id: int, month: str) -> HttpResponse:
        account = self._account(request, account_id)
        asked, now = _month(month), months.of(timezone.now())
        return self.page(
            request,
            "admin/accounts/account/statement.html",
            title=f"Statement of {account.name}, {asked.label}",
            original=account,
            statement=statement.read(account.pk, asked),
            earlier=asked.later(-1) if asked > months.of(account.created_at) else None,
            later=asked.later(1) if asked < now else None,
            is_running=asked == now,
        )

    def statement_csv(self, request: HttpRequest, account_id: int, month: str) -> StreamingHttpResponse:
        account = self._account(request, account_id)
        asked = _month(month)
        answer = StreamingHttpResponse(statement_csv.lines(account.pk, asked), content_type="text/csv; charset=utf-8")
        name = f"statement-{slugify(account.name) or account.pk}-{asked}.csv"
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer

    def _account(self, request: HttpRequest, account_id: int) -> Account:
        """Load the account. Raises Http404 and PermissionDenied."""
        account: Any = self.get_object(request, str(account_id))
        if account is None:
            raise Http404
        if not (self.has_view_permission(request, account) and request.user.has_perm(SEEN)):
            raise PermissionDenied
        found: Account = account
        return found


def _month(text: str) -> Month:
    try:
        return months.parse(text)
    except ValueError as error:
        raise Http404 from error
