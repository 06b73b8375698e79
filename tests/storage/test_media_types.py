"""Types are told from the bytes; what could run in a browser has none."""

from storage import media_types
from tests.storage.samples import film, picture

ID3 = b"ID3\x04" + bytes(60)
LAYER_THREE = b"\xff\xfb\x90\x64" + bytes(60)
WAVE = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40)
M4A = b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00mp42isom"


def test_known_magic_gives_type_and_extension() -> None:
    for head, content_type, extension in (
        (picture("PNG"), "image/png", "png"),
        (picture("JPEG"), "image/jpeg", "jpg"),
        (picture("GIF"), "image/gif", "gif"),
        (picture("WEBP"), "image/webp", "webp"),
        (picture("AVIF"), "image/avif", "avif"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "image/heic", "heic"),
        (b"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif", "image/avif", "avif"),
        (film(), "video/mp4", "mp4"),
        (film("mov"), "video/quicktime", "mov"),
        (film("webm", codec="libvpx"), "video/webm", "webm"),
        (ID3, "audio/mpeg", "mp3"),
        (LAYER_THREE, "audio/mpeg", "mp3"),
        (WAVE, "audio/wav", "wav"),
        (b"OggS\x00\x02" + bytes(40), "audio/ogg", "ogg"),
        (M4A, "audio/mp4", "m4a"),
        (b"glTF\x02\x00\x00\x00" + bytes(12), "model/gltf-binary", "glb"),
        (b"PK\x03\x04" + bytes(30), "application/zip", "zip"),
    ):
        found = media_types.sniff(head)
        assert (found.content_type, found.extension) == (content_type, extension)
        assert media_types.of(content_type) is found


def test_everything_else_is_plain_bytes() -> None:
    for head in (
        b"",
        b"\x89PN",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<?xml version='1.0'?><svg/>",
        b"<!doctype html><script>alert(1)</script>",
        b"alert(1)",
        b'{"asset": {"version": "2.0"}}',
        b"%PDF-1.7",
        b"\xff\xfe<\x00h\x00t\x00m\x00l\x00",
        b"\x1a\x45\xdf\xa3\x42\x82\x88matroska",
        b"RIFF\x00\x00\x00\x00AVI ",
        b"\x00\x00\x00\x14ftypxxxx\x00\x00\x00\x00yyyy",
    ):
        assert media_types.sniff(head) is media_types.PLAIN, head


def test_a_type_that_is_not_on_the_list_is_served_as_plain_bytes() -> None:
    for content_type in ("text/html", "image/svg+xml", "", "image/png; charset=x"):
        assert media_types.of(content_type).content_type == "application/octet-stream"
