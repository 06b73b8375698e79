"""The long-lived threads of a web process: Django's requests and the asynchronous side's look-ups share them.

Each payer has at most half of them, and whoever has fewest gets the next one, so that nobody waits behind the requests
of somebody else. A running request cannot be taken back; therefore the bound holds also while nobody waits.
"""

import asyncio
import contextvars
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import close_old_connections

from common.concurrency import promises, turns

Result = TypeVar("Result")

THREADS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Whose work it is: the payer holds at most `most` threads, and its members (of strangers, say) take turns."""

    payer: Hashable
    member: str = ""
    most: int = THREADS // 2


def of_account(account_id: int) -> Share:
    return Share(payer=account_id)


def of_nobody(payer: str, member: str = "") -> Share:
    """Work of a kind whose account is not known yet, or that has none; less of it, for it may still be anybody's."""
    return Share(payer=payer, member=member, most=THREADS // 4)


SERVICE = Share(payer="service")
share: contextvars.ContextVar[Share] = contextvars.ContextVar("share", default=SERVICE)


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work and the promise of its result."""

    future: "Future[Any]"
    work: Callable[[], Any]

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.work()
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class DealtThreads(Executor):
    """Runs work on so many threads, dealt by the share that is set where it is submitted."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._free = threads
        self._running: Counter[Hashable] = Counter()
        self._waiting: dict[Share, OrderedDict[str, deque[Step]]] = {}

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
        step = Step(Future(), lambda: function(*arguments, **options))
        whose = share.get()
        with self._lock:
            turn = Share(payer=whose.payer, most=whose.most)
            self._waiting.setdefault(turn, OrderedDict()).setdefault(whose.member, deque()).append(step)
            self._deal()
        return step.future

    def _deal(self) -> None:
        """Give out the free threads; the lock is held."""
        while self._free and (turn := self._next()):
            step = self._taken(turn)
            if step.future.cancelled():
                continue
            try:
                self._pool.submit(self._run, turn, step)
            except RuntimeError:  # the process ends
                step.future.cancel()
                continue
            self._free -= 1
            self._running[turn.payer] += 1

    def _next(self) -> Share | None:
        """Who has fewest threads, of those who wait and may have one more; among equals, who has waited longest."""
        may = [turn for turn in self._waiting if self._running[turn.payer] < turn.most]
        return min(may, key=lambda turn: self._running[turn.payer], default=None)

    def _taken(self, turn: Share) -> Step:
        """The first step of the member whose turn it is; both then stand last again."""
        members = self._waiting.pop(turn)
        step = turns.taken(members)
        if members:
            self._waiting[turn] = members
        return step

    def _run(self, turn: Share, step: Step) -> None:
        try:
            step.run()
        finally:
            with self._lock:
                self._free += 1
                self._running[turn.payer] -= 1
                if not self._running[turn.payer]:
                    del self._running[turn.payer]
                self._deal()


executor = DealtThreads(THREADS, "django")


def returning_connection(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run it as Django runs a request: with a usable connection, which is handed back at the end."""
    close_old_connections()
    try:
        return function(*arguments)
    finally:
        close_old_connections()


async def call(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run blocking work with database access on one of the threads."""
    context = contextvars.copy_context()
    return await promises.awaited(executor.submit(context.run, returning_connection, function, *arguments))


async def compute(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run blocking work without a database on one of the threads. When canceled it is waited for: nobody closes a file
    that is being read."""
    step = executor.submit(function, *arguments)
    try:
        return await promises.awaited(step)
    except asyncio.CancelledError:
        is_over: Future[None] = Future()
        step.add_done_callback(lambda _: is_over.set_result(None))
        await asyncio.wait([promises.awaited(is_over)])
        raise
