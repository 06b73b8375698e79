"""Requests of `generate_content`: what they ask for, which fields are refused, and the bytes that go upstream.

The model is in the path, and fields have either spelling, as in the JSON of protocol buffers.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from common import strict_json
from common.errors import InvalidRequest
from common.strict_json import Trail
from relay.families import fields, refused_fields
from relay.families.base import AskedCall, CallPath, RefusedField
from relay.families.fields import mapping
from relay.families.refused_fields import AUDIO_INPUT, AUDIO_OUTPUT, FOREIGN
from relay.families.requests import addresses, contents, reading, tools
from relay.families.requests.contents import Contents
from relay.families.requests.known_fields import in_json, in_protocol
from relay.families.requests.tables import google_tools
from relay.families.requests.tables.generate_content import ACCOUNTS_OWN, PRICED_APART, REQUEST
from relay.wire import splicing

STREAM, COUNT = "streamGenerateContent", "countTokens"
SSE = "sse"
ARRAY = (None, "json")
ALT = {STREAM: (*ARRAY, SSE), "generateContent": ARRAY, COUNT: ARRAY}
QUERY = ("alt", "key")
ROOTS = ("contents", "systemInstruction", "system_instruction")
MOST_CANDIDATES = 128
COLLECTIONS = ("models/", "tunedModels/")
MODELS = re.compile(r"^(?:models/)++")
USUAL_OUTPUT = ("TEXT", "IMAGE", "MODALITY_UNSPECIFIED", "0", "1", "2")
SOUND_NUMBER = "3"
USUAL_TIERS = (*refused_fields.TIERS, "standard", "STANDARD", "FLEX", "SERVICE_TIER_UNSPECIFIED")
CONFIG, WHOLE = "generationConfig", "generateContentRequest"


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Reads the call. Raises InvalidRequest."""
    alt = fields.query(path.query, QUERY).get("alt")
    if alt not in ALT[path.verb]:
        raise fields.refusal("alt", f"must be {'json or sse' if path.verb == STREAM else 'json'} on this endpoint")
    model = checked_model(path.model)
    unknown = [field for _, asked in _requests(document) for field in _unknown(asked)]
    parent, config = _either(document, CONFIG)
    _either(document, WHOLE)
    _refuse_another(document, model)
    limits = [fields.count(config, name, parent=parent) for name in _spellings("maxOutputTokens")]
    choices = [
        fields.count(config, name, most=MOST_CANDIDATES, parent=parent) or 1 for name in _spellings("candidateCount")
    ]
    held = contents.find_contents(document, ROOTS)
    run = list(tools.list_google_tools(document.get("tools")))
    return reading.build_call(
        document,
        raw,
        held,
        model=model,
        is_stream=path.verb == STREAM,
        amounts=reading.amounts(_amounts(document, held)),
        tools=tools.limits(run),
        tool_types=tools.types(run),
        output_limit=reading.smallest(*limits),
        choices=max(choices),
        is_array=path.verb == STREAM and alt != SSE,
        is_free=path.verb == COUNT,
        refused=[replace(field, name=in_json(field.name)) for field in [*_refused(document, held), *unknown]],
    )


def with_limit(raw: bytes, document: Mapping[str, Any], limit: int) -> bytes:
    """Adds an output limit to a body without one, in the spelling of its settings."""
    value = str(limit).encode()
    parent = next((name for name in _spellings(CONFIG) if name in document), CONFIG)
    inner = _spellings("maxOutputTokens")[_spellings(CONFIG).index(parent)]
    config = document.get(parent)
    if not isinstance(config, dict):
        return splicing.with_member(raw, (), parent, b'{"%s":%s}' % (inner.encode(), value))
    name = next((name for name in _spellings("maxOutputTokens") if name in config), inner)
    return splicing.with_member(raw, (parent,), name, value)


def renamed(raw: bytes, upstream_model: str) -> bytes:
    """Replaces the model's name in the body, where it may also stand, and does when a whole request is counted."""
    for place in ((), *((name,) for name in _spellings(WHOLE))):
        raw = splicing.renamed(raw, (*place, "model"), resource(upstream_model))
    return raw


