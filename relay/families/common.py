"""What all families share: bodies of JSON, headers, errors in and out, and the model's name put in and back."""

import json
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from adapters.base import UpstreamError
from common.errors import ApiError
from common.http import dialects
from relay.families import bounds, endpoints, fields, refusals
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint
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
    query: ClassVar[tuple[str, ...]] = ()
    """The query parameters that the dialect has."""
    file_roots: ClassVar[tuple[str, ...]]
    """The fields of a body in which files may stand."""
    name_path: ClassVar[tuple[str, ...]] = ("model",)
    """Where a whole answer names the model."""
    texts: ClassVar[frozenset[str]]
    """The fields of an answer that hold what the model has written."""
    objects: ClassVar[frozenset[str]] = frozenset()
    """Those that hold an object that it has written: what it asks of a tool."""

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        return fields.json_object(raw, path.content_type)

    def input_bound(self, document: Mapping[str, Any], raw: bytes) -> int:
        return bounds.input_tokens(document, raw, self.file_roots)

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
        return raw if upstream_model == asked.model else splicing.renamed(raw, ("model",), upstream_model)

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        return answer if upstream_model == asked.model else splicing.renamed(answer, self.name_path, asked.model)

    def delivered(self, document: Any) -> Delivered:
        return Delivered(output_bytes=written_bytes(document, self.texts, self.objects))

    def is_answer(self, document: Any) -> bool:
        return isinstance(document, dict)

    def frames(self, document: Any, raw: bytes, asked: AskedCall) -> list[bytes]:
        return [sse.frame(raw.decode())]

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        return refusals.of_answer(self.words, status, headers, body)

    def error_frame(self, error: ApiError) -> bytes:
        return sse.frame(json.dumps(self.error_document(error)), event=self.error_event)

    def error_document(self, error: ApiError) -> dict[str, Any]:
        return dict(dialects.of(self.error_path).body(error))


def written_bytes(value: Any, texts: Collection[str] = (), objects: Collection[str] = ()) -> int:
    """The bytes of all texts under these names, and of all that is in the objects under those, however deep it lies."""
    total = 0
    waiting = [(value, False)]
    while waiting:
        value, is_written = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, is_written) for item in value]
        elif isinstance(value, dict):
            for name, item in value.items():
                total += len(name) if is_written else 0
                is_text = name in texts and isinstance(item, str)
                waiting.append((item, is_written or is_text or name in objects))
        elif is_written:
            total += len(str(value).encode(errors="replace"))
    return total
