"""`chat`: POST /v1/chat/completions, OpenAI's oldest dialect, which most others speak too.

A stream tells its usage only where it is asked to, in a chunk of its own; the relay always asks. It ends with
`data: [DONE]`. An upstream that leaves that out has ended well if every choice has its `finish_reason` and the usage
has come, for then nothing is missing; without either it was cut. Facts: openai 3.54 (`types/chat`).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from common.token_usage import TokenUsage
from relay.families import bounds, counts, endpoints, fields, refusals, refused_fields
from relay.families.base import AskedCall, CallPath, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.watching import FrameReader, texts
from relay.wire import splicing

DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
TOLD = re.compile(rb'"usage"\s*:\s*\{')
FINISHED = re.compile(rb'"finish_reason"\s*:\s*"')
NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')
TEXTS = ("content", "refusal", "reasoning_content", "reasoning", "arguments", "text")
IN_FRAMES = texts(*TEXTS)
ASKED = b'"include_usage":true'
OWN_TOOLS = ("function", "custom")
MOST_CHOICES = 128
# Searches, plug-ins, and other models than the one that is priced, as OpenAI-compatible providers offer them.
PRICED_APART = ("web_search_options", "search_parameters", "plugins", "models", "provider")


class ChatFamily(CommonFamily):
    """OpenAI's chat completions (base.Family)."""

    name: ClassVar[str] = "chat"
    platform = "openai"
    error_path = "/v1/chat/completions"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    file_roots = ("messages",)
    texts = frozenset(TEXTS)

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        fields.query(path.query, self.query)
        is_stream = fields.flag(document, "stream")
        options = fields.optional_object(document, "stream_options")
        limits = [fields.count(document, name) for name in ("max_completion_tokens", "max_tokens")]
        bound = self.input_bound(document, raw)
        return AskedCall(
            model=fields.model(document),
            is_stream=is_stream,
            input_bound=bound,
            input_estimate=bounds.likely(bound),
            output_limit=max((limit for limit in limits if limit is not None), default=None),
            choices=fields.count(document, "n", most=MOST_CHOICES) or 1,
            shows_usage=not is_stream or fields.flag(options, "include_usage", "stream_options"),
        )

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        modalities = document.get("modalities")
        is_spoken = isinstance(modalities, list) and "audio" in modalities
        return [
            *refused_fields.given(document, PRICED_APART, refused_fields.COSTS),
            *refused_fields.given(document if is_spoken else {}, ("modalities",), refused_fields.COSTS),
            *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
            *refused_fields.tools(document.get("tools"), OWN_TOOLS.__contains__),
            *refused_fields.everywhere(document, "messages", ("file_id",)),
        ]

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        named = super().body(document, raw, asked, upstream_model)
        return _with_usage(named, document) if asked.is_stream and not asked.shows_usage else named

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        return endpoints.openai_url(endpoint, "/chat/completions")

    def usage(self, document: Any) -> TokenUsage | None:
        return counts.believed(_usage, fields.mapping(document).get("usage"))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ChatReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class ChatReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ()

    def _watch(self, frame: bytes) -> bool:
        if b"[DONE]" in frame and DONE.search(frame):
            self.is_over = self.can_end = True
            return True
        is_told = TOLD.search(frame) is not None
        if is_told:
            told = counts.believed(_usage, self._parsed(frame).get("usage"))
            self.usage = told or self.usage
        self._finished += len(FINISHED.findall(frame))
        self.can_end = self._finished >= self._asked.choices and self.usage is not None
        return self._asked.shows_usage or not (is_told and NO_CHOICES.search(frame))


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    return counts.openai_usage(told, "prompt", "completion")


def _with_usage(raw: bytes, document: Mapping[str, Any]) -> bytes:
    """The body that asks for the usage at the stream's end, and else for the same."""
    options = fields.mapping(document.get("stream_options"))
    if not isinstance(document.get("stream_options"), dict):
        found = splicing.span(raw, "stream_options")
        asking = b"{" + ASKED + b"}"
        member = b'"stream_options":' + asking
        return splicing.added(raw, (0, len(raw)), member) if found is None else splicing.replaced(raw, found, asking)
    found = splicing.span(raw, "stream_options", "include_usage")
    if found is not None and "include_usage" in options:
        return splicing.replaced(raw, found, b"true")
    whole = splicing.span(raw, "stream_options")
    return raw if whole is None else splicing.added(raw, whole, ASKED)
