"""`chat`: POST /v1/chat/completions, OpenAI's oldest dialect, which most others speak too.

A stream tells its usage only where it is asked to, in a chunk of its own; the relay always asks. It ends with
`data: [DONE]`. An upstream that leaves that out has ended well if every choice has its `finish_reason`; without it, it
was cut. An empty one is none, nor is the text "null". Facts: openai 3.54 (`types/chat`).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from common.token_usage import TokenUsage
from relay.families import endpoints, fields, openai_counts, pictures, refusals, tool_counts
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.frames import chat_frames
from relay.families.requests import chat as requests
from relay.families.watching import FrameReader, texts

DONE = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
TOLD = re.compile(rb'"usage"\s*:\s*\{')
FINISHED = re.compile(rb'"finish_reason"\s*:\s*"(?!"|null")')
CHOICES = re.compile(rb'"choices"\s*:\s*\[')
NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')
TEXTS = ("content", "refusal", "reasoning_content", "reasoning", "arguments", "input", "text", "transcript")
IN_FRAMES = texts(*TEXTS)
# The same thoughts under several names: vLLM and OpenRouter send two of them.
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
IN_DETAILS = ("text", "summary", "data")
TWICE = re.compile(rb'"(?:reasoning|reasoning_details|message|text)"\s*:')


class ChatFamily(CommonFamily):
    """OpenAI's chat completions (base.Family)."""

    name: ClassVar[str] = "chat"
    platform = "openai"
    error_path = "/v1/chat/completions"
    words = refusals.OPENAI
    passed_on = ("openai-beta",)
    member = "choices"
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

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        cited = tool_counts.of_citations(_messages(document, "message"), asked)
        return openai_counts.of_answer(document, asked, cited)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        written = sum(_written(choice, "message") for choice in _choices(document))
        return Delivered(output_bytes=written, pictures=pictures.of_messages(_messages(document, "message")))

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return chat_frames.of_answer(fields.mapping(document), asked)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ChatReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class ChatReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ("_has_choices",)

    def _watch(self, frame: bytes) -> bool:
        self._has_choices = getattr(self, "_has_choices", False) or CHOICES.search(frame) is not None
        if b"[DONE]" in frame and DONE.search(frame):
            return self._done()
        is_told = TOLD.search(frame) is not None
        if is_told:
            self._take_usage(self._parsed(frame))
        if b'"images"' in frame or b'"image_url"' in frame or b'"output_image"' in frame:
            self._deliver(0, pictures.of_messages(_messages(self._parsed(frame), "delta")))
        if self._asked.tools and b'"annotations"' in frame:
            cited = tool_counts.of_citations(_messages(self._parsed(frame), "delta"), self._asked)
            self._count_tools(tool_counts.most(self._tools, cited))
        if FINISHED.search(frame):
            self._end_choices(self._parsed(frame).get("choices"), "finish_reason")
        return self._asked.shows_usage or not (is_told and NO_CHOICES.search(frame))

    def _texts_in(self, frame: bytes) -> int:
        """What is said under several names counts once, and what a last chunk repeats of the whole not at all."""
        if not TWICE.search(frame):
            return super()._texts_in(frame)
        choices = _choices(self._parsed(frame))
        new = sum(_written(choice, "delta") for choice in choices)
        whole = sum(_written({"message": choice.get("message")}, "message") for choice in choices)
        return max(new, whole - self.delivered.output_bytes)

    def _done(self) -> bool:
        self.is_over = self.can_end = True
        if not (self._has_choices or self.usage):
            self._fail("the stream has ended without an answer")
        return self.error is None

    def _take_usage(self, chunk: Mapping[str, Any]) -> None:
        for told in openai_counts.usages(chunk):
            if self._learn(told, openai_counts.told):
                self._count_tools(tool_counts.most(self._tools, tool_counts.requests_told(told, self._asked)))
                return


def _messages(document: Any, name: str) -> Iterator[dict[str, Any]]:
    """What the choices of an answer (`message`) or of a chunk (`delta`) say."""
    return (fields.mapping(choice.get(name)) for choice in _choices(document))


def _choices(document: Any) -> list[dict[str, Any]]:
    return fields.mappings(fields.mapping(document).get("choices"))


def _written(choice: Mapping[str, Any], name: str) -> int:
    """The bytes of what a choice says (in `message` or `delta`): of its thoughts and of its answer the longest twin."""
    said = fields.mapping(choice.get(name))
    thoughts = max(written_bytes({each: said.get(each)}, (*THOUGHTS, *IN_DETAILS)) for each in THOUGHTS)
    answer = written_bytes({"content": said.get("content")}, TEXTS)
    twin = written_bytes({"text": choice.get("text")}, TEXTS)
    rest = {each: value for each, value in said.items() if each not in (*THOUGHTS, "content")}
    return thoughts + max(answer, twin) + written_bytes(rest, TEXTS)
