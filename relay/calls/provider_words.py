"""A provider's words about a refused request, as its client may read them: without secrets, and without what names the
operator's account there."""

import re

from common import redaction

LONGEST_MESSAGE = 1_000
HIDDEN = "…"
# Ids with their prefix (org-AbC123), ids behind the noun that they name, UUIDs, resource names, and addresses.
ACCOUNTS = (
    re.compile(r"\b(?:org|proj|acct|team|ws|cus)[-_](?=[A-Za-z]*[0-9])[A-Za-z0-9]{6,}\b"),
    re.compile(
        r"(?<=[^\w-])(?P<noun>"
        r"(?:organi[sz]ation|org|project|team|workspace|account|tenant|consumer)s?(?: (?:id|number))?"
        r"[:= /]{1,3}['\"`(]{0,2})(?=[\w:-]{0,99}\d)[\w:-]{4,100}",
        re.IGNORECASE,
    ),
    re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
)


def shown(message: str) -> str:
    """The words that a client may read, at most LONGEST_MESSAGE characters."""
    cleaned = f" {redaction.clean(message)}"
    for account in ACCOUNTS:
        cleaned = account.sub(_hidden, cleaned)
    return cleaned.strip()[:LONGEST_MESSAGE]


def _hidden(found: "re.Match[str]") -> str:
    return (found.groupdict().get("noun") or "") + HIDDEN
