"""`generate_content`: Google's dialect, POST /v1beta/models/{model}:generateContent, :streamGenerateContent and
:countTokens, and the same under /v1.

The model stands in the path, and fields in either spelling, as JSON of protocol buffers has them. Upstream a stream is
only spoken as server-sent events; a client that does not ask for `alt=sse` reads the chunks as one JSON array, as
Google writes it. A stream has no last event. It has ended well once every candidate has its `finishReason`, or the
prompt was blocked. Each chunk may tell the usage; the last one counts. Facts: google-genai 3.4 (`types.py`,
`models.py`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common import strict_json
from common.errors import InvalidRequest
from common.token_usage import TokenUsage
from relay.families import bounds, counts, endpoints, fields, refusals, refused_fields
from relay.families.base import AskedCall, CallPath, Delivered, Endpoint, RefusedField, StreamReader
from relay.families.common import CommonFamily, written_bytes
from relay.families.fields import mapping, mappings
from relay.families.refused_fields import COSTS, FOREIGN
from relay.families.watching import FrameReader, texts
from relay.wire import splicing, sse

STREAM, COUNT = "streamGenerateContent", "countTokens"
VERBS = ("generateContent", STREAM, COUNT)
SSE = "sse"
ARRAY = (None, "json")
ALT = {STREAM: (*ARRAY, SSE), "generateContent": ARRAY, COUNT: ARRAY}
TOLD = re.compile(rb'"usageMetadata"\s*:\s*\{')
ENDS = re.compile(rb'"(?:finish|block)Reason"\s*:\s*"')
IN_FRAMES = texts("text")
ARGUMENTS = frozenset({"args"})
MOST_CANDIDATES = 128
COLLECTIONS = ("models/", "tunedModels/")
MODELS = re.compile(r"^(?:models/)++")
OWN_TOOLS = ("functionDeclarations", "function_declarations")
OWN_OUTPUT = ("TEXT", "IMAGE", "MODALITY_UNSPECIFIED")
USUAL_TIERS = (*refused_fields.TIERS, "standard", "STANDARD", "FLEX", "SERVICE_TIER_UNSPECIFIED")
# A file of the operator's account, at whatever host.
STORED_FILE = re.compile(r"/v1\w*/files/", re.IGNORECASE)


class GenerateContentFamily(CommonFamily):
    """Google's generateContent (base.Family)."""

    name: ClassVar[str] = "generate_content"
    platform = "gemini"
    error_path = "/v1beta/models/any:streamGenerateContent"
    words = refusals.GOOGLE
    query = ("alt", "key")
    file_roots = ("contents", "systemInstruction", "system_instruction")
    name_path = ("modelVersion",)
    texts = frozenset({"text"})
    objects = ARGUMENTS

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        alt = fields.query(path.query, self.query).get("alt")
        if alt not in ALT[path.verb]:
            raise fields.refusal("alt", f"must be {'json or sse' if path.verb == STREAM else 'json'} on this endpoint")
        model, (parent, config) = _model(path.model), _either(document, "generationConfig")
        _refuse_another(document, model)
        limits = [fields.count(config, name, parent=parent) for name in _spellings("maxOutputTokens")]
        choices = [
            fields.count(config, name, most=MOST_CANDIDATES, parent=parent) or 1
            for name in _spellings("candidateCount")
        ]
        bound = self.input_bound(document, raw)
        return AskedCall(
            model=model,
            is_stream=path.verb == STREAM,
            input_bound=bound,
            input_estimate=bounds.likely(bound),
            output_limit=max((limit for limit in limits if limit is not None), default=None),
            choices=max(choices),
            is_array=path.verb == STREAM and alt != SSE,
            is_free=path.verb == COUNT,
        )

    def refused(self, document: Mapping[str, Any], path: CallPath) -> list[RefusedField]:
        """Named in JSON's spelling, however the request spells them."""
        inner = [mapping(document.get(name)) for name in _spellings("generateContentRequest")]
        return [replace(field, name=_in_json(field.name)) for asked in (document, *inner) for field in _refused(asked)]

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        """The model may also stand in the body, and does where a whole request is counted."""
        if upstream_model == asked.model:
            return raw
        for place in ((), *((name,) for name in _spellings("generateContentRequest"))):
            found = splicing.span(raw, *place, "model")
            if found is not None and raw[found[0] : found[0] + 1] == b'"':
                raw = splicing.renamed(raw, (*place, "model"), _resource(upstream_model))
        return raw

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        version = "v1" if path.path.startswith("/v1/") else "v1beta"
        name = quote(_resource(endpoint.upstream_model), safe="/")
        how = "?alt=sse" if asked.is_stream else ""
        return endpoints.host_url(endpoint, f"/{version}/{name}:{path.verb}{how}")

    def usage(self, document: Any) -> TokenUsage | None:
        return counts.believed(_usage, mapping(document).get("usageMetadata"))

    def delivered(self, document: Any) -> Delivered:
        return super().delivered(mapping(document).get("candidates"))

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader:
        return CandidatesReader(asked, upstream_model, words=self.words, texts=IN_FRAMES, name_path=self.name_path)


