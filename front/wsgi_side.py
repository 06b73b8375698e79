"""Gives a whole request to Django's WSGI handler and takes a whole answer; of a long stream its beginning.

It holds a thread only while Django computes; slow uploads and slow readers are left to the event loop.
"""

import contextvars
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from typing import Any

from a2wsgi.wsgi import build_environ

from common.concurrency import promises, threads
from common.database import query_deadline
from common.http.asgi import ENVIRON, REPEATED_HEADERS, Answer, Headers, Scope, joined
from common.http.front_body import Body
from front import django_application
from front.streamed import BodyPieces, StreamedAnswer

BODILESS = (204, 304)
NONE: frozenset[str] = frozenset()


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

    is_api = scope["path"].startswith("/v1/")
    django = django_application.api if is_api else django_application.application
    with query_deadline.limited():
        response = django(environ_of(scope, body), start_response)
        status, headers = start[-1]
        return begun(status, headers, response) if response.streaming else whole(status, headers, response)


def whole(status: int, headers: list[tuple[str, str]], response: Any) -> Answer:
    with closing(response):
        return answer_of(status, headers, b"".join(response))


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
        return answer_of(status, headers, first)
    return StreamedAnswer(status=status, headers=raw(headers), body=first, pieces=pieces)


def _refuse_write(chunk: bytes) -> None:
    raise NotImplementedError("Django never uses WSGI's write callable")


def environ_of(scope: Scope, body: Body) -> dict[str, Any]:
    """WSGI's view of the request, with the length of its body however that came in."""
    environ: dict[str, Any] = dict(build_environ(scope, body.file))  # type: ignore[arg-type]
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    own = {"wsgi.input": body.file, "wsgi.errors": sys.stderr, "CONTENT_LENGTH": str(body.size)}
    # WSGI would join one with underscores to it, which no proxy has written.
    own["HTTP_X_FORWARDED_FOR"] = joined(scope["headers"], b"x-forwarded-for")
    return {**environ, **own, REPEATED_HEADERS: repeated(scope), **scope.get(ENVIRON, {})}


def repeated(scope: Scope) -> frozenset[str]:
    """The lower-case names of the headers that came more than once; WSGI takes an underscore for a hyphen."""
    names = [name.decode("latin-1").replace("_", "-") for name, _ in scope["headers"]]
    if len(set(names)) == len(names):
        return NONE
    return frozenset(name for name, count in Counter(names).items() if count > 1)


def answer_of(status: int, headers: list[tuple[str, str]], content: bytes) -> Answer:
    own = raw(headers)
    if status not in BODILESS and not any(name == b"content-length" for name, _ in own):
        own += ((b"content-length", str(len(content)).encode()),)
    return Answer(status=status, headers=own, body=b"" if status in BODILESS else content)


def raw(headers: list[tuple[str, str]]) -> Headers:
    return tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers)
