"""`/healthz`, `/readyz` and `/metrics`, on a thread of their own, so that they answer when all others are busy."""

import asyncio
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hmac import compare_digest
from typing import TypeVar

from django.conf import settings

from common import sql, urls
from common.concurrency import threads
from common.errors import MethodNotAllowed, ServiceUnavailable, TaskNotFound
from common.http.asgi import Answer, Receive, Scope, Send, error_answer, header, json_answer
from common.http.dialects import RETRY_AFTER_SECONDS
from storage import backends
from tasks import leases
from tasks_api import metrics

PATHS = ("/healthz", "/readyz", "/metrics")
CHECK_SECONDS = 5.0
SCRAPE_SECONDS = 20.0
OK = "ok"
RETRY = ((b"retry-after", str(RETRY_AFTER_SECONDS).encode()),)
FORWARDED = re.compile(rb"forwarded|x-forwarded-.*|via|x-real-ip|x-client-ip|x-original-.*|true-client-ip|cf-.*")

Result = TypeVar("Result")
logger = logging.getLogger(__name__)
executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="health")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI endpoint of the three paths."""
    if scope["method"] not in ("GET", "HEAD"):
        refused = MethodNotAllowed("This path does not take that method.", headers={"Allow": "GET, HEAD"})
        await error_answer(refused).send(send)
    elif scope["path"] == "/healthz":
        await json_answer(200, {"status": OK}).send(send)
    elif scope["path"] == "/readyz":
        await (await readiness()).send(send)
    else:
        await (await scrape(scope)).send(send)


async def readiness() -> Answer:
    """200 while tasks can be taken and run, else 503; either way with the verdict of each check."""
    checks = {name: await _verdict(name, check) for name, check in CHECKS.items()}
    if all(verdict == OK for verdict in checks.values()):
        return json_answer(200, {"status": "ready", "checks": checks})
    return json_answer(503, {"status": "unavailable", "checks": checks}, headers=RETRY)


async def _verdict(name: str, check: Callable[[], str]) -> str:
    try:
        return await asyncio.wait_for(_apart(check), CHECK_SECONDS)
    except TimeoutError:
        return "no answer in time"
    except Exception as error:
        # Whatever a driver or a library raises is an answer: not ready.
        logger.warning("not ready: %s: %s: %s", name, type(error).__name__, error)
        return "unavailable"


def _apart(function: Callable[[], Result]) -> asyncio.Future[Result]:
    return asyncio.get_running_loop().run_in_executor(executor, threads.returning_connection, function)


def database() -> str:
    sql.fetch("SELECT 1")
    return OK


def storage() -> str:
    backends.health().check()
    return OK


def worker() -> str:
    """A worker whose heartbeat is within its lease, by the database's clock."""
    return OK if leases.alive() else "no live worker: start `manage.py run_worker`"


CHECKS: dict[str, Callable[[], str]] = {"database": database, "storage": storage, "worker": worker}


async def scrape(scope: Scope) -> Answer:
    """Prometheus' text format, for the machine itself and for holders of METRICS_TOKEN; 404 for anybody else."""
    if not may_scrape(scope):
        return error_answer(TaskNotFound("Unknown path."))
    try:
        body = await asyncio.wait_for(_apart(metrics.exposition), SCRAPE_SECONDS)
    except TimeoutError:
        return error_answer(ServiceUnavailable())
    headers = ((b"content-type", metrics.CONTENT_TYPE.encode()), (b"content-length", str(len(body)).encode()))
    return Answer(status=200, headers=headers, body=body)


def may_scrape(scope: Scope) -> bool:
    """With METRICS_TOKEN its holders and nobody else; without one the machine itself, where nothing says that a proxy
    speaks for somebody else: neither a forwarding header nor a Host by which others know us."""
    headers = scope["headers"]
    if settings.METRICS_TOKEN:
        scheme, _, token = header(headers, b"authorization").partition(" ")
        is_bearer = scheme.lower() == "bearer"
        return compare_digest(token.strip().encode("latin-1"), settings.METRICS_TOKEN.encode()) and is_bearer
    if any(FORWARDED.fullmatch(name.replace(b"_", b"-")) for name, _ in headers):
        return False
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    peer = scope.get("client")
    return peer is not None and urls.is_loopback(peer[0]) and len(hosts) == 1 and _is_loopback_host(hosts[0])


def _is_loopback_host(host: str) -> bool:
    """Whether a Host header names this machine itself, with any port."""
    named = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([^:]+))(?::[0-9]*)?", host.strip().lower())
    return named is not None and urls.is_loopback(named[1] or named[2])
