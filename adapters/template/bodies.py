"""What is sent to a described provider: the upstream request that its template makes, and addresses. Pure."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import Billed, Target, TaskRequest, UpstreamRequest
from adapters.kit import inline
from adapters.kit.sizes import SizeTable
from adapters.template import extra_body, places
from adapters.template.fill import filled, tier_of_request, used, values_of
from adapters.template.form import Template, of_target


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """The filled body with the options at their places. Without `{n}` it is sent once for each picture."""
    template = of_target(target)
    derived = filled(template.part("submit").get("body") or {}, mapped(request, target, template))
    make = _pictures if request.modality == "image" else _film
    return make(request, target, template, derived)


def _pictures(request: TaskRequest, target: Target, template: Template, derived: dict[str, Any]) -> UpstreamRequest:
    body = extra_body.merged(derived, request, template)
    table, count = size_table(target.capabilities), extra_body.final_count(request, template)
    if extra_body.is_size_given(request, template):
        tier = extra_body.final_tier(body, template, table)
    else:
        tier = tier_of_request(request, table, target.capabilities.get("tiers"))
    files = inline.files_of(request.images)
    return UpstreamRequest(
        path=path_for(template.part("submit")["path"], target),
        body=body,
        billed=Billed(count=int(count.value), tier=tier, count_field=count.field),
        files=files if inline.has_marks(body) else (),
        calls=1 if "n" in used(template.part("submit").get("body")) else request.n,
    )


def _film(request: TaskRequest, target: Target, template: Template, body: dict[str, Any]) -> UpstreamRequest:
    for name, value in request.provider_options.items():
        places.put(body, template.options.get(name) or template.place_of(name), value)
    path = path_for(template.part("submit")["path"], target)
    return UpstreamRequest(path=path, body=body, billed=Billed(count=1, tier=request.resolution))


def path_for(path: str, target: Target, **more: str) -> str:
    """A path with the model's name in it; `{app}` are the first two parts of a model's name."""
    model = target.upstream_model
    known = {"model": model, "app": "/".join(model.split("/")[:2]), **more}
    quoted = {name: quote(value, safe="/:@" if name != "id" else "") for name, value in known.items()}
    return str(filled(path, quoted))


def id_path(path: str, job_id: str) -> str:
    """A path with a job's id in it."""
    return str(filled(path, {"id": quote(job_id, safe="")}))


def attached(handle: dict[str, str], target: Target) -> dict[str, str]:
    """The handle of a job that is known by its id, its addresses built. Raises ValueError where they cannot be."""
    template = of_target(target)
    if not template.is_job:
        raise ValueError("this provider answers at once: there is no job to attach")
    for name in ("status", "result", "cancel"):
        if template.part(name).get("url", "/").startswith("/"):
            continue
        if path := template.part("attach").get(name):
            handle[name] = path_for(path, target, id=handle["id"])
        elif name != "cancel":
            raise ValueError(f"the template does not say where the {name} of a job is: attach.{name}")
    return handle


def mapped(request: TaskRequest, target: Target, template: Template) -> dict[str, Any]:
    """What the request has for each placeholder, in the provider's words. Sound is asked for or declined in so many
    words, except of models that know none."""
    table = size_table(target.capabilities)
    known = values_of(request, target.upstream_model, table, target.capabilities.get("tiers"))
    audio = target.capabilities.get("audio", "switch")
    known["generate_audio"] = None if audio == "never" else audio == "always" or request.generate_audio is True
    for name, translation in template.part("maps").items():
        if known.get(name) is not None:
            known[name] = translation.get(word(known[name]), known[name])
    return known


def word(value: object) -> str:
    """A value as maps name it: true, false, a number in digits, a text as it is."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def size_table(capabilities: Mapping[str, Any]) -> SizeTable:
    table: SizeTable = capabilities.get("size_table") or {}
    return table
