"""Encryption at rest: Fernet keys from ENCRYPTION_KEYS; the first encrypts, all decrypt."""

import json
from collections.abc import Mapping

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


def encrypt_mapping(values: Mapping[str, str]) -> str:
    return encrypt(json.dumps(dict(values), sort_keys=True))


def decrypt_mapping(ciphertext: str) -> dict[str, str]:
    """Raises Undecryptable."""
    opened: dict[str, str] = json.loads(decrypt(ciphertext))
    return opened
