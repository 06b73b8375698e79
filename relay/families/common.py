"""What all families share: bodies of JSON, headers, errors in and out, and the model's name put in and back."""

import json
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from adapters.base import UpstreamError
from common.errors import ApiError
from common.http import dialects
from common.token_usage import TokenUsage
from relay.families import counts, endpoints, fields, refusals
from relay.families.base import TOOL_CALLS, AskedCall, CallPath, Delivered, Endpoint
from relay.wire import splicing, sse


class CommonFamily:
    """The common half of a Family; a class attribute says what differs."""

    platform: ClassVar[str]
    """Whose dialect it is: how it takes its credential."""
    error_path: ClassVar[str]
    """A path of the dialect: its errors look like this one's."""
    error_event: ClassVar[str] = ""
    words: ClassVar[refusals.ErrorWords]
    passed_on: ClassVar[tuple[str, ...]] = ()
    """The client's own headers that go upstream, beside those of the body."""
    name_path: ClassVar[tuple[str, ...]] = ("model",)
    """Where a whole answer names the model."""
    member: ClassVar[str]
    """The field in which every whole answer has its list."""
    counted: ClassVar[str] = ""
    """Where the dialect counts tokens for nothing: the field of the answer that tells them."""
    texts: ClassVar[frozenset[str]]
    """The fields of an answer that hold what the model has written."""
    objects: ClassVar[frozenset[str]] = frozenset()
    """Those that hold an object that it has written: what it asks of a tool."""

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
        named = raw if upstream_model == asked.model else splicing.renamed(raw, ("model",), upstream_model)
        limited = named if asked.sent_limit is None else self.with_limit(named, asked.sent_limit)
        return splicing.with_values(limited, asked.sent_tool_limits, b"%d" % TOOL_CALLS)

    def with_limit(self, raw: bytes, limit: int) -> bytes:
        """The body with the dialect's own limit of output; a dialect without one leaves it as it is."""
        return raw

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        return answer if upstream_model == asked.model else splicing.renamed(answer, self.name_path, asked.model)

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        raise NotImplementedError

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        return Delivered(output_bytes=written_bytes(document, self.texts, self.objects))

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        if asked.is_free:
            return counts.count(document, self.counted) is not None
        items = fields.mappings(fields.mapping(document).get(self.member))
        return any(map(self.is_told, items)) or self.usage(document, asked) is not None

    def is_told(self, item: Mapping[str, Any]) -> bool:
        """Whether there is something in an item of the answer's list."""
        return bool(item)

    def has_failed(self, document: Any) -> bool:
        return False

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return refusals.of_answer(self.words, status, headers, body)

    def error_frame(self, error: ApiError) -> bytes:
        return sse.frame(json.dumps(self.error_document(error)), event=self.error_event)

    def error_document(self, error: ApiError) -> dict[str, Any]:
        return dict(dialects.of(self.error_path).body(error))


def written_bytes(
    value: Any, texts: Collection[str] = (), objects: Collection[str] = (), *, is_written: bool = False
) -> int:
    """The bytes of all texts under these names, and of all that is in the objects under those, however deep it lies; of
    everything where it `is_written` by the model."""
    total = 0
    waiting = [(value, is_written)]
    while waiting:
        value, is_written = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, is_written) for item in value]
        elif isinstance(value, dict):
            for name, item in value.items():
                total += len(name) if is_written else 0
                is_text = name in texts and isinstance(item, str)
                waiting.append((item, is_written or is_text or name in objects))
        elif is_written and value is not None:
            total += len(str(value).encode(errors="replace"))
    return total
