"""The channels of groups of general keys: adapters that run no task. The relay speaks to them itself; what they know is
the free request by which a credential is probed.

A base URL is with the version for `openai_relay`, and the host alone for the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from adapters.base import Accepted, Connection, Done, ErrorKind, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.gemini import errors as gemini_errors
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import secret
from adapters.kit.shapes import Synchronous
from adapters.openai import errors as openai_errors

ANTHROPIC_VERSION = {"anthropic-version": "2023-06-01"}
ANTHROPIC_CODES = {
    "authentication_error": ErrorKind.AUTH,
    "permission_error": ErrorKind.FORBIDDEN,
    "billing_error": ErrorKind.QUOTA_EXHAUSTED,
    "not_found_error": ErrorKind.MODEL_UNAVAILABLE,
    "rate_limit_error": ErrorKind.RATE_LIMITED,
    "overloaded_error": ErrorKind.OVERLOADED,
}
NO_TASKS = "this adapter serves the companion endpoints of a group, and runs no tasks"


class Relay(Synchronous):
    """What the three have in common: they refuse whatever a task would ask of them."""

    modalities: ClassVar[frozenset[str]] = frozenset()

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return [Unsupported(field="modality", reason=NO_TASKS)]

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        raise NotImplementedError(NO_TASKS)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        raise NotImplementedError(NO_TASKS)

    def poll(self, handles: Sequence[Mapping[str, Any]], connection: Connection) -> NoReturn:
        raise NotImplementedError(NO_TASKS)

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        raise ValueError(NO_TASKS)


class OpenAIRelay(Relay):
    """Adapter of `openai_relay`."""

    protocol = "openai_relay"
    summary = "OpenAI's Chat Completions, Responses and Images, and whatever else speaks them"
    error_codes = openai_errors.CODES


class AnthropicRelay(Relay):
    """Adapter of `anthropic_relay`."""

    protocol = "anthropic_relay"
    summary = "Anthropic's Messages"
    error_codes = ANTHROPIC_CODES
    probe_path = "/v1/models?limit=1"

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {"x-api-key": secret(connection), **ANTHROPIC_VERSION}


class GeminiRelay(Relay):
    """Adapter of `gemini_relay`."""

    protocol = "gemini_relay"
    summary = "the Gemini API's generateContent"
    error_codes = gemini_errors.CODES
    probe_path = "/v1beta/models?pageSize=1"

    def codes(self, code: str) -> ErrorKind | None:
        return gemini_errors.kind_of(code)

    def spoken(self, document: Any, status: int) -> SpokenError:
        return gemini_errors.spoken(document)

    def shape(self, document: Any) -> bool:
        return gemini_errors.is_own(document)

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {"x-goog-api-key": secret(connection)}
