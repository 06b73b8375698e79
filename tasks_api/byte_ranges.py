"""Which bytes of a file a request asks for: `Range`, `If-Range` and `If-None-Match` (RFC 9110, sections 13 and 14).

Pure. A single range is served; several at once, or one that makes no sense, count as none, as the RFC allows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from common.errors import RangeNotSatisfiable

RANGE = re.compile(r"bytes=[ \t]*(?:([0-9]{1,40})-([0-9]{0,40})|-([0-9]{1,40}))[ \t]*", re.IGNORECASE)
ENTITY_TAG = re.compile(r'(?:W/)?("[^"]*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteRange:
    """`length` is at least 1 and within the file."""

    start: int
    length: int

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.start + self.length - 1}/{size}"


def select(ranges: Sequence[str], if_range: Sequence[str], *, etag: str, size: int) -> ByteRange | None:
    """The range to serve, by the values of each header; None is the whole file. Raises RangeNotSatisfiable."""
    if if_range and list(if_range) != [etag]:
        return None
    match = RANGE.fullmatch(ranges[0]) if len(ranges) == 1 else None
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        start, end = max(size - int(suffix), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise RangeNotSatisfiable(
            f"Range: holds none of the {size} bytes of the asset.",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return ByteRange(start=start, length=end - start)


def is_known(if_none_match: Sequence[str], etag: str) -> bool:
    """Whether the client has this version already; weak and strong tags compare alike here."""
    values = ",".join(if_none_match)
    return values.strip() == "*" or etag in ENTITY_TAG.findall(values)
