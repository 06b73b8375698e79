"""Password confirmation before money is booked or a secret changes: a session may be left open, or stolen.

A view calls `demand`. If the last confirmation is too old, the decorator `asked` shows a password form at the same
address and, once the password is right, continues with the submitted data. The form carries that data encrypted, as it
may hold secrets, and only for the same user and address.
"""

import json
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol

from django import forms
from django.contrib.admin import AdminSite
from django.contrib.auth import authenticate
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse

from common.encryption import Undecryptable, decrypt, encrypt
from desk.access import sign_in_tries
from desk.access.sessions import SIGNED_IN_AT
from desk.access.sign_in import admitted

SECONDS = 15 * 60
PROVED_AT = "proved_at"
SENT, PASSWORD = "proof-sent", "proof-password"
View = Callable[..., Any]


class ProofNeeded(Exception):
    """Raised when the password must be confirmed first; it rolls back the surrounding transaction."""


class HasSite(Protocol):
    admin_site: AdminSite


class ProofForm(forms.Form):
    """Form that checks the signed-in user's password. A wrong one counts as a failed sign-in."""

    prefix = "proof"
    password = forms.CharField(
        strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True})
    )
    sent = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> None:
        name = self.request.user.get_username()
        try_id = admitted(self.request, name)
        if authenticate(self.request, username=name, password=self.cleaned_data["password"]) != self.request.user:
            raise forms.ValidationError("This is not your password.")
        sign_in_tries.withdraw(try_id)


def demand(request: HttpRequest) -> None:
    """Raise ProofNeeded if the password was last entered more than 15 minutes ago."""
    last = max(request.session.get(name, 0) for name in (SIGNED_IN_AT, PROVED_AT))
    if time.time() - last >= SECONDS:
        raise ProofNeeded


def asked(view: View) -> View:
    """Decorate a view of a ModelAdmin that may demand a confirmation."""

    @wraps(view)
    def served(self: HasSite, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        form = None
        if request.method == "POST" and PASSWORD in request.POST:
            form = ProofForm(request.POST, request=request)
            if not form.is_valid():
                return _page(self.admin_site, request, form)
            request.session[PROVED_AT] = int(time.time())
            if not form.cleaned_data["sent"]:
                return HttpResponseRedirect(request.get_full_path())
            request.POST = _opened(request, form.cleaned_data["sent"])  # type: ignore[assignment]
        try:
            return view(self, request, *args, **kwargs)
        except ProofNeeded:
            return _page(self.admin_site, request, ProofForm(initial={"sent": _sealed(request)}, request=request))

    return served


def _page(site: AdminSite, request: HttpRequest, form: ProofForm) -> HttpResponse:
    context = site.each_context(request) | {"title": "Confirm your password", "form": form}
    return TemplateResponse(request, "admin/proof.html", context)


def _sealed(request: HttpRequest) -> str:
    """Encrypt the submitted data for the browser to keep; empty for a request that is no POST."""
    if request.method != "POST":
        return ""
    return encrypt(json.dumps([request.user.pk, request.get_full_path(), request.POST.urlencode()]))


def _opened(request: HttpRequest, sealed: str) -> QueryDict:
    """Decrypt submitted data. Raises BadRequest unless it was sealed for this user and address."""
    try:
        user_id, path, sent = json.loads(decrypt(sealed))
    except (Undecryptable, ValueError):
        raise BadRequest("proof-sent is not ours") from None
    if (user_id, path) != (request.user.pk, request.get_full_path()):
        raise BadRequest("proof-sent belongs elsewhere")
    return QueryDict(sent, encoding=request.encoding)
