"""Forms of the Images API: read for what the bill depends on, and forwarded as the bytes that came."""

from typing import Any

from common.errors import InvalidRequest
from common.http import multipart
from common.http.multipart import FormPart
from relay.families import bounds
from relay.wire.splicing import Span

SWITCHES = {"true": True, "false": False}
NUMBERS = ("n", "frame_count")
FILES = ("image", "images", "mask")
LIST = "[]"  # ends the name of a part that may come more than once


class FormFields(dict[str, Any]):
    """The texts of a form by name, numbers and switches as JSON has them. `model_span` is where the model's name stands
    in the bytes, `input_bound` the most tokens that the form can be."""

    def __init__(self, raw: bytes, content_type: str) -> None:
        """Raises InvalidRequest."""
        super().__init__()
        parts = multipart.parse(raw, content_type)
        self.model_span: Span | None = None
        self.input_bound = len(raw)
        for part, span in zip(parts, _spans(raw), strict=False):
            if part.is_file:
                if part.name.removesuffix(LIST) not in FILES:  # some servers take a file for a text all the same
                    raise InvalidRequest(f"{part.name} must be no file.", param=part.name)
                self.input_bound -= len(part.content) - bounds.file_tokens(len(part.content))
                continue
            if part.name in self and not part.name.endswith(LIST):
                raise InvalidRequest(f"{part.name} comes twice.", param=part.name)
            self[part.name] = _value(part)
            if part.name == "model" and raw[slice(*span)] == part.content:
                self.model_span = span


def _value(part: FormPart) -> Any:
    text = part.text()
    if part.name in NUMBERS and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return SWITCHES.get(text, text) if part.name == "stream" else text


def _spans(raw: bytes) -> list[Span]:
    """Where the contents of the parts stand, of a form that was parsed: its boundary begins its first line."""
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
