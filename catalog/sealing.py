"""How a credential is encrypted: together with the origin that it is for, so that a copy of it opens for no other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from common.encryption import Undecryptable, decrypt_mapping, encrypt_mapping

ORIGIN = ""  # the one name in the mapping that no value can have


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """A credential in the clear, and the origin that it was sealed for."""

    origin: str
    values: Mapping[str, str] = field(repr=False)


def seal(values: Mapping[str, str], origin: str) -> str:
    """The ciphertext, by the first of ENCRYPTION_KEYS."""
    return encrypt_mapping({ORIGIN: origin, **values})


def unseal(ciphertext: str) -> Unsealed | None:
    """None where no key of ENCRYPTION_KEYS opens it or it is no mapping with an origin."""
    try:
        values = decrypt_mapping(ciphertext)
        return Unsealed(origin=values.pop(ORIGIN), values=values)
    except (Undecryptable, ValueError, AttributeError, KeyError):
        return None


def readable(ciphertext: str) -> dict[str, str] | None:
    """The values alone."""
    found = unseal(ciphertext)
    return None if found is None else dict(found.values)
