"""Looks names up, in pools of seats: one that hangs takes a seat of whoever chose the name, and of nobody else.

Lookups that hang in the system's resolver cannot be ended, only outlived: each holds its seat until the resolver gives
up. So the names of operators, of customers and of providers have pools of their own, in which nobody holds all seats.
"""

import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from common.concurrency.sharing import Holdings
from common.outgoing.faults import Failed

Resolve = Callable[[str, int], Sequence[str]]


class Pool:
    """So many seats in this process, `each` of them at most for one holder; `of_whom` ends the words for the latter."""

    def __init__(self, seats: int, *, each: int, of_whom: str) -> None:
        self.seats, self.each, self._of_whom = seats, each, of_whom
        self._held = Holdings()
        self._freed = threading.Condition()

    def take(self, holder: str, *, seconds: float) -> None:
        """Wait for a seat. Raises Failed (busy)."""
        with self._freed:
            if not self._freed.wait_for(lambda: self._has_room(holder), timeout=seconds):
                whose = f" {self._of_whom}" if self._held[holder] >= self.each else ""
                raise Failed(f"too many name lookups{whose} hang", reason="busy", was_sent=False)
            self._held.take(holder)

    def give_back(self, holder: str) -> None:
        with self._freed:
            self._held.give_back(holder)
            self._freed.notify_all()

    def _has_room(self, holder: str) -> bool:
        return self._held.fits(holder, most=self.each, room=self.seats)


OPERATORS = Pool(64, each=32, of_whom="of this host")
CUSTOMERS = Pool(64, each=16, of_whom="of this account")
PROVIDERS = Pool(64, each=16, of_whom="of this channel")


@dataclass(frozen=True, slots=True)
class Chooser:
    """Who chose the names of an exchange: the pool of their lookups, and whose share of it they take; without a holder
    each name has a share of its own."""

    pool: Pool
    holder: str = ""


OPERATOR = Chooser(OPERATORS)


def customer(account: str) -> Chooser:
    """Of callbacks, reference images and inputs. `account` is whatever names the account everywhere in the process."""
    return Chooser(CUSTOMERS, account)


def provider(channel: str) -> Chooser:
    """Of results, whose addresses the provider tells: neither customers nor other channels can hold them up."""
    return Chooser(PROVIDERS, channel)


def system_resolve(host: str, port: int) -> list[str]:
    """The addresses of a name as the system's resolver gives them. Raises OSError."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def look_up(resolve: Resolve, host: str, port: int, *, chosen_by: Chooser, seconds: float) -> Sequence[str]:
    """What the resolver answers within so many seconds, the wait for a seat included. Raises Failed."""
    ends_at = time.monotonic() + seconds
    pool, holder = chosen_by.pool, chosen_by.holder or host
    pool.take(holder, seconds=seconds)
    answer: Future[Sequence[str]] = Future()

    def run() -> None:
        try:
            answer.set_result(resolve(host, port))
        except (OSError, UnicodeError) as error:
            answer.set_exception(error)
        finally:
            pool.give_back(holder)

    try:
        # A daemon of its own, not an executor's thread: those are joined at exit, hanging lookup and all.
        threading.Thread(target=run, name="look-up", daemon=True).start()
    except RuntimeError as error:
        pool.give_back(holder)
        raise Failed("no thread can be started", reason="busy", was_sent=False) from error
    try:
        return answer.result(max(ends_at - time.monotonic(), 0.0))
    except TimeoutError as error:
        raise Failed("the name lookup took too long", reason="time", was_sent=False) from error
    except (OSError, UnicodeError) as error:
        raise Failed("the host name cannot be resolved", detail=str(error)[:300], was_sent=False) from error
