"""The forms that ask operators for their password. A wrong one counts against name and address: `sign_in_tries`."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from desk.access import sign_in_tries

LOCKED = "Too many failed sign-ins. Try again in 15 minutes."


def admitted(request: HttpRequest, name: str) -> int:
    """The try's id. Raises ValidationError while the pair is locked."""
    try_id = sign_in_tries.admit(request, name)
    if try_id is None:
        raise ValidationError(LOCKED, code="locked")
    return try_id


class SignInForm(AdminAuthenticationForm):
    def clean(self) -> dict[str, Any]:
        """Who may not come in although the password is right has failed as well: it tells nobody that it was."""
        name = self.cleaned_data.get("username")
        if name is None or not self.cleaned_data.get("password"):
            return self.cleaned_data
        assert self.request is not None  # noqa: S101
        try_id = admitted(self.request, name)
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        sign_in_tries.withdraw(try_id)
        return cleaned


class OwnPasswordForm(AdminPasswordChangeForm):
    """Changes one's own password. Who guesses the old one here is a failed sign-in, too."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        try_id = admitted(self.request, self.user.get_username())
        password: str = super().clean_old_password()
        sign_in_tries.withdraw(try_id)
        return password
