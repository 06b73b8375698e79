"""Calls to a described provider: its headers and error words, and addresses that it has told itself.

A told address may name any host. Those of the channel's own origin get the credentials; those at a host that the
template lists go through the outbound door without; no other is followed.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from adapters.base import Connection, ErrorKind, UpstreamError
from adapters.kit import error_kinds
from adapters.kit.compression import plain
from adapters.kit.http import MAX_JOB_BYTES, HttpCall, call_json, calling, refused, secret
from adapters.kit.outputs import is_own
from adapters.template import answers, errors
from adapters.template.bodies import id_path
from adapters.template.fill import PLACEHOLDER
from adapters.template.form import BadTemplate, Template, of_connection
from common.outbound import AddressRefused, Failed, Limits, open_url
from common.outgoing.lookup import provider


def template_of(connection: Connection) -> Template:
    """Raises UpstreamError (TRANSIENT) for options that hold none any more: nothing was sent."""
    try:
        return of_connection(connection)
    except BadTemplate as bad:
        raise UpstreamError(ErrorKind.TRANSIENT, f"options.template: {bad}") from bad


def headers_of(template: Template, connection: Connection) -> dict[str, str]:
    """With the credentials in them. Raises UpstreamError (AUTH)."""
    return {
        name: PLACEHOLDER.sub(lambda match: secret(connection, match[1]), text)
        for name, text in template.headers.items()
    }


def call_of(template: Template, method: str, address: str, **more: Any) -> HttpCall:
    """A call to a path of the base URL, or to a URL of the same origin."""
    is_path = address.startswith("/")
    return HttpCall(
        method=method,
        path=address if is_path else "",
        url="" if is_path else address,
        codes=partial(errors.codes, template),
        authorize=partial(headers_of, template),
        spoken=partial(errors.spoken, template, paid=more.get("paid", False)),
        shape=partial(errors.is_own, template),
        **more,
    )


def address_of(template: Template, name: str, handle: Mapping[str, Any]) -> str:
    """Where a job's status, result or cancellation is: a path, or the URL that was told; empty for none."""
    if told := handle.get(name):
        return str(told)
    url = template.part(name).get("url", "")
    return id_path(url, handle["id"]) if url.startswith("/") else ""


def ask(template: Template, address: str, connection: Connection) -> dict[str, Any]:
    """The JSON object at an address of a job. Raises UpstreamError, TRANSIENT for an address that is not followed."""
    if address.startswith("/") or is_own(address, connection):
        return call_json(call_of(template, "GET", address, max_bytes=MAX_JOB_BYTES), connection)
    if not answers.is_at(address, template.document.get("hosts", [])):
        raise UpstreamError(ErrorKind.TRANSIENT, f"hosts does not list the host of {address[:200] or 'no address'}")
    return _asked_elsewhere(template, address, connection)


def tell(template: Template, method: str, address: str, connection: Connection) -> None:
    """A call whose answer has no content that matters. Raises UpstreamError."""
    if not address.startswith("/") and not is_own(address, connection):
        raise UpstreamError(ErrorKind.TRANSIENT, "the address is not of the channel's own origin")
    with calling(call_of(template, method, address), connection):
        pass


def _asked_elsewhere(template: Template, address: str, connection: Connection) -> dict[str, Any]:
    limits = Limits(max_bytes=MAX_JOB_BYTES, total_seconds=connection.total_timeout)
    try:
        chosen_by = provider(connection.base_url)
        with open_url(address, policy=connection.url_policy, limits=limits, chosen_by=chosen_by) as reply:
            document = error_kinds.parsed(b"".join(plain(reply, MAX_JOB_BYTES).chunks))
    except (AddressRefused, Failed) as error:
        raise UpstreamError(ErrorKind.TRANSIENT, str(error)) from error
    if 200 <= reply.status < 300 and isinstance(document, dict):
        return document
    said = errors.spoken(template, document, reply.status)
    refusal = refused(reply, said, partial(errors.codes, template), connection)
    # It was asked without a credential: what it says of one is not about the channel's.
    is_accusing = refusal.kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.FORBIDDEN)
    raise refusal.as_kind(ErrorKind.TRANSIENT) if is_accusing else refusal
