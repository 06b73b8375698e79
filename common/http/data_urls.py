"""Data URLs of reference images: strict base64 of four types, some by other names too. The first bytes must agree with
the type."""

import base64
import binascii
import re

TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
ALIASES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}
HEADER = re.compile(r"data:([a-z0-9.+-]+/[a-z0-9.+-]+);base64,", re.IGNORECASE)
MAGIC = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "image/gif": re.compile(rb"GIF8[79]a"),
}


def is_data_url(text: str) -> bool:
    return text[:5].lower() == "data:"


def sniffed(content: bytes) -> str | None:
    """Which of the types the bytes are, by their beginning; None for none of them."""
    return next((name for name, magic in MAGIC.items() if magic.match(content)), None)


def decode(url: str) -> tuple[str, bytes]:
    """Content type, by its own name, and bytes. Raises ValueError with a reason that reads on from the field's name."""
    header = HEADER.match(url)
    given = header[1].lower() if header else ""
    content_type = ALIASES.get(given, given)
    if header is None or content_type not in TYPES:
        raise ValueError(f"must be a base64 Data URL of {', '.join(TYPES)}")
    content = _strict_base64(url[header.end() :])
    if not MAGIC[content_type].match(content):
        raise ValueError(f"holds bytes that are not {content_type}")
    return content_type, content


def _strict_base64(payload: str) -> bytes:
    try:
        content = binascii.a2b_base64(payload, strict_mode=True)
    except ValueError:
        raise ValueError("must hold strict base64") from None
    # The decoder lets unused bits of the last group pass, and padding after a whole one: one content would have several
    # spellings.
    last = content[-(len(content) % 3 or 3) :]
    if base64.b64encode(last).decode() != payload[-4:]:
        raise ValueError("must hold strict base64")
    return content
