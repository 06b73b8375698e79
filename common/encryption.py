"""Encryption at rest: Fernet keys from ENCRYPTION_KEYS; the first encrypts, all decrypt."""

import json
from collections.abc import Mapping
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Undecryptable(Exception):
    """None of ENCRYPTION_KEYS opens this value."""


def cipher() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


def encrypt(text: str) -> str:
    return cipher().encrypt(text.encode()).decode()


def decrypt(ciphertext: str) -> str:
    """Raises Undecryptable."""
    try:
        return cipher().decrypt(ciphertext.encode()).decode()
    except InvalidToken as error:
        raise Undecryptable("no key of ENCRYPTION_KEYS opens it") from error


def opened_by(ciphertext: str) -> int | None:
    """The place in ENCRYPTION_KEYS, from 0, of the first key that opens it; None where none does."""
    for place, key in enumerate(settings.ENCRYPTION_KEYS):
        with suppress(InvalidToken):
            Fernet(key).decrypt(ciphertext.encode())
            return place
    return None


def under_first_key(ciphertext: str) -> str:
    """The same text, encrypted by the first key. Raises Undecryptable."""
    return encrypt(decrypt(ciphertext))


def encrypt_mapping(values: Mapping[str, str]) -> str:
    return encrypt(json.dumps(dict(values), sort_keys=True))


def decrypt_mapping(ciphertext: str) -> dict[str, str]:
    """Raises Undecryptable."""
    opened: dict[str, str] = json.loads(decrypt(ciphertext))
    return opened
