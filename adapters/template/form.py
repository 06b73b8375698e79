"""A template as it is used: the shipped ones, what extends them, and what a channel model says of its own input.

A template describes a provider as data. `template/rules.py` says what is wrong with one; here it is taken to be right.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from adapters.base import Connection, ErrorKind, Target
from adapters.template.paths import found
from common.bounded_cache import by_identity

FOLDER = Path(__file__).parent / "examples"
DEFAULT_HEADERS = {"Authorization": "Bearer {api_key}"}
KINDS = frozenset(ErrorKind)
PER_MODEL = ("input", "maps", "options")
Json = dict[str, Any]


class BadTemplate(ValueError):
    """The options name no template that there is."""


@dataclass(frozen=True, slots=True)
class Template:
    """The document of a template, merged from what it extends. A synchronous one has no `id`."""

    document: Mapping[str, Any]

    def part(self, name: str) -> Mapping[str, Any]:
        """A section, empty where it is not given."""
        section: Mapping[str, Any] = self.document.get(name) or {}
        return section

    @property
    def is_job(self) -> bool:
        return "id" in self.document

    @property
    def modalities(self) -> list[str]:
        modalities: list[str] = self.document["modalities"]
        return modalities

    @property
    def kind(self) -> str:
        """Of what it produces: image or video."""
        kind: str = self.part("result").get("kind") or self.modalities[0]
        return kind

    @property
    def headers(self) -> Mapping[str, str]:
        headers: Mapping[str, str] = self.document.get("headers", DEFAULT_HEADERS)
        return headers

    @property
    def options(self) -> Mapping[str, str]:
        """Where each option of a request goes in the body, by its name."""
        listed = self.document.get("options") or {}
        return listed if isinstance(listed, Mapping) else {name: self.place_of(name) for name in listed}

    def place_of(self, option: str) -> str:
        """Where an option goes of which nothing else is said: into the model's input."""
        place = self.document.get("input_at")
        return f"{place}.{option}" if place else option


def shipped() -> list[str]:
    """The names of the templates that come with the service."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def of_connection(connection: Connection) -> Template:
    """The template of a channel, for calls: what a model changes is in the request already. Raises BadTemplate."""
    return Template(resolved(connection.options.get("template")))


@by_identity  # every submission asks it of the same few targets
def of_target(target: Target) -> Template:
    """The template of a channel model, not to be changed. Raises BadTemplate."""
    return Template(for_model(resolved(target.options.get("template")), target.capabilities))


def resolved(value: object) -> Json:
    """The whole document, not to be changed: a name is a shipped template, and what `extends` one changes it. Raises
    BadTemplate."""
    if isinstance(value, str):
        if value not in shipped():
            raise BadTemplate(f"is no shipped template; there are {', '.join(shipped())}")
        return _parsed(value)
    if not isinstance(value, Mapping):
        raise BadTemplate("must be the name of a shipped template, or an object")
    if "extends" not in value:
        return dict(value)
    own = {name: item for name, item in value.items() if name != "extends"}
    if not isinstance(value["extends"], str):
        raise BadTemplate("extends: must be the name of a shipped template")
    whole: Json = merged(resolved(value["extends"]), own)
    return whole


def merged(base: Any, change: Any) -> Any:
    """Objects are merged key by key, null removes a key; everything else replaces."""
    if not isinstance(base, Mapping) or not isinstance(change, Mapping):
        return change
    result = dict(base)
    for name, item in change.items():
        if item is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), item)
    return result


def for_model(document: Json, capabilities: Mapping[str, Any]) -> Json:
    """The document with what a channel model says: `input` is merged into the body at `input_at`, `maps` into the
    maps, `options` are added."""
    result = deepcopy(document)
    if change := capabilities.get("input"):
        place = result["submit"].setdefault("body", {})
        if path := result.get("input_at"):
            place = found(place, path)[0]
        changed = merged(place, change)
        place.clear()
        place.update(changed)
    if maps := capabilities.get("maps"):
        result["maps"] = {**(result.get("maps") or {}), **maps}
    if options := capabilities.get("options"):
        added = Template({**result, "options": options}).options
        result["options"] = {**Template(result).options, **added}
    return result


@cache
def _parsed(name: str) -> Json:
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    return resolved(document) if "extends" in document else dict(document)
