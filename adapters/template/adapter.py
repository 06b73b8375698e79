"""A provider that the operator describes, without code: a template says how to ask and how to read the answers.

The channel's options are `{"template": NAME}` for one that is shipped, or `{"template": {…}}`; docs/templates.md is the
reference. Facts of the shipped ones: fal's documentation and fal-client 1.0.3, Replicate's and replicate 1.0.7.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    OperatorField,
    Output,
    Pending,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, declared, outputs, pictures, prompt_commands
from adapters.kit import rules as kit_rules
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import call_json, calling
from adapters.kit.inline import InlineJson
from adapters.kit.jobs import asking, failure
from adapters.kit.references import fetched
from adapters.kit.shapes import Asynchronous, probing
from adapters.template import answers, bodies, errors, request, rules, schema
from adapters.template.calls import address_of, ask, call_of, headers_of, tell, template_of
from adapters.template.fields import fields_of
from adapters.template.form import BadTemplate, Template, of_target, shipped
from common.bounded_cache import by_identity

JSON = "application/json"


class HttpTemplate(Asynchronous):
    """Adapter of `http_template`. A handle is `{"id": …}` and the addresses that the provider has told, by name."""

    protocol = "http_template"
    modalities = frozenset({"image", "video"})
    expresses = {**checks.fields("image"), **checks.fields("video")}
    summary = "Any provider that a template describes; fal and Replicate are shipped"
    variants = tuple({"template": name} for name in shipped())
    credential_sets = ()  # the template's placeholders tell
    problems = staticmethod(request.problems)
    build = staticmethod(bodies.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        template = _described(target)
        return fields_of(template) if template else ()

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        """Of films: Seedance is behind many of these."""
        template = _described(target)
        return prompt_commands.seedance(prompt) if template and "video" in template.modalities else None

    def option_fields(self) -> tuple[OperatorField, ...]:
        named = OperatorField(name="template", kind="either", choices=tuple(shipped()), help=declared.HELP["template"])
        return named, *declared.fields({"poll_seconds": kit_rules.POLL_SECONDS})

    def capability_fields(self) -> tuple[OperatorField, ...]:
        known = {name: rule for of_modality in rules.CAPABILITIES.values() for name, rule in of_modality.items()}
        return declared.fields({**known, **schema.PER_MODEL})

    def validate(self, target: Target) -> list[str]:
        return list(rules.complaints(target))

    def submit_seconds(self, target: Target) -> float | None:
        template = of_target(target)
        seconds: float | None = template.part("submit").get("seconds")
        return seconds or (super().submit_seconds(target) if template.is_job else None)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        template = template_of(connection)
        method = template.part("submit").get("method", "POST")
        with _body(template, upstream, connection) as body:
            more = {"paid": True, "headers": {"Content-Type": JSON}, "body": body}
            if not template.is_job:
                more["max_bytes"] = pictures.MAX_ANSWER_BYTES
                items_of = partial(answers.items_of, template)
                done = pictures.bought(call_of(template, method, upstream.path, **more), connection, items_of)
                return Done(outputs=tuple(replace(output, kind=template.kind) for output in done.outputs))
            is_usable = partial(answers.has_handle, template)
            document = call_json(call_of(template, method, upstream.path, **more), connection, is_usable)
        return Accepted(handle=answers.handle_of(template, document), poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        template = template_of(connection)
        document = _status(template, handle, connection)
        state = answers.state_of(template, document)
        if state == "succeeded":
            return _done(template, handle, document, connection)
        if state in ("failed", "canceled"):
            return _redacted(errors.ended(template, document, state), connection)
        progress = answers.progress_of(template, document)
        return Pending(poll_after=self.poll_after(connection), progress=progress)

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        return bodies.attached(dict(super().attach(upstream_id, target)), target)

    def poll_after(self, connection: Connection) -> float:
        template = template_of(connection)
        pace = template.document.get("poll_seconds", self.poll_seconds)
        return float(connection.options.get("poll_seconds", pace))

    def probe(self, connection: Connection) -> None:
        template = template_of(connection)
        with probing(), calling(call_of(template, "GET", template.document["probe"]), connection):
            pass

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Only in a state in which the template says that a cancellation holds."""
        try:
            template = template_of(connection)
            cancel = template.part("cancel")
            when = cancel.get("when", ("queued", "running"))
            address = address_of(template, "cancel", handle)
            if not address or answers.state_of(template, _status(template, handle, connection)) not in when:
                return False
            tell(template, cancel.get("method", "POST"), address, connection)
        except UpstreamError:
            return False
        return True

    def open_output(self, output: Output, connection: Connection) -> AbstractContextManager[Iterator[bytes]]:
        template = template_of(connection)
        if not answers.may_fetch(template, output, connection):
            raise UpstreamError(ErrorKind.EMPTY_RESULT, "file_hosts does not list the host of the result")
        return outputs.open_output(output, connection, partial(headers_of, template))


@by_identity
def _described(target: Target) -> Template | None:
    """None where there is no usable template: `validate` and `check` say so."""
    try:
        template = of_target(target)
        return None if list(schema.problems(template.document)) else template
    except (BadTemplate, LookupError, TypeError, AttributeError):
        return None


@contextmanager
def _body(template: Template, upstream: UpstreamRequest, connection: Connection) -> Iterator[bytes | Iterable[bytes]]:
    if not upstream.files:
        yield json.dumps(upstream.body).encode()
        return
    with fetched([part.image for part in upstream.files], connection) as files:
        yield InlineJson(upstream.body, files, template.document.get("pictures", "data_url"))


def _status(template: Template, handle: Mapping[str, Any], connection: Connection) -> dict[str, Any]:
    """What the provider shows of a job. Raises UpstreamError: EMPTY_RESULT if it says that there is none, else a poll
    fault."""
    with asking(partial(errors.is_gone, template)):
        document = ask(template, address_of(template, "status", handle), connection)
    if not answers.word_of(template, document):
        raise UpstreamError(ErrorKind.TRANSIENT, "the answer does not tell the state of the job")
    return document


def _done(
    template: Template, handle: Mapping[str, Any], document: dict[str, Any], connection: Connection
) -> Done | UpstreamError:
    if "url" in template.part("result"):
        try:
            document = ask(template, address_of(template, "result", handle), connection)
        except UpstreamError as error:
            raise errors.of_result(template, error) from error
    found = answers.outputs_of(template, document)
    if not found:
        return _redacted(errors.empty(template, document), connection)
    return Done(outputs=found, duration=answers.duration_of(template, document))


def _redacted(error: UpstreamError, connection: Connection) -> UpstreamError:
    return failure(error.kind, SpokenError(code=error.code, message=error.message), connection, "the job failed")
