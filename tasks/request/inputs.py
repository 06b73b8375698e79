"""`params.inputs` of video and 3D: public URLs, or references to results, with a type and a role."""

import re
from collections.abc import Mapping
from typing import Any

from adapters.base import MediaInput
from common.params.row import Role, Roles
from tasks.request import references
from tasks.request.fields import ParamField, RequestFields, refuse
from tasks.request.references import PUBLIC_URL, public_url
from tasks.request.values import ParamRules, UnstoredFile

NAMES = ("id", "type", "role", "url")
ID = r"^[A-Za-z0-9_-]+(?![\s\S])"
ONCE: tuple[Role, ...] = ("first_frame", "last_frame")


def field(roles: Roles, offered: Mapping[str, Any], *, most: int) -> ParamField:
    """At most so many inputs, in order; `roles` has the roles that each type may have, of which the model offers all
    where nothing is said."""
    kept = _offered(roles, offered)

    def read(fields: RequestFields, name: str, rules: ParamRules) -> tuple[MediaInput, ...]:
        inputs: list[MediaInput] = []
        for element in fields.items(name, most=most):
            media = _media(element, kept, rules)
            if media.id is not None and media.id in [other.id for other in inputs]:
                refuse(element.at("id"), "must be unique within the task")
            if media.role in ONCE and media.role in [other.role for other in inputs]:
                refuse(element.at("role"), f"must not be {media.role} twice")
            inputs.append(media)
        return tuple(inputs)

    shown: dict[str, list[str]] = {kind: list(allowed) for kind, allowed in kept.items()}
    return ParamField(read=read, schema=_schema(kept, most), roles=shown)


def _offered(roles: Roles, offered: Mapping[str, Any]) -> Roles:
    named = offered.get("roles", roles)
    kept = {kind: tuple(role for role in allowed if role in named.get(kind, ())) for kind, allowed in roles.items()}
    return {kind: allowed for kind, allowed in kept.items() if allowed}


def _media(element: RequestFields, roles: Roles, rules: ParamRules) -> MediaInput:
    element.refuse_unknown(NAMES)
    kind = element.required_choice("type", roles)
    role = element.required_choice("role", roles[kind])
    identifier = element.text("id")
    if identifier is not None and not re.fullmatch(ID, identifier):
        refuse(element.at("id"), "must consist of letters, digits, _ and -")
    if isinstance(sent := element.values.get("url"), UnstoredFile):  # which no JSON can be
        return MediaInput(type=kind, role=role, url=rules.upload_url(sent.content_type), id=identifier, stored=sent)
    if references.is_one(element.required_text("url")):
        file = references.file(element, "url", rules, kind=kind)
        return MediaInput(type=kind, role=role, url=rules.upload_url(file.content_type), id=identifier, stored=file)
    return MediaInput(type=kind, role=role, url=public_url(element, "url", rules), id=identifier)


def _schema(roles: Roles, most: int) -> dict[str, Any]:
    if not most:
        return {"type": ["array", "null"], "maxItems": 0}
    element = {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "role", "url"],
        "properties": {
            "id": {"type": ["string", "null"], "pattern": ID},
            "type": {"enum": list(roles)},
            "role": {"type": "string"},
            "url": {"anyOf": [PUBLIC_URL, references.SCHEMA]},
        },
        "anyOf": [
            {"properties": {"type": {"const": kind}, "role": {"enum": list(allowed)}}}
            for kind, allowed in roles.items()
        ],
    }
    at_most_one = [
        {"contains": {"properties": {"role": {"const": role}}}, "minContains": 0, "maxContains": 1}
        for role in ONCE
        if role in roles.get("image", ())
    ]
    schema: dict[str, Any] = {"type": ["array", "null"], "maxItems": most, "items": element}
    return schema | ({"allOf": at_most_one} if at_most_one else {})
