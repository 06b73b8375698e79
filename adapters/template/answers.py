"""What the answers of a described provider tell: handles, states, progress and results, by the template's paths."""

from typing import Any
from urllib.parse import urlsplit

from adapters.base import Connection, Output, text
from adapters.kit.jobs import is_id, seconds_of
from adapters.kit.outputs import address_of, is_own, is_url
from adapters.kit.written_files import is_data_url
from adapters.template.form import Template
from adapters.template.paths import alternatives, first, found, values

TOLD = ("status", "result", "cancel")
NEEDED = ("status", "result")
LONGEST_URL = 4000  # with the id of a job in it, every character of which may be percent-encoded


def handle_of(template: Template, document: Any) -> dict[str, str]:
    """The handle of an accepted job: its id, and the addresses that are told and not built."""
    handle = {"id": text(first(document, template.document["id"]))}
    for name in TOLD:
        url = template.part(name).get("url", "/")
        told = "" if url.startswith("/") else address_of(first(document, url))
        if told and len(told) <= LONGEST_URL:
            handle[name] = told
    return handle


def has_handle(template: Template, document: Any) -> bool:
    """Whether an answer tells all that is needed to ask for the job later."""
    handle = handle_of(template, document)
    needed = [name for name in NEEDED if not template.part(name).get("url", "/").startswith("/")]
    return is_id(handle["id"]) and all(name in handle for name in needed)


def word_of(template: Template, document: Any) -> str:
    """The provider's word for the state of a job; empty without one."""
    return text(first(document, template.part("status")["path"]))


def state_of(template: Template, document: Any) -> str:
    """What the provider's word means; unknown ones are of jobs that still run."""
    status = template.part("status")
    state: str = status["map"].get(word_of(template, document), "running")
    has_error = state == "succeeded" and bool(first(document, status.get("error", ())))
    return "failed" if has_error else state


def progress_of(template: Template, document: Any) -> int | None:
    """0 to 100."""
    status = template.part("status")
    value = first(document, status.get("progress", ()))
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e9:
        return None
    return min(100, int(value * 100 / status.get("progress_max", 100)))


def duration_of(template: Template, document: Any) -> float | None:
    """Seconds, of the first sane length that is told."""
    lengths = map(seconds_of, values(document, template.part("result").get("duration", ())))
    return next(filter(None, lengths), None)


def outputs_of(template: Template, document: Any) -> tuple[Output, ...]:
    """The URLs of the first path that has any."""
    for path in alternatives(template.part("result").get("outputs", ())):
        if urls := [url for url in found(document, path) if is_url(url)]:
            return tuple(Output(index=index, kind=template.kind, url=url) for index, url in enumerate(urls))
    return ()


def items_of(template: Template, document: Any) -> list[tuple[object, object]] | None:
    """The outputs of an answer at once, as base64 or URL; None for what is no success."""
    encoded = values(document, template.part("result").get("b64", ()))
    items: list[tuple[object, object]] = [(item, None) for item in encoded]
    items += [(None, output.url) for output in outputs_of(template, document)]
    return items if items or _is_empty_success(template, document) else None


def _is_empty_success(template: Template, document: Any) -> bool:
    """Whether there is the list, or the object, in which outputs would stand."""
    listed = (template.part("result").get(name, ()) for name in ("b64", "outputs"))
    paths = [path for paths in listed for path in alternatives(paths)]
    return any(found(document, path.partition("[")[0]) for path in paths if "[" in path)


def is_at(address: str, hosts: list[str]) -> bool:
    """Whether the URL is HTTPS at one of the hosts; `*.host` are all below it."""
    try:
        parts = urlsplit(address)
        host = f"{(parts.hostname or '')}:{parts.port}" if parts.port else parts.hostname or ""
    except ValueError:
        return False
    is_listed = any(host == item or (item.startswith("*.") and host.endswith(item[1:])) for item in hosts)
    return parts.scheme == "https" and is_listed and not parts.username


def may_fetch(template: Template, output: Output, connection: Connection) -> bool:
    """Whether a result may be fetched: anywhere public, unless the template lists hosts for files. What is in the
    answer itself is fetched from nowhere."""
    hosts = template.document.get("file_hosts")
    if hosts is None or output.url is None or is_data_url(output.url) or is_own(output.url, connection):
        return True
    return is_at(address_of(output.url), hosts)
