"""What the desk itself keeps: tries to sign in."""

from django.db import models
from django.db.models.functions import Now


class SignInTry(models.Model):
    """A try to sign in that failed, or whose password is being checked. `pair` is a digest of name and address."""

    pair = models.CharField(max_length=64)
    locks = models.BooleanField(default=False)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(name="sign_in_tries_of_pair", fields=["pair", "at"]),
            models.Index(name="sign_in_tries_by_age", fields=["at"]),
        ]

    def __str__(self) -> str:
        return f"{self.pair[:8]}…"
