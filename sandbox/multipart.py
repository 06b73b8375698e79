"""Parses a whole multipart/form-data body into fields and files."""

from dataclasses import dataclass
from email.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a form; `filename` is None for a plain field."""

    name: str
    filename: str | None
    content: bytes


def parse(content_type: str, body: bytes) -> list[Part]:
    """Returns the parts in order. Raises ValueError for a malformed form."""
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/form-data" or not boundary:
        raise ValueError("not multipart/form-data with a boundary")
    sections = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))
    if len(sections) < 2 or not sections[-1].startswith(b"--"):
        raise ValueError("the closing boundary is missing")
    return [parse_part(section) for section in sections[1:-1]]


def parse_part(section: bytes) -> Part:
    """Parses one part: its headers, an empty line, its bytes."""
    head, separator, content = section.partition(b"\r\n\r\n")
    header = Message()
    for line in head.decode(errors="replace").split("\r\n"):
        title, _, value = line.partition(":")
        if value:
            header[title.strip()] = value.strip()
    name = header.get_param("name", header="content-disposition")
    if not separator or not isinstance(name, str):
        raise ValueError("a part without a name")
    return Part(name=name, filename=header.get_filename(), content=content)
