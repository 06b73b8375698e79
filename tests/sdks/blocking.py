"""Asynchronous clients of any vendor, called as their blocking siblings are, so that one program serves both."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Blocking:
    """What belongs to an asynchronous client: its calls, streams and contexts are run to their end."""

    def __init__(self, target: Any, runner: asyncio.Runner) -> None:
        self._target, self._runner = target, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return self._calling(found) if callable(found) else self._shown(found)

    def __iter__(self) -> Iterator[Any]:
        iterator = aiter(self._target)
        while (item := self._runner.run(ended(anext(iterator, self)))) is not self:
            yield item

    def __enter__(self) -> Any:
        return self._shown(self._runner.run(ended(self._target.__aenter__())))

    def __exit__(self, *exception: object) -> None:
        self._runner.run(ended(self._target.__aexit__(*exception)))

    def _calling(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def called(*arguments: Any, **options: Any) -> Any:
            answer = method(*arguments, **options)
            return await answer if inspect.isawaitable(answer) else answer

        return lambda *arguments, **options: self._shown(self._runner.run(called(*arguments, **options)))

    def _shown(self, value: Any) -> Any:
        is_asynchronous = hasattr(value, "__aiter__") or hasattr(value, "__aenter__")
        return Blocking(value, self._runner) if is_asynchronous or type(value).__name__.startswith("Async") else value


async def ended(awaitable: Any) -> Any:
    return await awaitable


@contextmanager
def run_to_its_end(client: Any, close: str = "close") -> Iterator[Blocking]:
    """An asynchronous client on an event loop of its own, until the block ends."""
    with asyncio.Runner() as runner:
        try:
            yield Blocking(client, runner)
        finally:
            runner.run(ended(getattr(client, close)()))


def raised(kind: type[BaseException], ask: Callable[[], Any]) -> Any:
    """The error of this class, or of one below it."""
    try:
        answer = ask()
    except kind as error:
        return error
    raise AssertionError(f"no error but {answer!r:.200}")
