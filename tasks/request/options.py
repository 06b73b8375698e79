"""`extra_body` and `provider_options`: free objects, but for credentials, the model, streaming and webhooks.

Which options a protocol knows is the adapters' business.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from common import strict_json
from tasks.request.fields import Fields, refuse

# All are matched against lower-cased keys and published in the JSON Schema, so they keep to what ECMA-262 knows too.
CREDENTIAL = (
    r"(api|access|private|auth|sign|signing)[-_ .]?key|secret|passw(or)?d|passphrase|authorization|credential|bearer"
    r"|(access|api|auth|refresh|session|security)[-_ .]?token$|^(id[-_ .]?)?token$|^(auth|pwd|jwt|cookies?)$"
)
STREAMING = r"^stream(ing|[-_ .]?options)?$|^partial[-_ .]?images$"
WEBHOOK = r"webhook|callback|^notify[-_ .]?url$"
MODEL = r"^model([-_ .]?(name|id))?$"

REFUSED_ANYWHERE = {
    CREDENTIAL: "looks like a credential, which must not be put in task parameters",
    STREAMING: "is not supported: tasks do not stream from the provider",
    WEBHOOK: "is not supported: use the top-level callback_url",
}


def read(fields: Fields, name: str, *, reserved: Collection[str] = ()) -> Mapping[str, Any]:
    """The object of that name, empty if absent; `reserved` names may not stand at its top. Raises InvalidRequest."""
    options = fields.object(name)
    if options is None:
        return {}
    for key in options.values:
        if key in reserved or re.search(MODEL, key.lower()):
            refuse(options.at(key), "is not supported: it would override a common field")
    for path, key in _keys(options.values, options.path):
        for pattern, reason in REFUSED_ANYWHERE.items():
            if re.search(pattern, key.lower()):
                refuse(path, reason)
    return options.values


def _keys(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every key at any depth, with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield strict_json.field(path, key), key
            yield from _keys(item, strict_json.field(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _keys(item, f"{path}[{index}]")
