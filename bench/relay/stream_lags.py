"""Measures how late the frames of chat streams arrive.

`python -m bench.relay.stream_lags URL --streams N --waves N [--key KEY]` opens N streams at once, each with its own
general key or all with the one given; after all have ended, the next wave begins. Frames carry the time at which the
upstream wrote them. Prints JSON: lists of milliseconds by name, and how many streams ended properly.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from itertools import pairwise
from urllib.parse import urlsplit

from bench.relay import general_keys
from bench.relay.calls import CHAT_PATH, STREAM_BODY
from bench.relay.upstream import EVERY, FIRST_AFTER, FRAMES

WRITTEN = re.compile(rb'"content": ?"@([0-9.]+)"')
END = b"data: [DONE]"
LONGEST_WAVE = 60.0


class StreamedChat(asyncio.Protocol):
    """One stream: pieces are stored while it runs, and parsed afterwards."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.sent = 0.0
        self.pieces: list[tuple[float, bytes]] = []
        self.is_over = asyncio.Event()

    async def open(self, url: str) -> None:
        address = urlsplit(url)
        await asyncio.get_running_loop().create_connection(lambda: self, str(address.hostname), address.port or 80)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.sent = time.monotonic()
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.pieces.append((time.monotonic(), data))
        if data.endswith(b"0\r\n\r\n"):
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over.set()

    def came(self) -> list[tuple[float, float]]:
        """Yields for each frame with text when it was written and when it arrived."""
        text, found = b"", list[tuple[float, float]]()
        for at, piece in self.pieces:
            text += piece
            frames = WRITTEN.findall(text)
            found += [(float(written), at) for written in frames[len(found) :]]
        return found

    @property
    def has_ended_well(self) -> bool:
        whole = b"".join(piece for _, piece in self.pieces)
        return whole.startswith(b"HTTP/1.1 200") and len(self.came()) == FRAMES and END in whole

    def lags(self) -> dict[str, list[float]]:
        """Returns milliseconds: `begun` from our request to the upstream's, `first` and `every` of frames, `end` from
        the upstream's end to our last byte, `gap` the longest silence between two pieces."""
        came, moments = self.came(), [at for at, _ in self.pieces]
        late = [1000 * (at - written) for written, at in came]
        return {
            "begun": [1000 * (came[0][0] - self.sent - FIRST_AFTER)],
            "first": late[:1],
            "every": late,
            "end": [1000 * (moments[-1] - came[-1][0] - EVERY)],
            "gap": [1000 * max((after - before for before, after in pairwise(moments)), default=0.0)],
        }


def request_of(url: str, authorization: str) -> bytes:
    head = [
        f"POST {CHAT_PATH} HTTP/1.1",
        f"Host: {urlsplit(url).netloc}",
        f"Authorization: {authorization}",
        "Content-Type: application/json",
        f"Content-Length: {len(STREAM_BODY)}",
    ]
    return ("\r\n".join(head) + "\r\n\r\n" + STREAM_BODY).encode()


async def wave(url: str, authorizations: list[str]) -> list[StreamedChat]:
    """Opens one stream for each authorization at once, and reads all to their ends."""
    streams = [StreamedChat(request_of(url, authorization)) for authorization in authorizations]
    await asyncio.gather(*(stream.open(url) for stream in streams))
    await asyncio.wait_for(asyncio.gather(*(stream.is_over.wait() for stream in streams)), LONGEST_WAVE)
    return streams


async def run(url: str, authorizations: list[str], waves: int) -> dict[str, object]:
    streams = [stream for _ in range(waves) for stream in await wave(url, authorizations)]
    well = [stream for stream in streams if stream.has_ended_well]
    for stream in streams:
        if not stream.has_ended_well:
            sys.stderr.write(f"a stream ended badly: {b''.join(piece for _, piece in stream.pieces)[-300:]!r}\n")
    lags: dict[str, list[float]] = {}
    for stream in well:
        for name, values in stream.lags().items():
            lags.setdefault(name, []).extend(values)
    return {"streams": len(streams), "well": len(well), "lags": lags}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--waves", type=int, required=True)
    parser.add_argument("--key", default="")
    given = parser.parse_args()
    keys = [given.key or general_keys.secret(number) for number in range(given.streams)]
    print(json.dumps(asyncio.run(run(given.url, [f"Bearer {key}" for key in keys], given.waves))))


if __name__ == "__main__":
    main()
