"""Who is signed in to the console: a key, by the secret that was given; and who has tried to."""

from django.db import models
from django.db.models.functions import Now

from accounts.models import ApiKey, KeySecret


class Session(models.Model):
    """A browser that has presented a secret. Only `console/sessions.py` writes it. The cookie's token is not kept, but
    its digest; nor is the secret."""

    digest = models.TextField(unique=True)
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    secret = models.ForeignKey(KeySecret, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"session {self.pk} of key {self.key_id}"


class PresentedKey(models.Model):
    """A try to sign in, kept for a minute. `address` is a digest of where it came from, `pair` of that with what was
    presented. Only `console/sign_in_tries.py` writes it."""

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
