"""Admin site of the desk: Django's, with our sign-in forms and navigation."""

from functools import partial
from typing import Any

from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest
from django.urls import reverse

from desk import navigation
from desk.access.sign_in import OwnPasswordForm, SignInForm
from desk.catalog_file.views import CatalogFilePages
from desk.money.margin_page import MarginPages
from desk.now.views import NowSite


class DeskSite(NowSite):
    login_form = SignInForm
    enable_nav_sidebar = False
    site_url = None

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        if context["has_permission"]:
            context["places"] = list(navigation.places(request))
        return context

    def get_urls(self) -> list[Any]:
        """Add the pages that belong to no row."""
        return [*CatalogFilePages(self).urls(), *MarginPages(self).urls(), *super().get_urls()]

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Serve Django's page with a form that knows the request."""
        view = PasswordChangeView.as_view(
            form_class=partial(OwnPasswordForm, request=request),
            success_url=reverse("admin:password_change_done"),
            extra_context={**self.each_context(request), **(extra_context or {})},
        )
        request.current_app = self.name
        return view(request)
