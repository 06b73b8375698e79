"""Forms that ask operators for their password. A wrong one counts against name and address (`sign_in_tries`)."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm, AdminPasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from desk.access import sign_in_tries

LOCKED = "Too many failed sign-ins. Try again in 15 minutes."


def admitted(request: HttpRequest, name: str) -> int:
    """Begin a try and return its id. Raises ValidationError while name and address are locked."""
    try_id = sign_in_tries.begin(request, name)
    if try_id is None:
        raise ValidationError(LOCKED, code="locked")
    return try_id


class SignInForm(AdminAuthenticationForm):
    def clean(self) -> dict[str, Any]:
        """Check the password. A user without access fails like a wrong password, which reveals nothing."""
        name = self.cleaned_data.get("username")
        if name is None or not self.cleaned_data.get("password"):
            return self.cleaned_data
        assert self.request is not None  # noqa: S101
        try_id = admitted(self.request, name)
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        sign_in_tries.withdraw(try_id)
        return cleaned


class OwnPasswordForm(AdminPasswordChangeForm):
    """Form to change one's own password. A wrong old password counts as a failed sign-in."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        try_id = admitted(self.request, self.user.get_username())
        password: str = super().clean_old_password()
        sign_in_tries.withdraw(try_id)
        return password
