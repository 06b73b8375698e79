"""Puts the client's name for the model into the frames of a stream."""

import re

from relay.wire import splicing, sse

DATA = re.compile(rb"(?:\A|(?<=[\r\n]))data:")


class AskedName:
    """The name `asked`, to replace the upstream's at `path` of a frame's document."""

    __slots__ = ("_asked", "_field", "_is_same", "_path")

    def __init__(self, asked: str, upstream_model: str, path: tuple[str, ...]) -> None:
        self._asked, self._path = asked, path
        self._is_same = upstream_model == asked
        self._field = f'"{path[-1]}"'.encode()

    def put_in(self, frame: bytes) -> bytes:
        """Returns the frame with the name replaced; other bytes change only for line ends between two values."""
        if self._is_same or self._field not in frame:
            return frame
        begin = DATA.search(frame)
        if begin is None:
            return frame
        head, tail = frame[: begin.start()], frame[begin.end() :]
        said = sse.data(frame) or b""
        if b"\n" in said:  # data over several lines
            said, tail = said.replace(b"\n", b""), b"\n\n"
        else:
            tail = tail[tail.index(said) + len(said) :]
        return head + b"data: " + splicing.renamed(said, self._path, self._asked) + tail
