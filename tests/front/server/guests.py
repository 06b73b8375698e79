"""Connections as `front/server/places.py` knows them."""

import asyncio


class StubGuest:
    """Notes when it was hung up, by the clock of the loop."""

    def __init__(self, name: str = "", *, unsent: int = 0) -> None:
        self.name = name
        self.left = unsent
        self.ended_at: float | None = None

    def hang_up(self) -> None:
        assert self.ended_at is None
        self.ended_at = round(asyncio.get_running_loop().time(), 3)

    def unsent(self) -> int:
        return self.left
