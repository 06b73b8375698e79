"""The client of a relayed call, who may leave while the call goes on without it."""

import asyncio

from common.http.asgi import Message, Send


class RelayClient:
    """Takes what the call says, as long as it is there. `waited_seconds` is how long the call has waited for it to
    read, `left_at` the time of the event loop at which it had left, None while it is there."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.left_at: float | None = None
        self.waited_seconds = 0.0

    @property
    def has_left(self) -> bool:
        return self.left_at is not None

    def leave(self) -> None:
        """Nothing that is said from here on reaches it."""
        if self.left_at is None:
            self.left_at = asyncio.get_running_loop().time()

    async def send(self, message: Message) -> None:
        """Nothing where it has left; a connection that breaks is one that was left."""
        if self.has_left:
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await self._send(message)
        except OSError:
            self.leave()
        self.waited_seconds += loop.time() - began
