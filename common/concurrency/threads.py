"""The long-lived threads of a web process: Django's requests and the asynchronous side's look-ups share them.

Each payer has at most half of them, and whoever has fewest gets the next one, so that nobody waits behind the requests
of somebody else. A running request cannot be taken back; therefore the bound holds also while nobody waits.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import close_old_connections

from common.concurrency import promises
from common.concurrency.sharing import FairQueue, Holdings

Result = TypeVar("Result")

THREADS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The payer of some work, who holds at most `most` threads, and the member of it whose turn counts."""

    payer: Hashable
    member: str = ""
    most: int = THREADS // 2


def of_account(account_id: int) -> Share:
    return Share(payer=account_id)


def of_nobody(payer: str, member: str = "") -> Share:
    """The share of work whose account is not known yet, or that has none: a smaller one, since it may be anybody's."""
    return Share(payer=payer, member=member, most=THREADS // 4)


SERVICE = Share(payer="service")
share: contextvars.ContextVar[Share] = contextvars.ContextVar("share", default=SERVICE)


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work, the promise of its result, and whose it is."""

    future: "Future[Any]"
    work: Callable[[], Any]
    payer: Hashable
    most: int

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
    """Runs work on a number of threads. The share that is set where work is submitted says who pays for it."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._threads = threads
        self._running = Holdings()
        self._waiting: FairQueue[Step] = FairQueue()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> "Future[Any]":
        whose = share.get()
        step = Step(Future(), lambda: function(*arguments, **options), whose.payer, whose.most)
        with self._lock:
            self._waiting.put(step, whose.payer, whose.member)
            self._deal()
        return step.future

    def _deal(self) -> None:
        """Give out the free threads; the lock is held."""
        while self._running.total() < self._threads and (payer := self._next()) is not None:
            step = self._waiting.take(payer)
            if step.future.cancelled():
                continue
            try:
                self._pool.submit(self._run, step)
            except RuntimeError:  # the process ends
                step.future.cancel()
                continue
            self._running.take(payer)

    def _next(self) -> Hashable | None:
        """Find the payer with the fewest threads, of those who wait and may have one more; among equals, the one who
        has waited longest."""
        may = [payer for payer in self._waiting if self._may_have_one(payer)]
        return min(may, key=lambda payer: self._running[payer], default=None)

    def _may_have_one(self, payer: Hashable) -> bool:
        return self._running.fits(payer, most=self._waiting.first(payer).most)

    def _run(self, step: Step) -> None:
        try:
            step.run()
        finally:
            with self._lock:
                self._running.give_back(step.payer)
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
