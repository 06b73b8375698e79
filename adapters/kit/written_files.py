"""Files that a provider writes into its JSON as text: base64 of either alphabet, or a Data URL (RFC 2397)."""

import binascii
import re
from urllib.parse import unquote_to_bytes

DATA_URL = re.compile(rb"\s*data:([^,]{0,1000}),", re.IGNORECASE)
HEAD_BYTES = 2000
URL_SAFE = bytes.maketrans(b"-_", b"+/")
BLANKS = b" \t\n\r\f\v"
GROUP = 4


def is_data_url(value: object) -> bool:
    """Whether a value is a Data URL with anything in it."""
    if not isinstance(value, str):
        return False
    head = DATA_URL.match(value[:HEAD_BYTES].encode("utf-8", "replace"))
    return head is not None and len(value) > head.end()


def content_of(text: str) -> bytes:
    """The bytes that a whole text stands for. Raises ValueError."""
    decoder = Decoder()
    return decoder.decode(text.encode()) + decoder.end()


class Decoder:
    """Turns a text that comes in pieces into bytes; the first piece holds the whole head of a Data URL. Blanks, missing
    padding and URL-safe letters are forgiven."""

    def __init__(self) -> None:
        self.is_data_url = self._is_begun = self._is_padded = False
        self._is_base64 = True
        self._escape = b""  # the beginning of one, such as %2
        self._rest = b""  # less than a group of base64

    def decode(self, piece: bytes) -> bytes:
        """What the text is up to here, but for what was returned before. Raises ValueError."""
        if not self._is_begun:
            piece, self._is_begun = self._without_head(piece), True
        text = self._unescaped(piece) if self.is_data_url else piece
        return self._groups(text) if self._is_base64 else text

    def end(self) -> bytes:
        """What is left once all pieces have come. Raises ValueError."""
        if not self._is_base64:
            return self._escape
        if self._escape:
            raise ValueError("an escape is cut off")
        return binascii.a2b_base64(self._rest + b"=" * (-len(self._rest) % GROUP), strict_mode=True)

    def _without_head(self, piece: bytes) -> bytes:
        head = DATA_URL.match(piece)
        if head is None:
            return piece
        self.is_data_url = True
        self._is_base64 = any(part.strip().lower() == b"base64" for part in head[1].split(b";")[1:])
        return piece[head.end() :]

    def _unescaped(self, piece: bytes) -> bytes:
        text = self._escape + piece
        cut = text.rfind(b"%", max(0, len(text) - 2))
        self._escape = text[cut:] if cut >= 0 else b""
        whole = text[:cut] if cut >= 0 else text
        return unquote_to_bytes(whole) if b"%" in whole else whole

    def _groups(self, piece: bytes) -> bytes:
        text, padding, after = piece.translate(URL_SAFE, BLANKS).partition(b"=")
        if (self._is_padded and text) or after.strip(b"="):
            raise ValueError("the text goes on after its end")
        self._is_padded = self._is_padded or bool(padding)
        text = self._rest + text
        whole = len(text) // GROUP * GROUP
        self._rest = text[whole:]
        return binascii.a2b_base64(memoryview(text)[:whole], strict_mode=True)
