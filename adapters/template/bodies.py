"""What is sent to a described provider: the upstream request that its template makes, and addresses. Pure."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import Billed, Target, TaskRequest, UpstreamRequest
from adapters.kit import inline
from adapters.kit.sizes import SizeTable
from adapters.template.fill import filled, tier_of_request, used, values_of
from adapters.template.form import Template, of_target


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """The filled body with the options at their places. Without `{n}` it is sent once for each picture."""
    template = of_target(target)
    submit = template.part("submit")
    body = filled(submit.get("body") or {}, mapped(request, target, template))
    for name, value in options_of(request).items():
        put(body, template.options[name], value)
    is_image = request.modality == "image"
    table, tiers = size_table(target.capabilities), target.capabilities.get("tiers")
    tier = tier_of_request(request, table, tiers)
    names = used(submit.get("body"))
    return UpstreamRequest(
        path=path_for(submit["path"], target),
        body=body,
        billed=Billed(count=request.n if is_image else 1, tier=tier),
        files=inline.files_of(request.images),
        calls=request.n if is_image and "n" not in names else 1,
    )


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


def options_of(request: TaskRequest) -> Mapping[str, Any]:
    return request.extra_body if request.modality == "image" else request.provider_options


def put(body: dict[str, Any], path: str, value: Any) -> None:
    """Set what is at a path of names; objects on the way are made."""
    *way, last = path.split(".")
    for name in way:
        body = body.setdefault(name, {})
    body[last] = value
