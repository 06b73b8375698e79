"""Opens many event streams in one process: `python -m bench.stream_client URL STREAMS KEYS`.

Prints `open` once all streams are open. For each input line `watch` it prints, as JSON, how many streams received an
event since, and when the last did (time.monotonic). Earlier events are forgotten.
"""

import argparse
import asyncio
import json
import resource
import sys
import time
from urllib.parse import urlsplit

from bench import seed
from bench.lateness import percentile

AT_ONCE = 50
OPENED = b": open\n"
TOLD = b"\ndata:"
LONGEST_WAIT = 15.0


class Streams:
    """When each stream last received an event, by number."""

    def __init__(self) -> None:
        self.opened = 0
        self.told: dict[int, float] = {}
        self.changed = asyncio.Event()

    async def follow(self, number: int, url: str, authorization: str, gate: asyncio.Semaphore) -> None:
        address = urlsplit(url)
        head = f"GET /v1/tasks/events HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: {authorization}\r\n\r\n"
        async with gate:
            reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=2**14)
            writer.write(head.encode())
            said = b""
            while OPENED not in said:
                piece = await reader.read(4096)
                if not piece:
                    sys.exit(f"stream {number} was refused: {said[:300]!r}")
                said += piece
        self.opened += 1
        self.changed.set()
        while piece := await reader.read(4096):
            if TOLD in piece or piece.startswith(TOLD[1:]):
                self.told[number] = time.monotonic()
                self.changed.set()
        sys.exit(f"stream {number} was ended")

    async def wait_for(self, count: int, *, opened: bool = False, seconds: float = 600.0) -> None:
        ends_at = time.monotonic() + seconds
        while (self.opened if opened else len(self.told)) < count and time.monotonic() < ends_at:
            self.changed.clear()
            try:
                await asyncio.wait_for(self.changed.wait(), ends_at - time.monotonic())
            except TimeoutError:
                return


async def run(url: str, count: int, keys: int) -> None:
    streams, gate, authorizations = Streams(), asyncio.Semaphore(AT_ONCE), seed.authorizations(keys)
    following = [
        asyncio.create_task(streams.follow(number, url, authorizations[number % keys], gate)) for number in range(count)
    ]
    await streams.wait_for(count, opened=True)
    print("open", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        streams.told.clear()
        print("watching", flush=True)
        await streams.wait_for(count, seconds=LONGEST_WAIT)
        moments = list(streams.told.values())
        print(json.dumps({"told": len(moments), "p50": percentile(moments, 0.5), "last": max(moments, default=0)}))
        sys.stdout.flush()
    for one in following:
        one.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("streams", type=int)
    parser.add_argument("keys", type=int)
    given = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(run(given.url, given.streams, given.keys))


if __name__ == "__main__":
    main()
