"""Forms of the catalog file: the file as text or upload, then a reason to apply the previewed one."""

import json
import re
from dataclasses import dataclass
from typing import Any

from django import forms

from common.encryption import Undecryptable, decrypt, encrypt
from desk.access.guarded_admin import REASON_LENGTH

LONGEST = 500_000
TOO_LONG = f"The file has more than {LONGEST:,} bytes: use the command load_catalog."
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
        help_text="Otherwise it is kept. Channels that still have jobs to follow are only disabled.",
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
            raise forms.ValidationError("The file is not UTF-8.") from None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            cleaned["given"] = cleaned.get("file") or cleaned.get("text") or ""
            if not cleaned["given"].strip():
                self.add_error("text", "Paste the file, or choose one to upload.")
        return cleaned


def has_secrets(text: str) -> bool:
    """Check whether a text may hold plain credentials; then it is not shown again."""
    return SECRET.search(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedFile:
    """File whose differences a user has seen, and the catalog version that they apply to."""

    text: str
    prune: bool
    version: int
    user_id: int

    def sealed(self) -> str:
        """Encrypt it for the browser to keep, as the file may hold secrets."""
        return encrypt(json.dumps([self.text, self.prune, self.version, self.user_id]))

    @classmethod
    def opened(cls, sealed: str) -> "PreviewedFile":
        """Decrypt a sealed file. Raises ValueError unless we sealed it."""
        try:
            text, prune, version, user_id = json.loads(decrypt(sealed))
        except Undecryptable:
            raise ValueError("is not ours") from None
        return cls(text=text, prune=prune, version=version, user_id=user_id)


class ApplyForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, help_text="Recorded in the history.")
    looked_at = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, user_id: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user_id = user_id

    def clean_looked_at(self) -> PreviewedFile:
        try:
            found = PreviewedFile.opened(self.cleaned_data["looked_at"])
        except ValueError:
            raise forms.ValidationError("Preview the differences first.") from None
        if found.user_id != self.user_id:
            raise forms.ValidationError("Another user previewed these differences.")
        return found
