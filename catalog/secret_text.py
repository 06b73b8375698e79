"""The rule for a part of a provider's credential. What does not fit into a header, and what people paste along with a
key, would be refused at the first paid call only. The reasons never repeat the secret."""

import re
import unicodedata

from catalog.fields import Invalid

LONGEST = 10_000
SCHEME = re.compile(r"(?:authorization\s*:\s*)?(?:bearer|basic|digest|token|key|api-?key)\s", re.IGNORECASE)
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def read(value: object) -> str:
    """A text of visible ASCII characters, as adapters send it (`adapters/kit/http.py`). Raises Invalid."""
    if not isinstance(value, str):
        raise Invalid("must be text: put it in quotes")
    if not value or value != value.strip():
        raise Invalid("must not be empty nor begin or end with a blank")
    if len(value) > LONGEST:
        raise Invalid(f"must have at most {LONGEST} characters")
    if SCHEME.match(value):
        raise Invalid("must be the key alone, without Bearer or another scheme before it: the adapter adds its own")
    for place, character in enumerate(value, 1):
        if not "!" <= character <= "~":
            raise Invalid(f"holds {_what(character)} (character {place} of {len(value)}): enter it without that")
    return str(value)


def _what(character: str) -> str:
    if unicodedata.category(character) in UNSEEN:
        return "a character that nobody sees"
    return "a blank" if character.isspace() else "a character that is not ASCII"
