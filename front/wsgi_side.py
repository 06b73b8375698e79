"""Gives a whole request to Django's WSGI handler and takes a whole answer; of a long stream its beginning.

It holds a thread only while Django computes; slow uploads and slow readers are left to the event loop.
"""

import contextvars
from collections.abc import Callable
from contextlib import closing
from typing import Any

from common.concurrency import promises, threads
from common.http.asgi import Answer, Scope
from common.http.front_body import Body
from front import django_application
from front.streamed import BodyPieces, StreamedAnswer


async def ask(scope: Scope, body: Body) -> Answer:
    """Django's answer. The body is closed, also where the client leaves before its turn has come."""
    await body.unfold()
    context = contextvars.copy_context()
    answer = threads.executor.submit(context.run, run, scope, body)
    answer.add_done_callback(lambda _: body.close())
    return await promises.awaited(answer)


def run(scope: Scope, body: Body) -> Answer:
    """Django's answer, computed on this thread."""
    start: list[tuple[int, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> Callable[[bytes], Any]:
        start.append((int(status[:3]), headers))
        return _refuse_write

    response = django_application.application(django_application.environ_of(scope, body), start_response)
    status, headers = start[-1]
    return begun(status, headers, response) if response.streaming else whole(status, headers, response)


def whole(status: int, headers: list[tuple[str, str]], response: Any) -> Answer:
    with closing(response):
        return django_application.answer_of(status, headers, b"".join(response))


def begun(status: int, headers: list[tuple[str, str]], response: Any) -> Answer:
    """A stream that ends within its first piece is whole; what follows that of a longer one is made as it is sent."""
    pieces = BodyPieces(response)
    try:
        first = threads.returning_connection(pieces.read)
    except BaseException:
        pieces.close()
        raise
    if pieces.is_over:
        pieces.close()
        return django_application.answer_of(status, headers, first)
    return StreamedAnswer(status=status, headers=django_application.raw(headers), body=first, pieces=pieces)


def _refuse_write(chunk: bytes) -> None:
    raise NotImplementedError("Django never uses WSGI's write callable")
