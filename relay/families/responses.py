"""`responses`: POST /v1/responses, OpenAI's newer dialect.

Each event has its type in its data, so the `event:` line may be missing. A stream ends with `response.completed`,
`response.incomplete` or `response.failed`, which tells the usage. SDKs hand a failed response to their caller as they
do the others: it passes, but for one that is the first event, for then nothing has begun. An event of the type `error`
is not raised by them either; so the frame that ends a cut stream has the `error` on which they do raise. Facts: openai
3.54 (`types/responses`, `_streaming.py`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from common.errors import ApiError
from common.token_usage import TokenUsage
from relay.families import bounds, counts, endpoints, fields, refusals, refused_fields
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.refused_fields import FOREIGN
from relay.families.watching import FrameReader, texts

LAST_TYPES = ("response.completed", "response.incomplete", "response.failed")
LAST = re.compile(rb'"type"\s*:\s*"response\.(?:completed|incomplete|failed)"')
IN_FRAMES = texts("delta")  # what is done is said a second time
OWN_TOOLS = ("function", "custom")
LISTED_ONLY = "mcp_list_tools"


class ResponsesFamily(CommonFamily):
    """OpenAI's responses (base.Family)."""

    name: ClassVar[str] = "responses"
    platform = "openai"
    error_path = "/v1/responses"
    error_event = "error"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    file_roots = ("input",)
    texts = frozenset({"text", "refusal", "arguments", "input"})

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        fields.query(path.query, self.query)
        bound = self.input_bound(document, raw)
        return AskedCall(
            model=fields.model(document),
            is_stream=fields.flag(document, "stream"),
            input_bound=bound,
            input_estimate=bounds.likely(bound),
            output_limit=fields.count(document, "max_output_tokens"),
        )

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return [
            *refused_fields.given(document, ("background",), "would go on after this call"),
            *refused_fields.given(document, ("previous_response_id", "conversation"), FOREIGN),
            *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
            *refused_fields.tools(document.get("tools"), OWN_TOOLS.__contains__),
            *_objects(document),
            *_items(document.get("input")),
            *refused_fields.everywhere(document, "input", ("file_id",)),
        ]

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, "/responses")

    def usage(self, document: Any) -> TokenUsage | None:
        return counts.believed(_usage, fields.mapping(document).get("usage"))

    def delivered(self, document: Any) -> Delivered:
        return super().delivered(fields.mapping(document).get("output"))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        path = ("response", "model")
        return ResponsesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=path)

    def error_document(self, error: ApiError) -> dict[str, Any]:
        """Flat as the dialect's own error events are, too: whoever knows those reads it."""
        said = super().error_document(error)
        flat = {name: fields.mapping(said.get("error")).get(name) for name in ("code", "message", "param")}
        return {"type": "error", **flat, **said}


class ResponsesReader(FrameReader):
    """The events of one response."""

    __slots__ = ()

    def _watch(self, frame: bytes) -> bool:
        if b'"response.' in frame and LAST.search(frame):
            event = self._parsed(frame)
            if event.get("type") in LAST_TYPES:
                told = counts.believed(_usage, fields.mapping(event.get("response")).get("usage"))
                self.usage = told or self.usage
                self.is_over = self.can_end = True
        return True

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if document.get("type") == "response.failed" and not self._is_begun:
            return {"error": fields.mapping(document.get("response")).get("error") or {}}
        return super()._error_in(document)


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    return counts.openai_usage(told, "input", "output")


def _objects(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    for name, key in (("prompt", "id"), ("prompt_cache_options", "comparison_response_id")):
        if fields.mapping(document.get(name)).get(key) is not None:
            yield RefusedField(name=name, path=f"{name}.{key}", reason=FOREIGN)


def _items(listed: Any) -> Iterator[RefusedField]:
    """Items that stand for stored ones, and tools that come as items."""
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        kind = item.get("type") if isinstance(item, dict) else ""
        if kind == "item_reference" or (kind is None and "role" not in item and "id" in item):
            yield RefusedField(name="item_reference", path=f"input[{index}]", reason=FOREIGN)
        elif isinstance(item, dict) and kind != LISTED_ONLY:
            yield from refused_fields.tools(item.get("tools"), OWN_TOOLS.__contains__, f"input[{index}].tools")
