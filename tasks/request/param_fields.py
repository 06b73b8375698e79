"""How a value of each kind of params field is read from a request, and what the published schema says of it.

Which fields there are, `common/params/` declares; `tasks/request/param_tables.py` makes these of them.
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


def text(*, is_required: bool = False, longest: int | None = None, description: str = "") -> ParamField:
    """A string with more than blanks in it."""
    schema = _type("string", is_required) | {"pattern": r"\S"}
    schema |= {"description": description} if description else {}
    schema |= {"maxLength": longest} if longest else {}
    return ParamField(
        read=lambda fields, name, _: fields.text(name, longest=longest), schema=schema, is_required=is_required
    )


def whole(
    *, largest: int, least: int = 1, is_required: bool = False, default: int | None = None, description: str = ""
) -> ParamField:
    """A whole number from `least` to `largest`; `default` is that of `TaskRequest`."""
    schema = _type("integer", is_required) | {"minimum": least, "maximum": largest}
    schema |= {"description": description} if description else {}
    schema |= {} if default is None else {"default": default}
    return ParamField(
        read=lambda fields, name, _: fields.integer(name, largest=largest, least=least),
        schema=schema,
        is_required=is_required,
    )


def flag(offered: Mapping[str, Any]) -> ParamField:
    """True or false, or the one of both that the model offers; both where nothing is said."""
    values = offered.get("values", FLAGS)
    narrowed = {} if len(values) == len(FLAGS) else {"enum": [*values, None]}
    return ParamField(
        read=lambda fields, name, _: fields.flag(name, values), schema=_type("boolean", is_required=False) | narrowed
    )


def choice(offered: Mapping[str, Any]) -> ParamField:
    """One of the values that the model offers."""
    values, default = tuple(offered.get("values") or ()), offered.get("default")
    return ParamField(
        read=lambda fields, name, _: fields.choice(name, values),
        schema={"enum": list(values)} if default is None else {"enum": [*values, None], "default": default},
        is_required=default is None,
        default=default,
    )


def refused() -> ParamField:
    """A field that the model does not take."""

    def read(fields: RequestFields, name: str, _: ParamRules) -> None:
        refuse(fields.at(name), "is not supported by this model")

    return ParamField(read=read, schema={"type": "null"})


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
