"""Shared parts of all families: JSON bodies, headers, errors in both directions, and the exchange of the model's
name."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from adapters.base import UpstreamError
from common.errors import ApiError
from common.http import dialects
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, fields, refusals
from relay.families.base import TOOL_CALLS, AskedCall, CallPath, Endpoint
from relay.wire import splicing, sse


class CommonFamily:
    """Base of a Family; class attributes say where dialects differ."""

    platform: ClassVar[str]
    """Platform of the dialect, which decides how it takes its credential."""
    error_path: ClassVar[str]
    """A path of the dialect, which decides the shape of its errors."""
    error_event: ClassVar[str] = ""
    words: ClassVar[refusals.ErrorWords]
    passed_on: ClassVar[tuple[str, ...]] = ()
    """Client headers that go upstream, besides those of the body."""
    name_path: ClassVar[tuple[str, ...]] = ("model",)
    """Path of the model's name in a whole answer."""
    member: ClassVar[str]
    """Field with the list in every whole answer."""
    counted: ClassVar[str] = ""
    """Field with the count in answers of the dialect's free token counting."""

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        return fields.json_object(raw, path.content_type)

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        return endpoints.headers(endpoint, client, platform=self.platform, passed_on=self.passed_on)

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        named = raw if upstream_model == asked.model else self.renamed(document, raw, upstream_model)
        limited = named if asked.sent_limit is None else self.with_limit(document, named, asked.sent_limit)
        limited = splicing.with_values(limited, asked.sent_tool_limits, b"%d" % TOOL_CALLS)
        return self.with_stream_options(document, limited, asked, takes=takes_stream_options)

    def renamed(self, document: Mapping[str, Any], raw: bytes, upstream_model: str) -> bytes:
        """Returns the body with the upstream's name of the model."""
        return splicing.renamed(raw, ("model",), upstream_model)

    def with_limit(self, document: Mapping[str, Any], raw: bytes, limit: int) -> bytes:
        """Adds the dialect's output limit to the body; dialects without one leave it unchanged."""
        return raw

    def with_stream_options(self, document: Mapping[str, Any], raw: bytes, asked: AskedCall, *, takes: bool) -> bytes:
        """Returns the body with the relay's `stream_options`, or without any if the upstream takes none; dialects
        without them leave it unchanged."""
        return raw

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        return answer if upstream_model == asked.model else splicing.renamed(answer, self.name_path, asked.model)

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        raise NotImplementedError

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        if asked.is_free:
            return counts.count(document, self.counted) is not None
        items = fields.mappings(fields.mapping(document).get(self.member))
        return any(map(self.is_told, items)) or self.usage(document, asked) is not None

    def is_told(self, item: Mapping[str, Any]) -> bool:
        """Tells whether an item of the answer's list has content."""
        return bool(item)

    def has_failed(self, document: Any) -> bool:
        return False

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return refusals.read_error_answer(self.words, status, headers, body)

    def error_frame(self, error: ApiError) -> bytes:
        return sse.frame(json.dumps(self.error_document(error)), event=self.error_event)

    def error_document(self, error: ApiError) -> dict[str, Any]:
        return dict(dialects.of(self.error_path).body(error))
