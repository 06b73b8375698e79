"""Looks an installation over and says what to do about what it finds; changes nothing."""

import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http.request import validate_host

from adapters import registry
from catalog import checks as catalog_checks
from catalog import credentials, standing
from catalog.models import Channel, Credential
from common import sql
from common.errors import StorageUnavailable
from storage import blobs as assets
from tasks import leases
from tasks.models import ServiceState

OLDEST_POSTGRESQL = 140_000
OLDEST_SQLITE = (3, 35, 0)
SHORTEST_TOKEN = 16
CONNECT_SECONDS = 3.0
PORTS = {"http": 80, "https": 443}
PROBE = b"probe"

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found; `advice` says what to do and is empty where nothing is."""

    check: str
    level: Level
    message: str
    advice: str = ""


def examine() -> list[Finding]:
    """All checks; those that read the database are left out while it is of no use."""
    found = [*configuration(), *adapters(), *storage(), *database()]
    if not any(finding.check == "database" and finding.level == "error" for finding in found):
        found += [finding for check in IN_DATABASE for finding in check()]
    return found


def configuration() -> Iterator[Finding]:
    base = urlsplit(settings.PUBLIC_BASE_URL)
    host = base.hostname or ""
    if settings.DEVELOPMENT:
        level: Level = "warning" if is_loopback(host) else "error"
        yield Finding(check="configuration", level=level, message="DEBUG is on", advice="unset it outside development")
    if not validate_host(host, settings.ALLOWED_HOSTS):
        message = f"ALLOWED_HOSTS does not admit {host!r}, the host of PUBLIC_BASE_URL"
        yield Finding(check="configuration", level="error", message=message, advice="add it to ALLOWED_HOSTS")
    if "*" in settings.ALLOWED_HOSTS:
        yield Finding(
            check="configuration", level="warning", message="ALLOWED_HOSTS admits any host", advice="name your hosts"
        )
    if base.scheme != "https" and not is_loopback(host):
        advice = "put a proxy with a certificate before it and set PUBLIC_BASE_URL to its https:// address"
        yield Finding(
            check="configuration", level="warning", message="keys travel in the clear over http://", advice=advice
        )
    if 0 < len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        yield Finding(
            check="configuration",
            level="warning",
            message="METRICS_TOKEN is short",
            advice=f"take {SHORTEST_TOKEN} or more random characters",
        )
    yield Finding(check="configuration", level="ok", message=f"serves {settings.PUBLIC_BASE_URL}")


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def adapters() -> Iterator[Finding]:
    """The adapters of installed packages that were not loaded."""
    for name, why in registry.SKIPPED.items():
        yield Finding(
            check="adapters",
            level="warning",
            message=f"{name} was not loaded: {why}",
            advice="correct or remove its package, then restart; a channel that needs it runs nothing until then",
        )
    yield Finding(check="adapters", level="ok", message=f"{len(registry.ADAPTERS)} are registered")


def storage() -> Iterator[Finding]:
    """Write, read and delete a probe where assets go."""
    try:
        stored = assets.put([PROBE], max_bytes=len(PROBE))
        with assets.open(stored.key) as file:
            is_whole = file.read() == PROBE
        assets.delete(stored.key)
    except StorageUnavailable as error:
        advice = "see the log line above for the cause; check ASSET_STORAGE, its rights and its space"
        yield Finding(check="storage", level="error", message=str(error.__cause__ or error), advice=advice)
        return
    if is_whole:
        yield Finding(check="storage", level="ok", message="a probe was written, read and deleted")
    else:
        yield Finding(
            check="storage", level="error", message="a probe came back changed", advice="check the disk or bucket"
        )


def database() -> Iterator[Finding]:
    try:
        yield from _version()
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        advice = "check DATABASE_URL and that its server runs"
        yield Finding(check="database", level="error", message=str(error).splitlines()[0], advice=advice)
        return
    if pending:
        yield Finding(
            check="database",
            level="error",
            message=f"{len(pending)} migrations are not applied",
            advice="run `manage.py migrate`",
        )
    else:
        yield Finding(check="database", level="ok", message=f"{connection.display_name}, all migrations applied")


def _version() -> Iterator[Finding]:
    if sql.is_postgresql():
        found = int(sql.fetch("SHOW server_version_num")[0][0])
        if found < OLDEST_POSTGRESQL:
            yield Finding(
                check="database", level="error", message=f"PostgreSQL {found // 10_000}", advice="use 14 or newer"
            )
        return
    version = str(sql.fetch("SELECT sqlite_version()")[0][0])
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        yield Finding(check="database", level="error", message=f"SQLite {version}", advice="use 3.35 or newer")
    mode = sql.fetch("PRAGMA journal_mode")[0][0]
    if mode != "wal":
        advice = "put the database on a local disk: web and workers wait for each other without write-ahead logging"
        yield Finding(check="database", level="warning", message=f"SQLite's journal mode is {mode}", advice=advice)


def channels() -> Iterator[Finding]:
    """Each enabled channel: its credentials open, at least one is enabled, and its host takes a connection."""
    for channel in Channel.objects.filter(enabled=True).order_by("name"):
        rows = credentials.of_channel(channel.pk)
        fault, advice = _credential_fault(rows) or _address_fault(channel.base_url) or ("", "")
        message = f"{channel.name}: {fault or 'its credential opens and its host answers'}"
        yield Finding(check="channels", level="error" if fault else "ok", message=message, advice=advice)
        for row in rows:
            if row.disabled_at is not None:
                message = f"{channel.name}: {standing.disabled(row)}"
                yield Finding(check="channels", level="warning", message=message, advice=standing.advice(row))


def _credential_fault(rows: Sequence[Credential]) -> tuple[str, str] | None:
    enabled = [row for row in rows if row.disabled_at is None]
    if not enabled:
        return "it has no enabled credential", "give it one in the admin or by `manage.py load_catalog`"
    if any(credentials.readable(row.ciphertext) is None for row in enabled):
        advice = "put the key that encrypted it back into ENCRYPTION_KEYS, or give the channel its credential anew"
        return "no key of ENCRYPTION_KEYS opens its credential", advice
    return None


def _address_fault(base_url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(base_url)
        address = (parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))
        socket.create_connection(address, timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        return f"no connection to {base_url}: {error}", "check its base_url, its name and the firewall, or disable it"
    return None


def catalog() -> Iterator[Finding]:
    # Problems of channels are the check before this one.
    problems = [problem for problem in catalog_checks.problems() if not problem.startswith("channel ")]
    for problem in problems:
        yield Finding(check="catalog", level="warning", message=problem, advice="correct it in the admin or the file")
    if not problems:
        yield Finding(check="catalog", level="ok", message="every enabled model has a price and a route")


def service() -> Iterator[Finding]:
    """What is switched off, and whether anybody does the work."""
    state = ServiceState.objects.first()
    if state and state.api_disabled:
        yield Finding(
            check="service", level="warning", message="the Task API is off", advice="run `manage.py enable_api`"
        )
    elif state and state.paused:
        yield Finding(
            check="service", level="warning", message="submissions are paused", advice="run `manage.py resume`"
        )
    if alive := leases.alive():
        yield Finding(check="service", level="ok", message=f"{alive} workers alive")
    else:
        advice = "start one: `manage.py run_worker`"
        yield Finding(check="service", level="warning", message="no worker is alive", advice=advice)


IN_DATABASE: tuple[Callable[[], Iterator[Finding]], ...] = (channels, catalog, service)
