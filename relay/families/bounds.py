"""How many tokens a request may be, and likely is, by its bytes: what is reserved before anybody has counted them.

A token is at least one byte. Pictures, sounds and documents in base64 are far fewer: they are counted so only where the
dialect takes a file, for a model reads the same characters as text anywhere else.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

FILE_TOKENS = 16_384
"""What a file counts at least, or all its characters where those are fewer; one that the provider fetches, this."""
BYTES_PER_FILE_TOKEN = 64
TOOL_TOKENS = 2_048
"""What providers add to a prompt that comes with tools."""
BYTES_PER_TOKEN = 4

ADDRESSES = ("http:", "https:", "gs:")
BASE64 = re.compile(r"(?:data:[^,]{0,200};base64,)?[A-Za-z0-9+/_=-]*+")
# The objects that hold a file, and the field in which it stands: its bytes in base64, or its address.
HOLDERS = frozenset(
    {
        ("image_url", "url"),
        ("images", "image_url"),
        ("mask", "image_url"),
        ("input_audio", "data"),
        ("file", "file_data"),
        ("source", "data"),
        ("source", "url"),
        ("inlineData", "data"),
        ("inline_data", "data"),
        ("fileData", "fileUri"),
        ("file_data", "file_uri"),
    }
)
FILE_FIELDS = frozenset({"image_url", "file_url", "file_data"})
# What is said of a file: as an address, or in a field beside it. Only these kinds are no text to a model.
KIND = re.compile(r"data:([^;,]*)", re.IGNORECASE)
KIND_FIELDS = ("mimeType", "mime_type", "media_type")
MEDIA = re.compile(r"(?:image|audio|video)/|application/pdf", re.IGNORECASE)
FILE_TYPES = ("input_image", "input_file", "computer_screenshot")
# What a tool was asked and has answered is read as text, whatever it looks like.
OF_TOOLS = frozenset({"args", "response"})
TOOL_USES = ("tool_use", "server_tool_use")


def input_tokens(document: Mapping[str, Any], raw: bytes, roots: Collection[str]) -> int:
    """The most that a body can be. `roots` are the fields in which files may stand."""
    files = [file for root in roots for file in _files(document.get(root), root)]
    saved = sum(max(0, len(file) - file_tokens(len(file))) for file in files if BASE64.fullmatch(file))
    fetched = sum(FILE_TOKENS for file in files if file.startswith(ADDRESSES))
    return len(raw) - saved + fetched + (TOOL_TOKENS if document.get("tools") else 0)


def file_tokens(size: int) -> int:
    """The most that a file of this many characters or bytes is."""
    return min(size, max(FILE_TOKENS, size // BYTES_PER_FILE_TOKEN))


def likely(most: int) -> int:
    """A likely count of tokens for bytes, or for a bound that is made of them."""
    return -(-most // BYTES_PER_TOKEN)


def _files(value: Any, key: str) -> Iterator[str]:
    """The texts that stand where a file does."""
    waiting: list[tuple[str, Any]] = [(key, value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(key, item) for item in value]
        elif isinstance(value, dict):
            is_tool_use = value.get("type") in TOOL_USES
            for name, item in value.items():
                if isinstance(item, str):
                    is_file = (key, name) in HOLDERS or (name in FILE_FIELDS and value.get("type") in FILE_TYPES)
                    if is_file and not _is_text(item, value):
                        yield item
                elif name not in OF_TOOLS and not (is_tool_use and name == "input"):
                    waiting.append((name, item))


def _is_text(file: str, holder: Mapping[str, Any]) -> bool:
    """Whether what is in a request as a file is read as the text that it is."""
    if file.startswith(ADDRESSES):
        return False
    url = KIND.match(file)
    kinds = [url[1]] if url else [str(holder[name]) for name in KIND_FIELDS if holder.get(name) is not None]
    return holder.get("type") == "text" or not all(MEDIA.match(kind) for kind in kinds)
