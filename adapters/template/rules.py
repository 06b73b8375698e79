"""What is wrong with a template, in words that begin with the path of the key. Docs: docs/templates.md."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Target
from adapters.kit import rules
from adapters.kit.rules import Rules
from adapters.template import fill, schema
from adapters.template.extra_body import letters
from adapters.template.fields import NEVER_NEUTRAL, neutrals
from adapters.template.form import BadTemplate, Template, for_model, resolved
from adapters.template.paths import found

CAPABILITIES = {"image": rules.IMAGE_CAPABILITIES, "video": rules.VIDEO_CAPABILITIES}
ANY = rules.rule(lambda value: True, "a template")
PATH_NAMES = {"submit": ("model", "app"), "handle": ("id",), "attach": ("id", "model", "app")}
CREDENTIAL_NAME = re.compile(r"auth|cookie|key|token|secret|passw|credential|signature", re.IGNORECASE)
CREDENTIAL_FIELD = re.compile(r"(api_?key|access_?key|secret|token|password|authorization)\Z", re.IGNORECASE)
CREDENTIAL_TEXT = re.compile(r"([A-Za-z]{1,20} )?\{[a-z_]+\}")
# Long runs of letters and digits together look like a secret in any header.
SECRET_LIKE = re.compile(r"(?=[\w+/=-]*[0-9])(?=[\w+/=-]*[A-Za-z])[\w+/=-]{24,}")
LISTS = {"image", "images", *fill.ALL_OF_ROLE}
LITERALS = ("submit", "probe", "attach")
OURS = ("model", "prompt", "n", "stream", "webhook", "webhook_url", "callback_url")


def complaints(target: Target) -> Iterator[str]:
    """All that is wrong with a target whose options name or hold a template."""
    try:
        document = resolved(target.options.get("template"))
    except BadTemplate as bad:
        yield f"options.template: {bad}"
        return
    shape = list(schema.problems(document))
    yield from shape
    known = dict(schema.PER_MODEL)
    for modality in CAPABILITIES if shape else document["modalities"]:
        known |= CAPABILITIES[modality]
    options: Rules = {"template": ANY, "poll_seconds": rules.POLL_SECONDS}
    ordinary = rules.complaints(target, capabilities=known, options=options)
    yield from ordinary
    if not shape and not ordinary:
        yield from _meaning(document, target.capabilities)


def _meaning(document: Mapping[str, Any], capabilities: Mapping[str, Any]) -> Iterator[str]:
    """What can only be said of the whole."""
    input_at = document.get("input_at")
    if input_at and not any(isinstance(place, dict) for place in found(document["submit"].get("body", {}), input_at)):
        yield "options.template.input_at: must be the path of an object in submit.body"
        return
    template = Template(for_model(dict(document), capabilities))
    yield from _together(template)
    yield from _placeholders(template, capabilities)
    yield from _paths(template)
    yield from _option_places(template)
    yield from _neutrals(template)
    yield from _secrets(template)


def _together(template: Template) -> Iterator[str]:
    """Keys that need or exclude each other."""
    place = "options.template"
    document, result, status = template.document, template.part("result"), template.part("status")
    if "path" not in template.part("submit"):
        yield f"{place}.submit.path: is needed"
    if "outputs" not in result and "b64" not in result:
        yield f"{place}.result.outputs: is needed"
    if len(template.modalities) > 1 and "kind" not in result:
        yield f"{place}.result.kind: is needed where there are two modalities"
    if template.is_job:
        missing = [name for name in ("url", "path", "map") if name not in status]
        yield from (f"{place}.status.{name}: is needed with id" for name in missing)
        if "b64" in result:
            yield f"{place}.result.b64: is only for answers at once, without id"
    else:
        of_jobs = [name for name in ("status", "cancel", "attach", "poll_seconds") if name in document]
        for name in [*of_jobs, *(["result.url"] if "url" in result else [])]:
            yield f"{place}.{name}: needs id, the path of the job's id in the answer"
    if "cancel" in document and "url" not in template.part("cancel"):
        yield f"{place}.cancel.url: is needed"
    if template.part("error").get("gone") and not {"code", "message"} & set(template.part("error")):
        yield f"{place}.error.gone: needs error.code or error.message"


def _placeholders(template: Template, capabilities: Mapping[str, Any]) -> Iterator[str]:
    place = "options.template.submit.body"
    known = {name for modality in template.modalities for name in fill.NAMES[modality]}
    body = template.part("submit").get("body")
    for path, text in fill.texts(body):
        for name in sorted(set(fill.PLACEHOLDER.findall(text)) - known):
            yield f"{place}.{path}: unknown {{{name}}}; known are {', '.join(sorted(known))}"
        if fill.PLACEHOLDER.search(text) and not fill.PLACEHOLDER.fullmatch(text):
            lists = sorted(LISTS.intersection(fill.PLACEHOLDER.findall(text)))
            yield from (f"{place}.{path}: {{{name}}} must stand alone" for name in lists)
    if fill.used(body) & set(fill.SIZES) and not capabilities.get("size_table"):
        yield "capabilities.size_table: is needed, as the body has {size}, {width} or {height}"
    for name in template.part("maps"):
        if name not in known:
            yield f"options.template.maps.{name}: is no placeholder; known are {', '.join(sorted(known))}"


def _paths(template: Template) -> Iterator[str]:
    """Placeholders of addresses: what is known when each is made."""
    for name in ("status", "result", "cancel"):
        url = template.part(name).get("url", "")
        if url.startswith("/") and "{id}" not in url:
            yield f"options.template.{name}.url: must have {{id}}"
    places: list[tuple[str, object, str]] = [("submit.path", template.part("submit").get("path"), "submit")]
    places += [(f"{name}.url", template.part(name).get("url"), "handle") for name in ("status", "result", "cancel")]
    places += [(f"attach.{name}", value, "attach") for name, value in template.part("attach").items()]
    places += [("probe", template.document.get("probe"), "none")]
    for name, value, stage in places:
        allowed = PATH_NAMES.get(stage, ())
        for unknown in sorted(fill.used(value) - set(allowed)):
            known = ", ".join(allowed) or "none"
            yield f"options.template.{name}: unknown {{{unknown}}}; known are {known}"


def _option_places(template: Template) -> Iterator[str]:
    """An option that fills what a field fills would change what is bought behind the price."""
    filled = dict.fromkeys(_leaves(template.part("submit").get("body") or {}), "the body")
    for name, path in template.options.items():
        if name in OURS:
            yield f"options.template.options.{name}: is the service's to set"
        elif by := next((by for other, by in filled.items() if _overlap(path, other)), None):
            yield f"options.template.options.{name}: {path} is filled by {by}"
        filled.setdefault(path, f"the option {name}")


def _neutrals(template: Template) -> Iterator[str]:
    """What nobody could bill is not harmless, whatever the template says."""
    for name in neutrals(template):
        path = template.options.get(name, name)
        if {letters(name), letters(path.rpartition(".")[2])} & NEVER_NEUTRAL:
            yield f"options.template.neutral.{name}: can change the cost"


def _leaves(body: Mapping[str, Any]) -> Iterator[str]:
    """The path of everything in a body that is no object."""
    for name, value in body.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{path}" for path in _leaves(value))
        else:
            yield str(name)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _secrets(template: Template) -> Iterator[str]:
    """Credentials belong into the channel's credentials, which are encrypted; a template is shown and dumped."""
    reason = "looks like a credential: keep it in the channel's credentials and write {api_key}"
    for name, text in template.headers.items():
        is_bad_header = CREDENTIAL_NAME.search(name) and not CREDENTIAL_TEXT.fullmatch(text)
        if is_bad_header or SECRET_LIKE.search(text):
            yield f"options.template.headers.{name}: {reason}"
    for path, text in fill.texts({name: template.document.get(name) for name in LITERALS}):
        query = text.partition("?")[2] if text.startswith("/") else ""
        named = [pair.partition("=")[0] for pair in query.split("&")]
        if any(map(CREDENTIAL_NAME.search, named)) or CREDENTIAL_FIELD.search(path):
            yield f"options.template.{path}: {reason}"
