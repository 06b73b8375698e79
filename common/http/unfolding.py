"""What large bodies unfold to while they are read, in this process: bounded, and a part of it for each payer.

A body is read as bytes, as text and as values at once, and a single character beyond Latin makes CPython keep two or
four bytes of each. So the room for all of it is taken before anything is read, and whoever finds none waits for a turn.
"""

import re
import sys
import threading
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import IO, Any

from django.conf import settings

from common import strict_json
from common.concurrency.sharing import FairQueue, Holdings

PARTS = 2  # of MAX_SPOOL_BYTES; and a half of that for each payer
PIECE_BYTES = 1024 * 1024
VALUE_BYTES = 256  # of an object with its key, an array or a number, at most
# All bytes of UTF-8 but those that begin a character, and such a one that takes two or four bytes of memory.
CONTINUATIONS, BELOW_TWO, BELOW_FOUR = (bytes(range(*ends)) for ends in ((0x80, 0xC0), (0xC4,), (0xF0,)))
SURROGATE = re.compile(rb"\\u[dD][89aAbB]")
LONGEST_ESCAPE = 4


def most_bytes(file: IO[bytes]) -> int:
    """The most that the rest of the file is while it is read: its bytes, its text, and the values of that."""
    size = characters = signs = 0
    text_width = value_width = 1
    is_form = is_escaped = False
    end = b""
    while piece := file.read(PIECE_BYTES):
        is_form = is_form or (not size and piece.lstrip().startswith(b"--"))
        size += len(piece)
        characters += len(piece if piece.isascii() else piece.translate(None, CONTINUATIONS))
        signs += sum(piece.count(sign) for sign in (b",", b"[", b"{"))
        is_escaped = is_escaped or b"\\" in piece
        text_width = max(text_width, _width(piece))
        value_width = max(value_width, text_width, _escaped_width(end + piece))
        end = piece[-LONGEST_ESCAPE:]
    # The decoder begins with one byte for each that comes; and the parts of a form are taken out of it first.
    decoding = size * (1 + text_width + is_form)
    # Wide strings are made with room to grow, and those with escapes piece by piece.
    strings = characters * (value_width if value_width == 1 else value_width * 3 // 2) + is_escaped * characters
    values = min(signs, strict_json.MAX_VALUES) * VALUE_BYTES
    return size + max(decoding, characters * text_width + strings + values)


def _width(piece: bytes) -> int:
    """How many bytes of memory each character takes in a text that holds this."""
    if piece.isascii() or not piece.translate(None, BELOW_TWO):
        return 1
    return 4 if piece.translate(None, BELOW_FOUR) else 2


def _escaped_width(piece: bytes) -> int:
    """The same of a string of JSON."""
    if b"\\u" not in piece:
        return 1
    return 4 if SURROGATE.search(piece) else 2


def size_of(document: Any) -> int:
    """The bytes that a parsed body is."""
    total, waiting = 0, [document]
    while waiting:
        value = waiting.pop()
        total += sys.getsizeof(value)
        if isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
            waiting += value
    return total


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many bytes that somebody waits for."""

    count: int
    promise: "Future[None]" = field(default_factory=Future)


class Memory:
    """The bytes that are held, by payer, and who waits for how many. Payers take turns; what fits goes before what does
    not. One of each payer may be more than his part, and one that is alone more than all that there is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = Holdings()
        self._waiting: FairQueue[Wanted] = FairQueue()

    @property
    def total(self) -> int:
        return self._held.total()

    def take(self, payer: Hashable, count: int) -> "Future[None]":
        """The promise of so many bytes, which are then held. It may be canceled before it is kept."""
        wanted = Wanted(count)
        with self._lock:
            self._waiting.put(wanted, payer)
            kept = self._dealt()
        _keep(kept)
        return wanted.promise

    def give_back(self, payer: Hashable, count: int) -> None:
        with self._lock:
            self._held.give_back(payer, count)
            kept = self._dealt()
        _keep(kept)

    def _dealt(self) -> list[Wanted]:
        """Those whose turn it is; the lock is held."""
        kept: list[Wanted] = []
        while (payer := next(filter(self._has_room, self._waiting), None)) is not None:
            wanted = self._waiting.take(payer)
            if wanted.promise.set_running_or_notify_cancel():
                self._held.take(payer, wanted.count)
                kept.append(wanted)
        return kept

    def _has_room(self, payer: Hashable) -> bool:
        """For the first that this payer waits for; one that has left needs none."""
        wanted, most = self._waiting.first(payer), settings.MAX_SPOOL_BYTES // PARTS
        each = most // 2 if self._held[payer] else max(most // 2, wanted.count)
        is_in_part = self._held.fits(payer, wanted.count, most=each, room=most)
        return wanted.promise.cancelled() or not self.total or is_in_part


def _keep(kept: Sequence[Wanted]) -> None:
    for wanted in kept:
        wanted.promise.set_result(None)


memory = Memory()
