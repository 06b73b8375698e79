"""Cleans a provider's message about a refused request for the client: without secrets or the operator's account
names."""

import re

from common import redaction

LONGEST_MESSAGE = 1_000
HIDDEN = "…"
NOUN = r"(?:organi[sz]ation|org|project|team|workspace|account|tenant|consumer|resource|subscription|deployment)s?"
# Words that may follow such a noun without naming anything: verbs, prepositions, other nouns.
NO_NAME = (
    r"(?!(?:is|are|has|have|was|were|does|do|did|must|may|can|could|cannot|will|not|on|to|and|or|that|which|with|in|for"
    r"|of|at|by|from|settings?|rates?|limits?|quotas?|ids?|names?|level|owner|admin\w*|billing|page)\b)"
)
BEHIND = r"(?: \([^)]{1,100}\))?(?-i: of [A-Z][\w&.-]*(?: [A-Z][\w&.-]*){0,4})?"
BEFORE = r"\b(?:in|for|of|from|by) (?:the |your )?"
ID = r"(?=[\w:-]{0,99}[\d-])[\w:-]{4,100}"
# Console addresses, prefixed ids (org-AbC123), names and ids that follow their noun, UUIDs and other long ids, and
# e-mail addresses.
ACCOUNTS = (
    re.compile(
        r"https?://\S*(?:/(?:settings|keys|api-keys|accounts?|org\w*|projects?|billing|teams?|workspaces?|deployments"
        r"|console|dashboard)\b|\.openai\.azure\.com|\.services\.ai\.azure\.com)\S*",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:org|proj|acct|team|ws|cus)[-_](?:(?=[A-Za-z]*[0-9])[A-Za-z0-9]{6,}|[A-Za-z0-9]{12,})\b" + BEHIND),
    re.compile(rf"(?P<noun>{BEFORE}{NOUN} ){NO_NAME}[^\s,.;:()]+{BEHIND}", re.IGNORECASE),
    re.compile(
        rf"(?<=[^\w-])(?P<noun>{NOUN}(?: (?:id|number))?[:= /]{{1,3}}['\"`(]{{0,2}}){ID}{BEHIND}", re.IGNORECASE
    ),
    re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    re.compile(r"\b(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{24,}\b"),
    re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
)


def clean(message: str) -> str:
    """Returns what a client may read, at most LONGEST_MESSAGE characters."""
    cleaned = f" {redaction.clean(message)}"
    for account in ACCOUNTS:
        cleaned = account.sub(_hidden, cleaned)
    return cleaned.strip()[:LONGEST_MESSAGE]


def _hidden(found: "re.Match[str]") -> str:
    return (found.groupdict().get("noun") or "") + HIDDEN
