"""The client of a relayed call, which may disconnect while the call goes on."""

import asyncio

from common.http.asgi import Message, Send


class RelayClient:
    """Sends to the client while it is connected. `waited_seconds` sums the waits for a slow reader; `left_at` is the
    event loop's time of the disconnect, None until then."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.left_at: float | None = None
        self.waited_seconds = 0.0

    @property
    def has_left(self) -> bool:
        return self.left_at is not None

    def leave(self) -> None:
        """Marks the client as gone; later messages are dropped."""
        if self.left_at is None:
            self.left_at = asyncio.get_running_loop().time()

    async def send(self, message: Message) -> None:
        """Sends a message, or drops it if the client is gone; a broken connection counts as gone."""
        if self.has_left:
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await self._send(message)
        except OSError:
            self.leave()
        self.waited_seconds += loop.time() - began
