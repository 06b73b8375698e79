"""The kinds of params fields. Each says how a value is read from a request, and what the published schema says of it.

A modality is a table of them: `tasks/request/image.py`, `tasks/request/video.py`, `tasks/request/three_d.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common import urls
from tasks.request.fields import RequestFields, refuse
from tasks.request.values import ParamRules

FLAGS = (True, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamField:
    """`read` gives the value for `TaskRequest` of a field that is there; an absent one has its `default`, and with None
    that of `TaskRequest`. It raises InvalidRequest.

    `roles` are those of reference media, by type; other fields have none.
    """

    read: Callable[[RequestFields, str, ParamRules], Any]
    schema: Mapping[str, Any]
    is_required: bool = False
    default: Any = None
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalityParams:
    """The params of one modality.

    `table` makes the fields, by name, from the model's bounds (`catalog/runnable/bounds.py`). `hints` say for fields of
    other services what to use instead. `either` are fields of which a request needs one, with what the schema says of
    one that is there.
    """

    table: Callable[[Mapping[str, Any]], Mapping[str, ParamField]]
    hints: Mapping[str, str] = field(default_factory=dict)
    either: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def text(*, is_required: bool = False, longest: int | None = None, description: str = "") -> ParamField:
    """A string with more than blanks in it."""
    schema = _type("string", is_required) | {"pattern": r"\S"}
    schema |= {"description": description} if description else {}
    schema |= {"maxLength": longest} if longest else {}
    return ParamField(
        read=lambda fields, name, _: fields.text(name, longest=longest), schema=schema, is_required=is_required
    )


def prompt(*, is_required: bool = True, longest: int | None = None) -> ParamField:
    return text(is_required=is_required, longest=longest, description="Text prompt.")


def whole(*, largest: int, is_required: bool = False, **schema: Any) -> ParamField:
    """A whole number from 1; `schema` is what else the schema says of it."""
    return ParamField(
        read=lambda fields, name, _: fields.integer(name, largest=largest),
        schema=_type("integer", is_required) | {"minimum": 1, "maximum": largest} | schema,
        is_required=is_required,
    )


def flag(offered: Mapping[str, Any]) -> ParamField:
    """True or false, or those of both that the model offers; all where nothing is said."""
    values = offered.get("values", FLAGS)
    if not values:
        return ParamField(read=_refused, schema={"type": "null"})
    narrowed = {} if len(values) == len(FLAGS) else {"enum": [*values, None]}
    return ParamField(
        read=lambda fields, name, _: fields.flag(name, values), schema=_type("boolean", is_required=False) | narrowed
    )


def choice(offered: Mapping[str, Any]) -> ParamField:
    """One of the values that the model offers. A model that offers none takes none."""
    values, default = tuple(offered.get("values") or ()), offered.get("default")
    if not values:
        return ParamField(read=_refused, schema={"type": "null"})
    return ParamField(
        read=lambda fields, name, _: fields.choice(name, values),
        schema={"enum": list(values)} if default is None else {"enum": [*values, None], "default": default},
        is_required=default is None,
        default=default,
    )


def _refused(fields: RequestFields, name: str, _: ParamRules) -> None:
    refuse(fields.at(name), "is not supported by this model")


def _type(name: str, is_required: bool) -> dict[str, Any]:
    return {"type": name if is_required else [name, "null"]}


# Visible ASCII without backslash and fragment, and no user before the host.
URL = r'^[Hh][Tt][Tt][Pp][Ss]?://[!-"$-.0->A-\[\]-~]+(?:[/?][!-"$-\[\]-~]*)?(?![\s\S])'
PUBLIC_URL = {"type": "string", "pattern": URL, "maxLength": urls.MAX_BYTES}


OWN = "must not point at this service or its storage; a result of yours is given as asset:<task id>/<index>"


def public_url(fields: RequestFields, name: str, rules: ParamRules) -> str:
    """A required URL that we or a provider may fetch, elsewhere than here."""
    url = fields.required_text(name)
    if rules.in_storage(url) or urls.is_own(url, rules.urls):
        refuse(fields.at(name), OWN)
    if problem := urls.problem(url, rules.urls):
        refuse(fields.at(name), problem)
    return url


def public_or_own_url(fields: RequestFields, name: str, rules: ParamRules) -> str:
    """The same, or the URL of one of the key's own assets."""
    url = fields.required_text(name)
    is_ours = rules.in_storage(url) or urls.is_own(url, rules.urls)
    return (is_ours and rules.own_asset(url)) or public_url(fields, name, rules)
