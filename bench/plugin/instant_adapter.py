"""An adapter that answers at once without I/O, registered like an operator's own package (`bench/plugin/`).

If INSTANT_ENTRIES names a file, each paid call appends its prompt and time there.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from adapters.base import (
    Accepted,
    Billed,
    Connection,
    Done,
    Output,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478da636060600000000400012705b3"
    "2c0000000049454e44ae426082"
)
NOWHERE = Path("/nonexistent/picture.png")
ENTRIES = os.environ.get("INSTANT_ENTRIES")


class Instant:
    """Adapter `bench_instant`: returns one picture from memory."""

    protocol = "bench_instant"
    modalities = frozenset({"image"})
    submit_safety = "none"
    poll_batch = 1

    def validate(self, target: Target) -> list[str]:
        return []

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return []

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return UpstreamRequest(path="/", body={"prompt": request.prompt}, billed=Billed(count=1, tier="1K"))

    def submit_seconds(self, target: Target) -> float | None:
        return None

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if ENTRIES:
            with open(ENTRIES, "ab", buffering=0) as file:
                file.write(f"{upstream.body['prompt']} {time.monotonic()!r}\n".encode())
        return Done(outputs=(Output(index=0, kind="image", path=NOWHERE),))

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        raise NotImplementedError

    def find(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | None:
        return None

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        raise ValueError("there is no job to attach")

    def probe(self, connection: Connection) -> None:
        pass

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        return False

    @contextmanager
    def open_output(self, output: Output, connection: Connection) -> Iterator[Iterator[bytes]]:
        yield iter((PICTURE,))
