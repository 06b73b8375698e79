"""Forms of the Images API: read for what the bill depends on, and forwarded as the bytes that came."""

from typing import Any

from common.errors import InvalidRequest
from common.http import multipart
from common.http.multipart import FormPart
from relay.families.requests.contents import Contents
from relay.wire.splicing import Span

SWITCHES = {"true": True, "false": False}
NUMBERS = ("n", "frame_count")
FILES = ("image", "images", "mask", "markup")
LIST = "[]"  # ends the name of a part that may come more than once


class FormFields(dict[str, Any]):
    """The fields of a form by name: its texts, numbers and switches as JSON has them; of pictures only that they are
    there. `model_span` is where the model's name stands in the bytes, `contents` what the form holds beside text."""

    def __init__(self, raw: bytes, content_type: str) -> None:
        """Raises InvalidRequest."""
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
            if part.is_file:  # some servers take a file for a text all the same
                raise InvalidRequest(f"{part.name} must be no file.", param=part.name)
            if part.name in self and not part.name.endswith(LIST):
                raise InvalidRequest(f"{part.name} comes twice.", param=part.name)
            self[part.name] = _value(part)
            if part.name == "model" and raw[slice(*span)] == part.content:
                self.model_span = span


def _value(part: FormPart) -> Any:
    text = part.text(is_kept=False)
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
