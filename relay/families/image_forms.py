"""Forms of the Images API: read for what affects the bill, and forwarded unchanged."""

from typing import Any

from common.errors import InvalidRequest
from common.http import multipart
from common.http.multipart import FormPart
from relay.families.requests.contents import Contents
from relay.wire.splicing import Span

SWITCHES = {"true": True, "false": False}
NUMBERS = ("n", "frame_count")
FILES = ("image", "images", "mask", "markup")
LIST = "[]"  # ends the names of repeatable parts


class FormFields(dict[str, Any]):
    """Fields of a form by name: texts, numbers and booleans as in JSON; pictures only as present. `model_span` locates
    the model's name in the bytes, `contents` are the parts beside text."""

    def __init__(self, raw: bytes, content_type: str) -> None:
        """Parses a form. Raises InvalidRequest."""
        super().__init__()
        self.model_span: Span | None = None
        self.contents = Contents()
        for part, span in zip(multipart.parse(raw, content_type), _spans(raw), strict=False):
            name = part.name.removesuffix(LIST)
            if name in FILES:
                self.contents.pictures += 1
                self.contents.inline_bytes += len(part.content) if part.is_file else 0
                self.setdefault(part.name, "" if part.is_file else _value(part))
                continue
            if part.is_file:  # some servers accept a file in place of a text
                raise InvalidRequest(f"{part.name} must not be a file.", param=part.name)
            if part.name in self and not part.name.endswith(LIST):
                raise InvalidRequest(f"{part.name} must not be given twice.", param=part.name)
            self[part.name] = _value(part)
            if part.name == "model" and raw[slice(*span)] == part.content:
                self.model_span = span


def _value(part: FormPart) -> Any:
    text = part.text(is_kept=False)
    if part.name in NUMBERS and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return SWITCHES.get(text, text) if part.name == "stream" else text


def _spans(raw: bytes) -> list[Span]:
    """Locates the contents of a parsed form's parts; its first line is the boundary."""
    begin = raw.index(b"--")
    delimiter = b"\r\n" + raw[begin : raw.index(b"\r\n", begin)].rstrip()
    spans = []
    while (opened := raw.find(b"\r\n\r\n", begin)) >= 0:
        closed = raw.find(delimiter, opened + 4)
        if closed < 0:
            break
        spans.append((opened + 4, closed))
        begin = closed + len(delimiter)
    return spans
