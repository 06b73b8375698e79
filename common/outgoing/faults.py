"""The two ways in which an outbound exchange ends badly."""

from typing import Literal

Reason = Literal["network", "time", "size", "busy"]


class AddressRefused(Exception):
    """The policy forbids this address; nothing was sent."""


class Failed(Exception):
    """The network, the time, the size, or `busy`: there was no seat for it here. `was_sent`: whether the request may
    have reached the other side.

    `words` are for everyone. The text of the exception adds `detail`, the raw error: it is for the operator alone.
    """

    def __init__(self, words: str, *, detail: str = "", reason: Reason = "network", was_sent: bool) -> None:
        super().__init__(f"{words}: {detail}" if detail else words)
        self.words = words
        self.reason = reason
        self.was_sent = was_sent
