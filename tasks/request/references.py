"""References to results of the key's own, `asset:<task id>/<index>`: they stand wherever an input's address may."""

import re
from typing import Any

from tasks.request.fields import RequestFields, refuse
from tasks.request.values import ParamRules, ReferredFile

SCHEME = "asset:"
FORM = "asset:<task id>/<index>"
REFERENCE = re.compile(r"asset:(task_[0-9a-z]{26})/(0|[1-9][0-9]{0,3})")
SCHEMA: dict[str, Any] = {"type": "string", "pattern": rf"^{REFERENCE.pattern}(?![\s\S])"}


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
