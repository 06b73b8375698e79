"""The secrets of API keys: issues, rotates and reveals them. `accounts/authentication.py` says
which of them open."""

import secrets
import string

from django.db import transaction
from django.db.models.functions import Now

from accounts.authentication import digest
from accounts.models import ApiKey, KeySecret
from common import sql
from common.encryption import decrypt, encrypt

PREFIXES = {ApiKey.Binding.TASK.value: "dr-task-", ApiKey.Binding.GENERAL.value: "dr-gen-"}
ALPHABET = string.ascii_letters + string.digits
LENGTH = 43  # 62 ** 43 > 2 ** 256


def issue(key: ApiKey) -> str:
    """Give the key one more secret and return it in plain: it is shown this once."""
    secret = PREFIXES[key.binding] + "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    KeySecret.objects.create(key=key, digest=digest(secret), ciphertext=encrypt(secret), last4=secret[-4:])
    return secret


def rotate(key: ApiKey, *, grace_seconds: int) -> str:
    """Return a new secret; the older ones work on through the grace, or less where their end was nearer already."""
    with transaction.atomic():
        # Without the lock, two rotations at once would each leave the other's secret alive.
        ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk)
        sql.run(RETIRE.format(end=sql.later("%s")), [grace_seconds, key.pk, grace_seconds])
        return issue(key)


RETIRE = """
UPDATE accounts_keysecret SET retired_at = {end}
WHERE key_id = %s AND (retired_at IS NULL OR retired_at > {end})
"""


def disable(key: ApiKey) -> None:
    """From the next request on the key opens nothing; its callbacks are still signed. A first moment stays."""
    ApiKey.objects.filter(pk=key.pk, disabled_at=None).update(disabled_at=Now())


def enable(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk).update(disabled_at=None)


def reveal(secret_id: int) -> str:
    """The plain secret for signing, also where it is retired or its key disabled or expired.

    Raises KeySecret.DoesNotExist and common.encryption.Undecryptable.
    """
    return decrypt(KeySecret.objects.values_list("ciphertext", flat=True).get(pk=secret_id))