class CandidatesReader(FrameReader):
    """The chunks of one answer."""

    __slots__ = ()

    def _watch(self, frame: bytes) -> bool:
        if TOLD.search(frame):
            told = counts.believed(_usage, self._parsed(frame).get("usageMetadata"))
            self.usage = told or self.usage
        if b'"functionCall"' in frame:
            self._deliver(written_bytes(self._parsed(frame), objects=ARGUMENTS))
        if ENDS.search(frame):
            self._end(self._parsed(frame))
        return not self._asked.is_array or self._is_element(frame)

    def _is_element(self, frame: bytes) -> bool:
        """Whether it is one of the client's array. A chunk that is no JSON would spoil the others: it is an error."""
        said = sse.data(frame) or b""
        if said in (b"", sse.DONE):
            return False
        if not isinstance(error_kinds.parsed(said), dict):
            self.error = UpstreamError(ErrorKind.AMBIGUOUS, "a chunk of the stream is no JSON object")
            self.is_over, self.can_end = True, False
        return self.error is None

    def _end(self, chunk: Mapping[str, Any]) -> None:
        self._finished += sum(1 for candidate in mappings(chunk.get("candidates")) if candidate.get("finishReason"))
        is_blocked = bool(mapping(chunk.get("promptFeedback")).get("blockReason"))
        self.can_end = self.can_end or is_blocked or self._finished >= self._asked.choices


def _usage(told: Mapping[str, Any]) -> TokenUsage:
    """Thoughts are beside the candidates, and what tools brought is beside the prompt."""
    given = counts.count(told, "promptTokenCount") + counts.count(told, "toolUsePromptTokenCount")
    thoughts = counts.count(told, "thoughtsTokenCount")
    made = counts.count(told, "candidatesTokenCount") + thoughts
    made = counts.output(made, total=counts.count(told, "totalTokenCount"), input_tokens=given)
    details = mappings(told.get("candidatesTokensDetails"))
    pictures = sum(counts.count(detail, "tokenCount") for detail in details if detail.get("modality") == "IMAGE")
    return TokenUsage(
        input_tokens=given,
        cached_tokens=min(given, counts.count(told, "cachedContentTokenCount")),
        output_tokens=made,
        reasoning_tokens=thoughts,
        image_tokens=min(made, pictures),
    )


def _refused(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    for name in (*_spellings("cachedContent"), *_spellings("continuationToken")):
        yield from refused_fields.given(document, (name,), FOREIGN)
    for name in _spellings("serviceTier"):
        yield from refused_fields.beyond(document, name, USUAL_TIERS)
    tools = document.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else [tools] if tools else []):
        others = [name for name, value in mapping(tool).items() if name not in OWN_TOOLS and value is not None]
        if others or not isinstance(tool, dict):
            path = f"tools[{index}].{others[0]}" if others else f"tools[{index}]"
            yield RefusedField(name="tools", path=path, reason=refused_fields.PROVIDERS)
    yield from _output(document)
    for root in ("contents", *_spellings("systemInstruction")):
        yield from _files(document, root)


def _output(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Anything but text and pictures."""
    for parent in _spellings("generationConfig"):
        for name in _spellings("responseModalities"):
            wanted = mapping(document.get(parent)).get(name)
            if isinstance(wanted, list) and not all(str(kind).upper() in OWN_OUTPUT for kind in wanted):
                yield RefusedField(name=name, path=f"{parent}.{name}", reason=COSTS)


def _files(document: Mapping[str, Any], root: str) -> Iterator[RefusedField]:
    for trail, held in refused_fields.below(document, root, _spellings("fileData")):
        named = [mapping(held).get(name) for name in _spellings("fileUri")]
        if not all(_is_public(uri) for uri in named if uri is not None):
            yield RefusedField(name="fileData", path=strict_json.path(trail), reason="names no public http(s) address")


def _is_public(uri: Any) -> bool:
    try:
        parts = urlsplit(uri if isinstance(uri, str) else "")
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not STORED_FILE.search(parts.path)


def _model(name: str) -> str:
    """The name in the path, which goes into another one: as it is priced, and by no longer name for the same."""
    name = MODELS.sub("", fields.checked_model(name))
    if not name or any(part in ("", ".", "..") for part in name.split("/")):
        raise fields.refusal("model", "is no name of a model")
    return name


def _resource(model: str) -> str:
    return model if model.startswith(COLLECTIONS) else f"models/{model}"


def _refuse_another(document: Mapping[str, Any], model: str) -> None:
    """Raises InvalidRequest where the body names another model than the path, which is the one that is priced."""
    inner = [(f"{name}.", mapping(document.get(name))) for name in _spellings("generateContentRequest")]
    for parent, asked in (("", document), *inner):
        if asked.get("model") not in (None, model, _resource(model)):
            raise InvalidRequest(f"{parent}model must be the model of the path.", param=f"{parent}model")


def _either(document: Mapping[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """An object under either spelling of its name, and that spelling. Raises InvalidRequest where both are there:
    whoever reads on might take the other one."""
    json_name, other = _spellings(name)
    if document.get(json_name) is not None and document.get(other) is not None:
        raise fields.refusal(other, f"is {json_name} a second time")
    given = json_name if document.get(other) is None else other
    return given, fields.optional_object(document, given)


def _spellings(name: str) -> tuple[str, str]:
    """As JSON writes it, and as the protocol does."""
    return name, re.sub(r"[A-Z]", lambda big: f"_{big[0].lower()}", name)


def _in_json(name: str) -> str:
    return re.sub(r"_([a-z])", lambda small: small[1].upper(), name)
