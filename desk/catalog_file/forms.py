"""What an operator gives: a catalog file as text or upload; then a reason to apply the one that was looked at."""

import json
import re
from dataclasses import dataclass
from typing import Any

from django import forms

from common.encryption import Undecryptable, decrypt, encrypt
from desk.access.guarded_admin import REASON_LENGTH

LONGEST = 500_000
TOO_LONG = f"It has more than {LONGEST:,} bytes: load it with load_catalog."
SECRET = re.compile(r"(?<!sealed_)credentials[\"']?\s*:")


class FileForm(forms.Form):
    text = forms.CharField(
        required=False,
        max_length=LONGEST,
        strip=False,
        label="The file",
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false", "class": "mono"}),
        error_messages={"max_length": TOO_LONG},
    )
    file = forms.FileField(required=False, label="Or upload it", widget=forms.FileInput(attrs={"accept": ".yaml,.yml"}))
    prune = forms.BooleanField(
        required=False,
        label="Remove what the file does not name",
        help_text="Else it stays as it is. Channels with jobs to follow are only disabled.",
    )

    def clean_file(self) -> str | None:
        upload = self.cleaned_data["file"]
        if upload is None:
            return None
        if upload.size > LONGEST:
            raise forms.ValidationError(TOO_LONG)
        try:
            return str(upload.read().decode())
        except UnicodeDecodeError:
            raise forms.ValidationError("It is not UTF-8.") from None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            cleaned["given"] = cleaned.get("file") or cleaned.get("text") or ""
            if not cleaned["given"].strip():
                self.add_error("text", "Paste the file, or choose one to upload.")
        return cleaned


def has_secrets(text: str) -> bool:
    """Whether a text may hold credentials in the clear: it is not shown again."""
    return SECRET.search(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """The file whose differences somebody has seen, and the version of the catalog that they were told of."""

    text: str
    prune: bool
    version: int
    user_id: int

    def sealed(self) -> str:
        """For the browser to keep, though the file may hold secrets."""
        return encrypt(json.dumps([self.text, self.prune, self.version, self.user_id]))

    @classmethod
    def opened(cls, sealed: str) -> "LookedAt":
        """Raises ValueError for what we did not seal."""
        try:
            text, prune, version, user_id = json.loads(decrypt(sealed))
        except Undecryptable:
            raise ValueError("is not ours") from None
        return cls(text=text, prune=prune, version=version, user_id=user_id)


class ApplyForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, help_text="The history keeps it.")
    looked_at = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, user_id: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user_id = user_id

    def clean_looked_at(self) -> LookedAt:
        try:
            found = LookedAt.opened(self.cleaned_data["looked_at"])
        except ValueError:
            raise forms.ValidationError("Look at the differences first.") from None
        if found.user_id != self.user_id:
            raise forms.ValidationError("Somebody else looked at these differences.")
        return found
