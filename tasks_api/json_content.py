"""Content of requests and responses: strict JSON in, JSON with plain amounts of money out, whatever `Accept` says."""

from collections.abc import Iterable, Mapping
from typing import IO, Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from common import strict_json
from common.errors import UnsupportedMediaType
from common.plain_json import PlainEncoder

JSON = "application/json"
CHARSETS = ("utf-8", "utf8")


class StrictJSONParser(BaseParser):
    """Reads the one JSON object of a body in UTF-8."""

    media_type = JSON

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Raises UnsupportedMediaType, then InvalidRequest."""
        return loads((parser_context or {})["request"], stream.read())


class PlainJSONRenderer(JSONRenderer):
    """DRF's, but for the encoder."""

    encoder_class = PlainEncoder


class JSONNegotiation(BaseContentNegotiation):
    """Chooses the parser by Content-Type, and the one renderer for every `Accept`."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """Raises UnsupportedMediaType naming what is taken."""
        sent = media_type_of(request.content_type)
        for parser in parsers:
            if parser.media_type == sent:
                return parser
        raise UnsupportedMediaType(f"Content-Type: must be {' or '.join(str(each.media_type) for each in parsers)}.")

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first, *_ = renderers
        return first, str(first.media_type)


def loads(request: Request, raw: bytes) -> dict[str, Any]:
    """The document of a body whose media type is JSON. Raises UnsupportedMediaType, then InvalidRequest."""
    refuse_charsets(request.content_type)
    refuse_encodings(request)
    return strict_json.loads_object(raw)


def media_type_of(content_type: str) -> str:
    """The media type of a Content-Type in lower case, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def refuse_charsets(content_type: str) -> None:
    """Raises UnsupportedMediaType where the charset of a Content-Type is another than UTF-8."""
    _, *parameters = content_type.lower().split(";")
    for name, _, value in (parameter.partition("=") for parameter in parameters):
        if name.strip() == "charset" and value.strip().strip('"') not in CHARSETS:
            raise UnsupportedMediaType("Content-Type: the charset must be utf-8.")


def refuse_encodings(request: Request) -> None:
    """Raises UnsupportedMediaType where the body is compressed, say."""
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMediaType("Content-Encoding: only identity is accepted.")
