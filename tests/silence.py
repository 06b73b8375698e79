"""A name server that says nothing: lookups that hang until a test has seen what it wanted."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from common.outgoing.faults import Failed
from common.outgoing.lookup import Chooser, look_up
from tests.threads import joined
from tools.children import PATIENCE, wait_until

HOST = "silent.example.com"


@contextmanager
def hanging(chooser: Chooser, times: int) -> Iterator[list[str]]:
    """So many lookups of one chooser hang meanwhile; the list grows by the names for which the resolver is asked."""
    asked: list[str] = []
    over = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        over.wait(PATIENCE)
        return []

    def ask() -> None:
        with suppress(Failed):
            look_up(resolve, HOST, 443, chosen_by=chooser, seconds=PATIENCE)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(times)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(asked) >= min(times, chooser.pool.each), what="the lookups that hang")
        yield asked
    finally:
        over.set()
        joined(*threads)
        wait_until(lambda: not chooser.pool._held[chooser.holder or HOST], what="the seats to be given back")
