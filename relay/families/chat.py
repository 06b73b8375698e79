"""`chat`: POST /v1/chat/completions, OpenAI's oldest dialect, which most others speak too.

A stream tells its usage only where it is asked to, in a chunk of its own; the relay always asks. It ends with
`data: [DONE]`. An upstream that leaves that out has ended well if every choice has its `finish_reason` and the usage
has come, for then nothing is missing; without either it was cut. Facts: openai 3.54 (`types/chat`).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from common.token_usage import TokenUsage
from relay.families import counts, endpoints, fields, refusals
from relay.families.base import AskedCall, CallPath, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily
from relay.families.requests import chat as requests
from relay.families.watching import FrameReader, texts

DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
TOLD = re.compile(rb'"usage"\s*:\s*\{')
FINISHED = re.compile(rb'"finish_reason"\s*:\s*"')
NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')
TEXTS = ("content", "refusal", "reasoning_content", "reasoning", "arguments", "text")
IN_FRAMES = texts(*TEXTS)


class ChatFamily(CommonFamily):
    """OpenAI's chat completions (base.Family)."""

    name: ClassVar[str] = "chat"
    platform = "openai"
    error_path = "/v1/chat/completions"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    texts = frozenset(TEXTS)

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        return requests.read(document, raw, path)

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        return requests.refused(document)

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
        if not takes_stream_options:
            return requests.without_options(named)
        return requests.with_usage(named, document) if asked.is_stream and not asked.shows_usage else named

    def with_limit(self, raw: bytes, limit: int) -> bytes:
        return requests.with_limit(raw, limit)

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
