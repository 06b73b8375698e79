"""Takes secrets out of text bound for a log: keys, credentials, signed queries, Data URLs.

It knows them by their shape, and by value those that `redact` was told. Better too much is taken out than too little.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

GONE = "[redacted]"
LONGEST = 20_000
DEEPEST = 8
KNOWN_SECRETS = 1_000
SHORTEST_SECRET = 8

_known: OrderedDict[str, None] = OrderedDict()
secrets_told = 0
"""Grows with each secret, once `clean` knows it: what was cleaned at the same number need not be cleaned again."""


def redact(secret: str) -> None:
    """Remember a value (a channel's credential, a key) that no log may show, whatever its shape.

    Values under 8 characters are left: they are placeholders, and would blot out ordinary words.
    """
    if len(secret) < SHORTEST_SECRET:
        return
    global secrets_told
    is_new = secret not in _known
    _known[secret] = None
    _known.move_to_end(secret)
    if len(_known) > KNOWN_SECRETS:
        _known.popitem(last=False)
    if is_new:
        secrets_told += 1


def _data_url(match: re.Match[str]) -> str:
    payload = match["payload"]
    return f"{match['head']}[{len(payload)} characters, sha256 {sha256(payload.encode()).hexdigest()[:12]}]"


def _long_run(match: re.Match[str]) -> str:
    return f"[{len(match[0])} characters, sha256 {sha256(match[0].encode()).hexdigest()[:12]}]"


SECRET_NAME = (
    r"(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?(?:goog-)?api[-_]?key|access[-_]?key(?:[-_]?id)?"
    r"|[a-z_]{0,20}secret[a-z_]{0,20}|password|passwd|credentials?|[a-z]{1,20}_token|x-service-signature|webhook-signature|ciphertext"
)
SIGNED_NAME = r"signature|sig|expires|\w{0,20}accesskeyid|x-(?:amz|goog|tos|oss|cos)-[a-z-]+|security-token"
QUERY_NAME = rf"{SIGNED_NAME}|key|token|policy|key-pair-id|api_?key|access_token|s[evpr]"
ASSIGNED = r"(\\*[\"']?\s*[:=]\s*)"
Replacement = str | Callable[[re.Match[str]], str]
# The first of each row are words, in lower case, of which every text that the shape matches has one: to look for them
# costs a tenth of the shape. "" stands in every text.
DATA_URL_WORD = "data:"
NAME_WORDS = "authorization cookie key secret passw credential _token signature ciphertext"
KEY_WORDS = "sk- sk_ rk- rk_ whsec r8- r8_ ghp xai aiza akia gaaaa"
DATA_URL = re.compile(
    r"(?P<head>\bdata:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w.+=-]+)*,)(?P<payload>[^\s\"'<>\\]+)", re.IGNORECASE
)
SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], Replacement], ...] = tuple(
    (tuple(words.split()) or ("",), re.compile(shape, re.IGNORECASE), replacement)
    for words, shape, replacement in (
        ("://", r"\b(https?://[^\s\"'<>?#]*)\?[^\s\"'<>]*", rf"\1?{GONE}"),
        ("://", r"([a-z][a-z0-9+.-]{1,20}://)[^/\s@\"']{1,500}@", rf"\1{GONE}@"),
        ("=", rf"([?&](?:{QUERY_NAME})=)[^&\s\"'<>]+", rf"\1{GONE}"),
        ("=", rf"(?<![\w-])((?:{SIGNED_NAME})=)[^&\s\"'<>]+", rf"\1{GONE}"),
        (NAME_WORDS, rf"(?<![\w-])({SECRET_NAME}){ASSIGNED}(\\*[\"'])(?:(?!\3).)*\3", rf"\1\2\3{GONE}\3"),
        (NAME_WORDS, rf"(?<![\w-])({SECRET_NAME}){ASSIGNED}(?![\\\"'\[])[^\r\n,}}]+", rf"\1\2{GONE}"),
        ("bearer basic", r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", rf"\1 {GONE}"),
        ("dr-", r"dr-(task|gen)-[\w-]+", rf"dr-\1-{GONE}"),
        (
            KEY_WORDS,
            r"\b(?:sk|rk|whsec|r8|ghp|xai)[-_][\w-]{8,}|\bAIza[\w-]{10,}|\bAKIA\w{10,}|\bgAAAA[\w-]{20,}=*",
            GONE,
        ),
        ("", r"[a-z0-9+/_-]{200,}={0,2}", _long_run),
    )
)
EVERY_WORD = " ".join([DATA_URL_WORD, *(word for words, _, _ in SHAPES for word in words)])
SECRET_FIELD = re.compile(SECRET_NAME, re.IGNORECASE)


def clean(text: str) -> str:
    """The text without secrets, at most 20,000 characters of it."""
    if len(text) < SHORTEST_SECRET:
        return text
    for secret in tuple(_known):
        text = text.replace(secret, GONE)
    hints = hints_of(text)
    if DATA_URL_WORD in hints:
        text = DATA_URL.sub(_data_url, text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… [{len(text)} characters]"
    for words, shape, replacement in SHAPES:
        for word in words:
            if word in hints:
                text = shape.sub(replacement, text)
                break
    return text


def hints_of(text: str) -> str:
    """Where to look for the words of the shapes. Beyond ASCII some letters count as others, so every word is there."""
    return text.lower() if text.isascii() else EVERY_WORD


def cleaned(value: Any, depth: int = 0) -> Any:
    """A JSON value without secrets; what is no JSON value goes as its text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth > DEEPEST:
        return GONE
    if isinstance(value, Mapping):
        return {clean(str(name)): cleaned_field(str(name), item, depth) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [cleaned(item, depth + 1) for item in value]
    return clean(str(value))


def cleaned_field(name: str, value: Any, depth: int = 0) -> Any:
    """A named value without secrets: a name that says secret is enough."""
    return GONE if SECRET_FIELD.fullmatch(name) else cleaned(value, depth + 1)
