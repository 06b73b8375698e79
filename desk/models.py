"""What the desk itself keeps: tries to sign in; and the permissions that hang on no table."""

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


class Right(models.Model):  # noqa: DJ008 (there are no rows)
    """No table: what the admin lets somebody do beyond looking at rows and changing them."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            ("book_money", "Can book credits and debits"),
            ("issue_keys", "Can issue API keys and enable disabled ones"),
            ("rotate_keys", "Can rotate API keys"),
            ("change_credentials", "Can enter, switch and remove providers' credentials"),
        ]
