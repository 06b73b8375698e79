"""Tables of the console: sessions of keys, and sign-in tries."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import ApiKey, KeySecret


class Session(models.Model):
    """Session of a browser that presented a secret; only `console/sessions.py` writes it. Stores a digest of the
    cookie's token, and no secret."""

    digest = models.TextField(unique=True)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    secret = models.ForeignKey(KeySecret, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"session {self.pk} of key {self.key_id}"


class PresentedKey(models.Model):
    """Sign-in try, kept for a minute; only `console/sign_in_tries.py` writes it. `address` is a digest of the client's
    address, `pair` of the address and the presented key."""

    address = models.CharField(max_length=64)
    pair = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [
            models.Index(name="presented_from", fields=["address", "at"]),
            models.Index(name="presented_at", fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.address[:8]}…"
