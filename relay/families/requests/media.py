"""Tells whether a field of a conversation is text, a picture, sound or another file; when in doubt, the more expensive.

Files that a model reads as text count as text, by their bytes. Names are compared folded: some servers read `IMAGE_URL`
as `image_url`.
"""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from mimetypes import guess_type
from typing import Any

BASE64 = re.compile(r"(?:data:[^,]{0,200};base64,)?[A-Za-z0-9+/_=-]*+", re.IGNORECASE)
ADDRESS = re.compile(r"\s*+(?P<scheme>[a-z][a-z0-9+.-]*+)://(?P<host>[^/?#]*+)(?P<path>[^?#]*+)", re.IGNORECASE)
FILMS = re.compile(r"(?:^|\.)(?:youtube\.com|youtu\.be)$", re.IGNORECASE)
LONGEST_WORD = 64
LONGEST_ADDRESS = 4096
DATA_URL = re.compile(r"\s*+data:([^;,]*+)[^,]*+,", re.IGNORECASE)
PICTURE_TYPE = re.compile(r"image/[a-z0-9.+*-]+(?:\s*;[^,]*)?")
TEXT_TYPE = re.compile(
    r"text/.|application/(?:[a-z.+-]*json|[a-z.+-]*xml|(?:x-)?(?:yaml|javascript|typescript|python|sh|toml|sql|ndjson|tex))"
    r"(?:$|[;\s])"
)
BINARY_NAMES = (".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".epub", ".zip")
# First base64 characters of PDFs, archives, pictures, sound and films, whatever their declared type.
BINARY = ("JVBER", "UEsD", "iVBOR", "/9j/", "R0lGOD", "UklGR", "SUQz", "T2dnU", "AAAA", "H4sI", "0M8R4")

SOUND_BEGINNINGS = ("SUQz", "T2dnU", "ZkxhQ")  # MP3, Ogg, FLAC
WAVE = "QVZF"
"""Base64 of the last three letters of "WAVE" in a RIFF file, which then is no film."""

PICTURES = frozenset({"imageurl", "image", "images", "imagedata", "inputimage", "mask", "markup"})
SOUNDS = frozenset({"inputaudio", "audio", "audios", "audiourl", "audiodata"})
FILES = frozenset(
    {"file", "files", "filedata", "fileurl", "inputfile", "document", "documenturl", "documentdata", "pdf", "pdfurl"}
    | {"video", "videos", "videourl", "inputvideo", "media", "mediaurl"}
)
INLINE, SOURCE, STORED, RESULT = "inlinedata", "source", "fileid", "result"
BARE = frozenset({"data", "url", "uri", "base64"})
"""Fields that hold a file only in a part whose type says so."""
KEYS = PICTURES | SOUNDS | FILES | BARE | {INLINE, SOURCE, STORED, RESULT}
"""All fields that may hold a file."""
KIND_FIELDS = frozenset({"mimetype", "mediatype", "contenttype"})
NAME_FIELDS = frozenset({"filename", "displayname"})
# Types of parts that may be a picture, beside those with "image" in the type.
PICTURE_TYPES = ("", "text", "input_text", "message", "computer_screenshot")


class ContentKind(Enum):
    """Ways to count an item."""

    PICTURE = 1
    FILE = 2
    SOUND = 3
    TEXT = 4


def folded(name: str) -> str:
    """Returns a field's name without case and underscores."""
    return name.casefold().replace("_", "")


def kind(key: str, item: Any, holder: Mapping[str, Any]) -> ContentKind | None:
    """Classifies an item under a folded name in an object; None if it is only text."""
    found = _kind(key, item, holder)
    return classify_file(item, holder) if found is ContentKind.FILE else found


def _kind(key: str, item: Any, holder: Mapping[str, Any]) -> ContentKind | None:
    said = type_of(holder)
    if key == INLINE:
        return _declared(item, {}, is_encoded=True) or ContentKind.FILE
    if key == SOURCE:
        return _classify_source(item, said) if isinstance(item, dict) else None
    if key in SOUNDS:
        return ContentKind.SOUND
    if key in FILES:
        is_text = _is_inline(item) and _declared(item, holder, is_encoded=True) is ContentKind.TEXT
        return ContentKind.TEXT if is_text else ContentKind.FILE
    if key in PICTURES:
        return _of_picture(item) if said in PICTURE_TYPES or "image" in said else ContentKind.FILE
    if key == STORED:
        return _of_stored(said)
    if key == RESULT and said == "image_generation_call":
        return ContentKind.PICTURE
    return _of_bare(item, said) if key in BARE and isinstance(item, str) else None


def classify_file(item: Any, holder: Mapping[str, Any]) -> ContentKind:
    """Classifies a file that is not text: sound if anything declares it so."""
    named = (guess_type(text)[0] or "" for text in texts(item) if len(text) < LONGEST_ADDRESS)
    is_said = "audio" in type_of(holder) or _declared(item, holder) is ContentKind.SOUND or any(map(_is_sound, named))
    return ContentKind.SOUND if is_said or any(map(_begins_as_sound, texts(item))) else ContentKind.FILE


def inline_bytes(item: Any) -> int:
    """Counts the item's base64 bytes, ignoring words that look like base64."""
    return sum(len(text) for text in texts(item) if len(text) > LONGEST_WORD and BASE64.fullmatch(text))


def type_of(holder: Mapping[str, Any]) -> str:
    """Returns a part's type, empty without one."""
    said = holder.get("type")
    return said.strip().lower() if isinstance(said, str) else ""


def texts(item: Any) -> Iterator[str]:
    """Yields all texts in an item."""
    waiting = [item]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()


def _classify_source(source: Mapping[str, Any], said: str) -> ContentKind | None:
    """Classifies one of Anthropic's sources, in a part of this type."""
    form = source.get("type")
    if form == "content":  # parts are classified on their own
        return None
    if said == "image":
        return _of_picture(source)
    if form not in ("text", "base64") or not isinstance(source.get("data"), str):
        return ContentKind.FILE
    declared = _declared(source, {}, is_encoded=form == "base64")
    return (
        ContentKind.TEXT if declared is ContentKind.TEXT or (form == "text" and declared is None) else ContentKind.FILE
    )


def _of_picture(item: Any) -> ContentKind:
    is_picture = _declared(item, {}) in (None, ContentKind.PICTURE) and not any(map(_leads_elsewhere, texts(item)))
    return ContentKind.PICTURE if is_picture else ContentKind.FILE


def _leads_elsewhere(text: str) -> bool:
    """Tells whether an address is of a film or document rather than a picture; a server that follows it reads more."""
    address = ADDRESS.match(text) if len(text) < LONGEST_ADDRESS else None
    if address is None:
        return False
    path, is_web = address["path"].lower(), address["scheme"].lower() in ("http", "https")
    named = (guess_type(path)[0] or "").startswith(("video/", "audio/")) or path.endswith(BINARY_NAMES)
    return named or not is_web or FILMS.search(address["host"]) is not None


def _of_stored(said: str) -> ContentKind | None:
    if said.endswith("citation"):
        return None
    return ContentKind.PICTURE if "image" in said or said == "computer_screenshot" else ContentKind.FILE


def _of_bare(item: str, said: str) -> ContentKind | None:
    if "image" in said:
        return _of_picture(item)
    if "audio" in said:
        return ContentKind.SOUND
    return ContentKind.FILE if any(word in said for word in ("video", "file", "document", "media")) else None


def _declared(item: Any, holder: Mapping[str, Any], *, is_encoded: bool = False) -> ContentKind | None:
    """Classifies an item by its address, its declared type or its name; None if none of them tells. With `is_encoded`,
    the bytes of declared text are checked too."""
    places = [place for place in (item, holder) if isinstance(place, dict)]
    said = [match[1] for text in texts(item) if (match := DATA_URL.match(text)) and match[1]]
    said += [str(place[name]) for place in places for name in place if place[name] and folded(name) in KIND_FIELDS]
    names = [str(place[name]) for place in places for name in place if place[name] and folded(name) in NAME_FIELDS]
    told = {_of_media_type(media_type) for media_type in said or [guess_type(name)[0] or "" for name in names]}
    if told == {ContentKind.TEXT}:
        is_binary = is_encoded and any(_payload(text).startswith(BINARY) for text in texts(item))
        return (
            ContentKind.FILE
            if is_binary or any(name.strip().lower().endswith(BINARY_NAMES) for name in names)
            else ContentKind.TEXT
        )
    if len(told) < 2:
        return next(iter(told), None)
    return ContentKind.SOUND if ContentKind.SOUND in told else ContentKind.FILE


def _payload(text: str) -> str:
    """Returns the beginning of a text, after the head of a `data:` URL."""
    head = DATA_URL.match(text)
    begin = head.end() if head else 0
    return text[begin : begin + 64].lstrip()


def _begins_as_sound(text: str) -> bool:
    """Tells whether base64 begins like a sound file, whatever its declared type."""
    begin = _payload(text)
    is_wave = begin.startswith("UklGR") and begin[12:16] == WAVE
    return is_wave or begin.startswith(SOUND_BEGINNINGS)


def _is_sound(media_type: str) -> bool:
    return "audio/" in media_type or media_type.strip() == "application/ogg"


def _of_media_type(said: str) -> ContentKind:
    said = said.strip().lower()
    if _is_sound(said):
        return ContentKind.SOUND
    if PICTURE_TYPE.fullmatch(said):
        return ContentKind.PICTURE
    return ContentKind.TEXT if TEXT_TYPE.match(said) else ContentKind.FILE


def _is_inline(item: Any) -> bool:
    """Tells whether the whole file is here, in base64."""
    held = item if isinstance(item, dict) else {"data": item}
    written = [
        value for name, value in held.items() if folded(name) not in (*NAME_FIELDS, *KIND_FIELDS, "type", "format")
    ]
    return bool(written) and all(isinstance(value, str) and BASE64.fullmatch(value) for value in written)
