"""`extra_body` and `provider_options`: free objects without credentials, model, streaming and webhooks.

Which options a protocol knows is for its adapter to say.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from common import strict_json
from tasks.request.fields import ParamField, RequestFields, refuse
from tasks.request.option_names import CREDENTIAL, LONG, MODEL, STREAMING, WEBHOOK

REFUSED_ANYWHERE = {
    LONG: "is a name of more than 200 characters",  # first, so that the others are never searched for in a long one
    CREDENTIAL: "looks like a credential, which must not be put in task parameters",
    STREAMING: "is not supported: tasks do not stream from the provider",
    WEBHOOK: "is not supported: use the top-level callback_url",
}
# Each refused name has one of these in it, or is long: most names are done with after this one search.
SUSPECT = re.compile(
    "key|secret|passw|passphrase|authori|credential|bearer|token|auth|pwd|jwt|cookie|stream|partial|webhook|callback"
    f"|notify|{LONG}",
    re.IGNORECASE,
)
ABSENT = {"type": "null"}
DEFINITIONS = {
    "options": {
        "type": "object",
        "patternProperties": dict.fromkeys(REFUSED_ANYWHERE, ABSENT),
        "additionalProperties": {"$ref": "#/$defs/option"},
    },
    "option": {
        "anyOf": [
            {"$ref": "#/$defs/options"},
            {"type": "array", "items": {"$ref": "#/$defs/option"}},
            {"type": ["string", "number", "boolean", "null"]},
        ]
    },
}


def field(*, reserved: Collection[str] = (), largest: Mapping[str, int] | None = None) -> ParamField:
    """The object without nulls. At its top `reserved` names may not stand, and `largest` bounds numbers."""

    def checked(fields: RequestFields, name: str, _: object) -> Mapping[str, Any]:
        given = RequestFields.of(fields.values[name], fields.at(name))
        options = replace(given, values=without_nulls(given.values))
        _refuse_keys(options, reserved)
        for key, most in (largest or {}).items():
            value = options.values.get(key)
            if isinstance(value, int | float) and value > most:
                refuse(options.at(key), f"must be at most {most}")
        return options.values

    schema = {
        "anyOf": [{"type": "null"}, {"$ref": "#/$defs/options"}],
        "patternProperties": {MODEL: ABSENT},
        "properties": dict.fromkeys(reserved, ABSENT)
        | {key: {"maximum": most} for key, most in (largest or {}).items()},
    }
    return ParamField(read=checked, schema=schema)


def without_nulls(value: Any) -> Any:
    """The same without the keys of its objects that are null, which count as absent; elements of arrays stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _refuse_keys(options: RequestFields, reserved: Collection[str]) -> None:
    for key in options.values:
        if key in reserved or re.search(MODEL, key):
            refuse(options.at(key), "is not supported: it would override a common field")
    for path, key in _keys(options.values, options.path):
        for pattern, reason in REFUSED_ANYWHERE.items() if SUSPECT.search(key) else ():
            if re.search(pattern, key):
                refuse(path, reason)


def _keys(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every key at any depth, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield strict_json.field(path, key), key
            yield from _keys(item, strict_json.field(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _keys(item, f"{path}[{index}]")
