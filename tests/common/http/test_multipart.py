"""Forms: what is read of them, and that whatever is not whole is refused by its part."""

import pytest

from common.errors import InvalidRequest
from common.http import multipart
from common.http.multipart import FormPart

TYPE = "multipart/form-data; boundary=xYzZY"
NAMED = 'Content-Disposition: form-data; name="prompt"'


def body(*parts: bytes | str, end: bytes = b"--xYzZY--\r\n") -> bytes:
    encoded = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return b"".join(b"--xYzZY\r\n" + part + b"\r\n" for part in encoded) + end


def parsed(*parts: bytes | str) -> list[FormPart]:
    return multipart.parse(body(*parts), TYPE)


def problem(raw: bytes, content_type: str = TYPE) -> str:
    with pytest.raises(InvalidRequest) as caught:
        [part.text() for part in multipart.parse(raw, content_type)]
    return caught.value.message


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (NAMED, ("prompt", False)),
        ("content-disposition:form-data;name=prompt", ("prompt", False)),
        (f"Content-Type: text/plain; charset=UTF-8\r\n{NAMED};", ("prompt", False)),
        (f'{NAMED}; filename="a \\"b\\"; name=c.png"\r\nContent-Type: image/png', ("prompt", True)),
        (f"{NAMED}; filename*=UTF-8''%e2%82%ac.png", ("prompt", True)),
        (f'{NAMED}; filename=""', ("prompt", True)),
        ('Content-Disposition: form-data; name="image[]"', ("image[]", False)),
        (f'{NAMED}; filename="caf\xe9.png"'.encode("latin-1"), ("prompt", True)),
        (f'{NAMED}; filename="\x81\x8d\xff"; x="\xe9"'.encode("latin-1"), ("prompt", True)),
        (f"{NAMED}; filename=\xe9.png\r\nX-Note: \xa0\xe9".encode("latin-1"), ("prompt", True)),
        (f'{NAMED}; filename="фото.png"', ("prompt", True)),
        ('Content-Disposition: form-data; name="имя"', ("имя", False)),
    ],
)
def test_a_part_has_a_name_and_says_whether_it_is_a_file(head, expected):
    (part,) = parsed((head if isinstance(head, bytes) else head.encode()) + b"\r\n\r\na boat")
    assert (part.name, part.is_file, part.content) == (*expected, b"a boat")


@pytest.mark.parametrize("charset", ["ISO-8859-1", "iso-8859-15", "US-ASCII", "latin1", '"windows-1252"', "Utf8"])
def test_a_text_of_ascii_may_have_any_charset_that_begins_with_it(charset):
    (part,) = parsed(f"{NAMED}\r\nContent-Type: text/plain; charset={charset}\r\n\r\na boat")
    assert part.text() == "a boat"


@pytest.mark.parametrize("content", [b"", b"\r\n", b"\r\n\r\n", b"a\r\n--xYzZ", b"\0\xff--xYzZY--", b"-xYzZY\r\n"])
def test_every_byte_of_a_part_is_kept(content):
    assert [part.content for part in parsed(NAMED.encode() + b"\r\n\r\n" + content)] == [content]


def test_parts_come_in_order_and_blank_lines_around_them_are_nothing():
    raw = b"\r\n" + body(f"{NAMED}\r\n\r\nä", f"{NAMED}\r\n\r\nb") + b"\r\n"
    assert [part.text() for part in multipart.parse(raw, TYPE)] == ["ä", "b"]
    assert multipart.parse(body(), TYPE) == []


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (b"", "begin with its boundary"),
        (b"prompt=a+boat", "begin with its boundary"),
        (b"a preamble\r\n" + body(), "begin with its boundary"),
        (b"--xYzZY", "Part 1 of the body is not valid"),
        (b"--xYzZYx\r\n" + body(), "Part 1 of the body is not valid"),
        (body(f"{NAMED}\r\n\r\na", end=b""), "Part 1 of the body is not valid"),
        (body(f"{NAMED}\r\n\r\na", end=b"--xYzZY\r\n"), "Part 2 of the body is not valid"),
        (body(end=b"--xYzZY--more"), "goes on"),
        (body(f"{NAMED}\r\n\r\na") + body(f"{NAMED}\r\n\r\nb"), "goes on"),
        (body("\r\na boat"), "Part 1 of the body is not valid"),
        (body(NAMED), "Part 1 of the body is not valid"),
        (body("Content-Type: text/plain\r\n\r\na"), "Part 1 of the body"),
        (body("Content-Disposition: form-data\r\n\r\na"), "Part 1 of the body"),
        (body('Content-Disposition: form-data; name=""\r\n\r\na'), "Part 1 of the body"),
        (body('Content-Disposition: attachment; name="a"\r\n\r\na'), "Part 1 of the body"),
        (body(f"{NAMED}; name=b\r\n\r\na"), "Part 1 of the body is not valid"),
        (body(f'{NAMED}; filename="\r\n\r\na'), "Part 1 of the body is not valid"),
        (body(f"{NAMED}\r\n{NAMED}\r\n\r\na"), "Part 1 of the body"),
        (body(b"Content-Disposition: form-data; name=\xff\r\n\r\na"), "Part 1 of the body"),
        (
            body(b'Content-Disposition: form-data; name="caf\xe9"\r\n\r\na'),
            "Part 1 of the body is not valid: its name is",
        ),
        (body(f"{NAMED}\r\nX: {'y' * 9000}\r\n\r\na"), "Part 1 of the body is not valid"),
        (body(f"{NAMED}\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ=="), "prompt: no Content-Transfer-Encoding"),
        *(
            (body(f"{NAMED}\r\nContent-Type: text/plain; charset={charset}\r\n\r\na"), "prompt: the charset")
            for charset in ("utf-16", "utf-7", "iso-2022-jp", "nonsense")
        ),
        (body(f"{NAMED}\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n\r\né"), "prompt: the charset"),
        (body(NAMED.encode() + b"\r\n\r\n\xff"), "prompt is not valid UTF-8"),
        (body(f"{NAMED}\r\n\r\n\0"), "prompt holds a NUL"),
        (body(*[f"{NAMED}\r\n\r\na"] * 201), "Part 201 of the body is not valid"),
    ],
)
def test_what_is_not_whole_is_refused_by_its_part(raw, named):
    assert named in problem(raw)


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=é",
        "multipart/form-data; boundary=x; boundary=y",
        f"multipart/form-data; boundary={'x' * 71}",
    ],
)
def test_a_form_needs_one_valid_boundary(content_type):
    assert problem(b"--x--", content_type).startswith("Content-Type")
