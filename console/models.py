"""Who is signed in to the console: a key, by the secret that was given."""

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
