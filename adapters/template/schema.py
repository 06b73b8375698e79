"""The keys of a template and what their values must be. Reference for operators: docs/templates.md."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adapters.kit import rules
from adapters.kit.rules import Rule, Rules, rule
from adapters.template.form import KINDS
from adapters.template.paths import is_path

STATES = ("queued", "running", "succeeded", "failed", "canceled")
METHODS = rules.one_of("POST", "PUT", "PATCH", "DELETE", "GET")
HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")
BODY_PATH = re.compile(r"[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,8}")
NEED_STATUS = ("auth", "quota_exhausted")


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and len(value) <= 2000


def is_local(value: object) -> bool:
    """A path of the channel's own base URL."""
    return is_text(value) and str(value).startswith("/") and str(value).isascii() and " " not in str(value)


def is_paths(value: object) -> bool:
    return is_path(value) or (isinstance(value, list) and bool(value) and all(map(is_path, value)))


def is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_text, value))


def is_map(is_value: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(is_text(name) and is_value(v) for name, v in value.items())


def is_kind(value: object) -> bool:
    return isinstance(value, str) and value in KINDS


def is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | bool)


def is_options(value: object) -> bool:
    return is_texts(value) or is_map(lambda path: isinstance(path, str) and bool(BODY_PATH.fullmatch(path)))(value)


def is_text_rule(value: object) -> bool:
    """One `{contains, kind, status?}`. Clients' words can come back in a message: they must not close a channel."""
    if not isinstance(value, dict) or not set(value) <= {"contains", "kind", "status"}:
        return False
    has_status = rules.is_whole(value.get("status"), 300)
    is_whole = is_text(value.get("contains")) and is_kind(value.get("kind"))
    return is_whole and has_status if "status" in value else is_whole and value.get("kind") not in NEED_STATUS


PATHS = rule(is_paths, "a path such as data[].url, or a list of them")
LOCAL = rule(is_local, "a path that begins with /")
ADDRESS = rule(
    lambda value: is_local(value) or is_path(value), "a path of the base URL that begins with /, or one into the answer"
)
SECONDS = rule(lambda value: rules.is_whole(value, 1) and value <= 3600, "a whole number of seconds from 1 to 3600")
KIND_MAP = rule(is_map(is_kind), f"an object of kinds by code; kinds are {', '.join(sorted(KINDS))}")
STATE_MAP = rule(is_map(lambda value: value in STATES), f"an object of {', '.join(STATES)} by the provider's words")
MAPS = rule(is_map(is_map(is_scalar)), "an object of translations {field: {value: the provider's}}")
OPTIONS = rule(is_options, "a list of names, or an object of paths into the body by name")
NEUTRAL = rule(
    lambda value: is_texts(value) or is_map(lambda each: isinstance(each, list) and all(map(is_scalar, each)))(value),
    "a list of names of options, or an object of lists of their harmless values by name",
)
HOSTS = rule(
    lambda value: is_texts(value) and all(HOST.fullmatch(item) for item in value),
    "a list of host names in lower case, *.host for all below it",
)
MODALITIES = rule(lambda value: value in (["image"], ["video"], ["image", "video"]), "a list of image and video")
UNFINISHED = rule(lambda value: is_texts(value) and set(value) <= {"queued", "running"}, "a list of queued and running")
OBJECT = rule(lambda value: isinstance(value, dict), "an object")

FORM: dict[str, Rule | Rules] = {
    "summary": rules.TEXT,
    "modalities": MODALITIES,
    "headers": rule(is_map(is_text), "an object of texts"),
    "submit": {"method": rules.one_of("POST", "PUT"), "path": LOCAL, "body": OBJECT, "seconds": SECONDS},
    "input_at": rule(lambda value: isinstance(value, str) and bool(BODY_PATH.fullmatch(value)), "a path into the body"),
    "options": OPTIONS,
    "neutral": NEUTRAL,
    "maps": MAPS,
    "fan_out": rules.BOOLEAN,
    "pictures": rules.one_of("data_url", "base64"),
    "id": PATHS,
    "poll_seconds": rules.POLL_SECONDS,
    "status": {
        "url": ADDRESS,
        "path": PATHS,
        "map": STATE_MAP,
        "error": PATHS,
        "progress": PATHS,
        "progress_max": rules.POSITIVE,
    },
    "result": {
        "url": ADDRESS,
        "outputs": PATHS,
        "b64": PATHS,
        "kind": rules.one_of("image", "video"),
        "duration": PATHS,
        "failed_codes": rule(is_texts, "a list of codes"),
    },
    "cancel": {
        "url": ADDRESS,
        "method": METHODS,
        "when": UNFINISHED,
    },
    "attach": {"status": LOCAL, "result": LOCAL, "cancel": LOCAL},
    "error": {
        "code": PATHS,
        "message": PATHS,
        "map": KIND_MAP,
        "texts": rule(
            lambda value: isinstance(value, list) and all(map(is_text_rule, value)),
            f"a list of {{contains, kind, status}}; {' and '.join(NEED_STATUS)} need the status",
        ),
        "gone": rule(is_texts, "a list of texts"),
        "shape": PATHS,
    },
    "hosts": HOSTS,
    "file_hosts": HOSTS,
    "probe": LOCAL,
}
NEEDED = ("modalities", "submit", "result", "probe")
PER_MODEL: Rules = {"input": OBJECT, "maps": MAPS, "options": OPTIONS}


def problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Complaints about keys and the types of their values."""
    yield from _section("options.template", document, FORM)
    for name in NEEDED:
        if name not in document:
            yield f"options.template.{name}: is needed"


def _section(place: str, values: Mapping[str, Any], form: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        path = f"{place}.{name}"
        if name not in form:
            yield f"{path}: unknown; known are {', '.join(sorted(form))}"
        elif not isinstance(form[name], Mapping):
            if wanted := form[name](value):
                yield f"{path}: must be {wanted}"
        elif isinstance(value, Mapping):
            yield from _section(path, value, form[name])
        else:
            yield f"{path}: must be an object"
