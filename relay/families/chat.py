"""`chat`: POST /v1/chat/completions, OpenAI's oldest dialect, which most others speak too.

A stream tells its usage only where it is asked to, in a chunk of its own; the relay always asks. It ends with
`data: [DONE]`. An upstream that leaves that out has ended well if every choice has its `finish_reason`; without it, it
was cut. An empty one is none, nor is the text "null". `[DONE]` inside of a tool's arguments is a cut, too. Facts:
openai 3.54 (`types/chat`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from adapters.kit import error_kinds
from common.token_usage import TokenUsage
from relay.families import endpoints, fields, openai_counts, pictures, refusals, tool_counts
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.frames import chat_frames, joined_chat
from relay.families.requests import chat as requests
from relay.families.watching import FrameReader, texts
from relay.wire import sse

TOLD = re.compile(rb'"usage"\s*:\s*\{')
FINISHED = re.compile(rb'"finish_reason"\s*:\s*"(?!"|null")')
OWN = re.compile(rb'"choices"\s*:\s*\[')
CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*[^\]\s]')
NO_DELTA = re.compile(rb'"delta"\s*:\s*null')
CALLS = re.compile(rb'"(?:tool_calls"\s*:\s*\[|function_call"\s*:)\s*\{')
SAID = re.compile(rb'"content"\s*:\s*"(?!")')
SAYING = ("message", "delta", "text")
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

    def is_told(self, item: Mapping[str, Any]) -> bool:
        return any(item.get(name) is not None for name in SAYING)

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        written = sum(_written(choice, "message") for choice in _choices(document))
        return Delivered(output_bytes=written, pictures=pictures.of_messages(_messages(document, "message")))

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        return chat_frames.of_answer(fields.mapping(document), asked)

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        return joined_chat.of_events(events)

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return ChatReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class ChatReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ("_is_in_call",)
    own = OWN
    has_types = False

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        choices = fields.mappings(document.get("choices"))
        return any(fields.mapping(choice.get("message")) and not choice.get("delta") for choice in choices)

    def _is_own(self, seen: bytes) -> bool:
        return OWN.search(seen) is not None or TOLD.search(seen) is not None

    def _carries(self, document: Mapping[str, Any]) -> bool:
        """More than who speaks."""
        said = [value for delta in _messages(document, "delta") for name, value in delta.items() if name != "role"]
        return bool(self.usage or self._ended or any(said) or self.delivered.output_bytes)

    def _framed(self, frame: bytes, seen: bytes) -> bytes:
        """Each chunk has its choices, and each of them its delta."""
        if b'"delta"' in seen and not NO_DELTA.search(seen):
            return frame
        chunk = error_kinds.parsed(sse.data(frame) or b"")
        choices = fields.mappings(fields.mapping(chunk).get("choices"))
        if isinstance(fields.mapping(chunk).get("choices"), list) and not choices:
            return frame
        righted = [{**choice, "delta": fields.mapping(choice.get("delta"))} for choice in choices]
        return sse.frame(json.dumps({**fields.mapping(chunk), "choices": righted}))

    def _other(self, frame: bytes, seen: bytes) -> bytes:
        if not (sse.data(seen) or b"").lstrip().startswith(sse.DONE):
            return super()._other(frame, seen)
        self.is_over = self.can_end = True
        if not self.has_begun:
            self._fail("the stream has ended without an answer")
        elif getattr(self, "_is_in_call", False):
            self._fail("the stream has ended inside of a tool's arguments")
        return b"" if self.error else frame

    def _watch(self, frame: bytes) -> bool:
        if (b'"tool_calls"' in frame or b'"function_call"' in frame) and CALLS.search(frame):
            self._is_in_call = True
        elif getattr(self, "_is_in_call", False) and SAID.search(frame):
            self._is_in_call = False
        is_told = TOLD.search(frame) is not None
        if is_told:
            self._take_usage(self._parsed(frame))
        if b'"images"' in frame or b'"image_url"' in frame or b'"output_image"' in frame:
            self._deliver(0, pictures.of_messages(_messages(self._parsed(frame), "delta")))
        if self._asked.tools and b'"annotations"' in frame:
            cited = tool_counts.of_citations(_messages(self._parsed(frame), "delta"), self._asked)
            self._count_tools(tool_counts.most(self._tools, cited))
        if FINISHED.search(frame):
            self._is_in_call = False
            self._end_choices(self._parsed(frame).get("choices"), "finish_reason")
        return self._asked.shows_usage or not is_told or CHOICES.search(frame) is not None

    def _texts_in(self, frame: bytes) -> int:
        """What is said under several names counts once, and what a last chunk repeats of the whole not at all."""
        if not TWICE.search(frame):
            return super()._texts_in(frame)
        choices = _choices(self._parsed(frame))
        new = sum(_written(choice, "delta") for choice in choices)
        whole = sum(_written({"message": choice.get("message")}, "message") for choice in choices)
        return max(new, whole - self.delivered.output_bytes)

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
