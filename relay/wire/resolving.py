"""Resolves upstream names for the relay: a lookup that hangs occupies a thread of its own."""

import asyncio
import socket
import threading
from contextlib import suppress

from aiohttp.abc import AbstractResolver, ResolveResult

from common.outgoing.faults import Failed
from common.outgoing.lookup import OPERATORS

Addresses = list[ResolveResult]


class OperatorsNames(AbstractResolver):
    """The system's resolver on daemon threads, since a lookup that hangs cannot be canceled. Shares its bound with
    other lookups of operators' names (`common/outgoing/lookup.py`)."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolves a name. Raises OSError."""
        try:
            OPERATORS.take(host, seconds=0)
        except Failed as error:
            raise OSError(str(error)) from error
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Addresses] = loop.create_future()
        lookup = Lookup(loop, answer, host, port, family)
        try:
            threading.Thread(target=lookup.run, name="look-up", daemon=True).start()
        except RuntimeError as error:
            OPERATORS.give_back(host)
            raise OSError("no thread can be started") from error
        return await answer

    async def close(self) -> None:
        """Does nothing: no resources are held."""


class Lookup:
    """One lookup on a thread of its own."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        answer: "asyncio.Future[Addresses]",
        host: str,
        port: int,
        family: socket.AddressFamily,
    ) -> None:
        self._loop, self._answer = loop, answer
        self._host, self._port, self._family = host, port, family

    def run(self) -> None:
        try:
            found: Addresses | OSError = self._found()
        except OSError as error:
            found = error
        except UnicodeError:
            found = OSError("the host name is invalid")
        finally:
            OPERATORS.give_back(self._host)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._tell, found)

    def _found(self) -> Addresses:
        answers = socket.getaddrinfo(self._host, self._port, family=self._family, type=socket.SOCK_STREAM)
        return [
            ResolveResult(
                hostname=self._host,
                host=str(address[0]),
                port=self._port,
                family=family,
                proto=proto,
                flags=socket.AI_NUMERICHOST,
            )
            for family, _, proto, _, address in answers
        ]

    def _tell(self, found: Addresses | OSError) -> None:
        if self._answer.done():
            return
        if isinstance(found, OSError):
            self._answer.set_exception(found)
        else:
            self._answer.set_result(found)