def resource(model: str) -> str:
    """Returns the name of a model in Google's paths."""
    return model if model.startswith(COLLECTIONS) else f"models/{model}"


def checked_model(name: str) -> str:
    """Returns the name in the path, as it is priced; longer names for the same model are refused. Raises
    InvalidRequest."""
    name = fields.checked_model(MODELS.sub("", fields.checked_model(name)))
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise fields.refusal("model", "is not a model name")
    return name


def _requests(document: Mapping[str, Any]) -> Iterator[tuple[Trail, Mapping[str, Any]]]:
    """Returns the request, and the one inside it that is to be counted."""
    yield (), {name: value for name, value in document.items() if name not in _spellings(WHOLE)}
    for name in _spellings(WHOLE):
        if isinstance(document.get(name), dict):
            yield (name,), document[name]


def _refused(document: Mapping[str, Any], held: Contents) -> list[RefusedField]:
    """Returns the fields that pass only where opened."""
    (_, outer), *inner = _requests(document)
    found = [*_refused_fields(outer, held)]
    for _, counted in inner:
        found += _refused_fields(counted, contents.find_contents(counted, ROOTS))
    return found


def _unknown(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    yield from REQUEST.unknown(document)
    for trail, entry in tools.list_tools(document.get("tools")):
        if isinstance(entry, dict):
            yield from google_tools.TOOL.unknown(entry, trail)


def _refused_fields(document: Mapping[str, Any], held: Contents) -> Iterator[RefusedField]:
    for name in ACCOUNTS_OWN:
        yield from refused_fields.find_set(document, _spellings(name), FOREIGN)
    for name in _spellings("serviceTier"):
        yield from refused_fields.beyond(document, name, USUAL_TIERS)
    for tool in tools.list_google_tools(document.get("tools")):
        yield tool.refusal()
    for parent, name, value in _settings(document, PRICED_APART):
        if refused_fields.is_set(value):
            yield from refused_fields.refuse_costly([(parent, name)])
    yield from _amounts(document, held)
    for trail, address in held.addresses:
        if not addresses.is_public(address):
            yield RefusedField(
                name="fileData", path=strict_json.path(trail), reason="must have a public http(s) address"
            )
    yield from refused_fields.refuse_foreign(held.stored)


def _amounts(document: Mapping[str, Any], held: Contents) -> Iterator[RefusedField]:
    """Returns uses of amounts that not every price has, and of output kinds that none has."""
    for parent, name, value in _settings(document, ("responseModalities",)):
        listed = value if isinstance(value, list) else [value]
        kinds = ["AUDIO" if str(kind) == SOUND_NUMBER else kind for kind in listed]
        yield from refused_fields.kinds_of_output(kinds, (parent, name), USUAL_OUTPUT)
    for parent, name, value in _settings(document, ("speechConfig",)):
        if refused_fields.is_set(value):
            yield from refused_fields.refuse_unpriced([(parent, name)], AUDIO_OUTPUT)
    yield from refused_fields.refuse_unpriced(held.sounds, AUDIO_INPUT)


def _settings(document: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
    """Returns the settings of these names that are set, in either spelling, with that of their object."""
    for parent in _spellings(CONFIG):
        config = mapping(document.get(parent))
        for name in (spelling for wanted in names for spelling in _spellings(wanted)):
            if config.get(name) is not None:
                yield parent, name, config[name]


def _refuse_another(document: Mapping[str, Any], model: str) -> None:
    """Raises InvalidRequest if the body names another model than the path, which is the priced one."""
    for trail, asked in _requests(document):
        if asked.get("model") not in (None, model, resource(model)):
            path = strict_json.path((*trail, "model"))
            raise InvalidRequest(f"{path} must be the model in the path.", param=path)


def _either(document: Mapping[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """Returns an object and the spelling of its name. Raises InvalidRequest if both spellings are present, since
    upstream might read the other one."""
    json_name, other = _spellings(name)
    if document.get(json_name) is not None and document.get(other) is not None:
        raise fields.refusal(other, f"repeats {json_name}")
    given = json_name if document.get(other) is None else other
    return given, fields.optional_object(document, given)


def _spellings(name: str) -> tuple[str, str]:
    """Returns a name's spellings in JSON and in protocol buffers."""
    return name, in_protocol(name)
