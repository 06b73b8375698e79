"""The admin site: Django's, with our forms where it asks for a password."""

from functools import partial
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest
from django.urls import reverse

from desk.sign_in import OwnPasswordForm, SignInForm


class DeskSite(AdminSite):
    login_form = SignInForm

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """As Django's, with a form that knows the request."""
        view = PasswordChangeView.as_view(
            form_class=partial(OwnPasswordForm, request=request),
            success_url=reverse("admin:password_change_done"),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        request.current_app = self.name
        return view(request)
