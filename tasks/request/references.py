"""Addresses of inputs: public URLs, and references to results of the key's own, `asset:<task id>/<index>`, which may
stand in their place."""

import re
from typing import Any

from common import urls
from tasks.request.fields import RequestFields, refuse
from tasks.request.values import ParamRules, ReferredFile

SCHEME = "asset:"
FORM = "asset:<task id>/<index>"
REFERENCE = re.compile(r"asset:(task_[0-9a-z]{26})/(0|[1-9][0-9]{0,3})")
SCHEMA: dict[str, Any] = {"type": "string", "pattern": rf"^{REFERENCE.pattern}(?![\s\S])"}
# Visible ASCII without backslash and fragment, and no user before the host.
URL = r'^[Hh][Tt][Tt][Pp][Ss]?://[!-"$-.0->A-\[\]-~]+(?:[/?][!-"$-\[\]-~]*)?(?![\s\S])'
PUBLIC_URL = {"type": "string", "pattern": URL, "maxLength": urls.MAX_BYTES}
OWN = "must not point at this service or its storage; a result of yours is given as asset:<task id>/<index>"


def is_one(text: str) -> bool:
    """Whether a reference is meant, well or badly."""
    return text[: len(SCHEME)].lower() == SCHEME


def to(task_id: str, index: int) -> str:
    return f"{SCHEME}{task_id}/{index}"


def place_of(reference: str) -> tuple[str, int] | None:
    """(task id, index); None for what is no reference."""
    found = REFERENCE.fullmatch(reference)
    return (found[1], int(found[2])) if found else None


def file(fields: RequestFields, name: str, rules: ParamRules, *, kind: str) -> ReferredFile:
    """The file of a reference in this field, which must be an image, say. Raises InvalidRequest."""
    reference = fields.required_text(name)
    if place_of(reference) is None:
        refuse(fields.at(name), f"must be a reference of the form {FORM}")
    found = rules.referred(reference)
    if found is None:
        refuse(fields.at(name), "must refer to a result of this API key whose file is still kept")
    if found.kind != kind:
        refuse(fields.at(name), f"must refer to a result of the type {kind}")
    return found


def public_url(fields: RequestFields, name: str, rules: ParamRules) -> str:
    """A required URL that we or a provider may fetch, elsewhere than here."""
    url = fields.required_text(name)
    if rules.in_storage(url) or urls.is_own(url, rules.urls):
        refuse(fields.at(name), OWN)
    if problem := urls.problem(url, rules.urls):
        refuse(fields.at(name), problem)
    return url


def public_or_own_url(fields: RequestFields, name: str, rules: ParamRules) -> str:
    """A URL as `public_url` takes it, or that of one of the key's own assets."""
    url = fields.required_text(name)
    is_ours = rules.in_storage(url) or urls.is_own(url, rules.urls)
    return (is_ours and rules.own_asset(url)) or public_url(fields, name, rules)
