"""Checks of the `doctor` command: each finding says what to do. Nothing is changed."""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.http.request import validate_host
from django.utils import timezone

from adapters import registry
from catalog import checks as catalog_checks
from catalog import credentials, pausing, standing
from catalog.health import words as health_words
from catalog.models import Channel, Credential
from common import sql, urls
from common.database import schema
from common.errors import StorageUnavailable
from desk.commands import reencryption, refused_fields
from desk.kit import in_use
from storage import blobs as assets
from tasks import leases
from tasks.models import ServiceState

OLDEST_POSTGRESQL = 140_000
OLDEST_SQLITE = (3, 35, 0)
SHORTEST_TOKEN = 16
CONNECT_SECONDS = 3.0
PORTS = {"http": 80, "https": 443}
PROBE = b"probe"
MOST_FIELDS = 50
FIELD_ADVICE = "name it in `extra_fields` of the channel model if you pay for it, else tell those who send it"
PROMPT_ADVICE = "tell those who send it: it holds a command that the model would obey, or is too long"

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Finding of one check; `advice` says what to do and is empty if nothing is needed."""

    check: str
    level: Level
    message: str
    advice: str


Remark = tuple[Level, str, str]
"""Level, message and advice of a check."""


def ok(message: str) -> Remark:
    return "ok", message, ""


def warning(message: str, advice: str) -> Remark:
    return "warning", message, advice


def error(message: str, advice: str) -> Remark:
    return "error", message, advice


def examine() -> list[Finding]:
    """Run all checks; without a usable database, skip those that read it."""
    found = list(findings(CHECKS))
    if not any(finding.check == "database" and finding.level == "error" for finding in found):
        found += findings(CHECKS_IN_DATABASE)
    return found


def findings(checks: "Mapping[str, Check]") -> Iterator[Finding]:
    for name, check in checks.items():
        for level, message, advice in check():
            yield Finding(check=name, level=level, message=message, advice=advice)


def configuration() -> Iterator[Remark]:
    base = urlsplit(settings.PUBLIC_BASE_URL)
    host = base.hostname or ""
    if settings.DEVELOPMENT:
        yield (warning if urls.is_loopback(host) else error)("DEBUG is on", "unset it outside development")
    if not validate_host(host, settings.ALLOWED_HOSTS):
        message = f"ALLOWED_HOSTS does not admit {host!r}, the host of PUBLIC_BASE_URL"
        yield error(message, "add it to ALLOWED_HOSTS")
    if "*" in settings.ALLOWED_HOSTS:
        yield warning("ALLOWED_HOSTS admits any host", "name your hosts")
    if base.scheme != "https" and not urls.is_loopback(host):
        advice = "put a proxy with a certificate before it and set PUBLIC_BASE_URL to its https:// address"
        yield warning("keys travel in the clear over http://", advice)
    if 0 < len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        yield warning("METRICS_TOKEN is short", f"take {SHORTEST_TOKEN} or more random characters")
    yield ok(f"serves {settings.PUBLIC_BASE_URL}")


def adapters() -> Iterator[Remark]:
    """Report adapters of installed packages that were not loaded."""
    advice = "correct or remove its package, then restart; a channel that needs it runs nothing until then"
    for name, why in registry.SKIPPED.items():
        yield warning(f"{name} was not loaded: {why}", advice)
    yield ok(f"{len(registry.ADAPTERS)} are registered")


def storage() -> Iterator[Remark]:
    """Write, read and delete a probe where assets go."""
    try:
        stored = assets.put([PROBE], max_bytes=len(PROBE))
        with assets.open(stored.key) as file:
            is_whole = file.read() == PROBE
        assets.delete(stored.key)
    except StorageUnavailable as fault:
        advice = "see the log line above for the cause; check ASSET_STORAGE, its rights and its space"
        yield error(str(fault.__cause__ or fault), advice)
        return
    if is_whole:
        yield ok("a probe was written, read and deleted")
    else:
        yield error("a probe came back changed", "check the disk or bucket")


def database() -> Iterator[Remark]:
    try:
        yield from _version()
        mismatch = schema.read().mismatch()
    except DatabaseError as fault:
        yield error(str(fault).splitlines()[0], "check DATABASE_URL and that its server runs")
        return
    if mismatch:
        message, _, advice = mismatch.partition(": ")
        yield error(message, advice)
    else:
        yield ok(f"{connection.display_name}, all migrations applied")


def _version() -> Iterator[Remark]:
    if sql.is_postgresql():
        found = int(sql.value("SHOW server_version_num"))
        if found < OLDEST_POSTGRESQL:
            yield error(f"PostgreSQL {found // 10_000}", "use 14 or newer")
        return
    version = str(sql.value("SELECT sqlite_version()"))
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        yield error(f"SQLite {version}", "use 3.35 or newer")
    mode = sql.value("PRAGMA journal_mode")
    if mode != "wal":
        advice = "put the database on a local disk: web and workers wait for each other without write-ahead logging"
        yield warning(f"SQLite's journal mode is {mode}", advice)


def channels() -> Iterator[Remark]:
    """Check each enabled channel: a credential is enabled and decrypts, and its host accepts a connection."""
    for channel in Channel.objects.filter(enabled=True).order_by("name"):
        rows = credentials.current(channel.pk)
        if fault := _credential_fault(rows, channel) or _address_fault(channel.base_url):
            reason, advice = fault
            yield error(f"{channel.name}: {reason}", advice)
        else:
            yield ok(f"{channel.name}: its credential opens and its host answers")
        for row in rows:
            if row.disabled_at is not None:
                yield warning(f"{channel.name}: {standing.disabled(row)}", standing.advice(row))
            elif row.suspected_at is not None:
                yield warning(f"{channel.name}: {health_words.suspected(row)}", "wait for the probe")
        for rest in health_words.of_channel(channel, timezone.now()):
            yield warning(f"{channel.name}: {rest}", "fix it at the provider, then end its rests on its page")


def pauses() -> Iterator[Remark]:
    """Remind of channels and models that an operator paused or drained."""
    found = list(pausing.halted())
    for row in found:
        yield warning(
            f"{pausing.told(row)}. {pausing.MEANING[pausing.standing(row)]}", "resume it on its page in the admin"
        )
    if not found:
        yield ok("no channel and no model is paused or drained")


def jobs() -> Iterator[Remark]:
    """Check that each followed paid job still has a credential to poll it with."""
    found = list(in_use.lacking())
    for lack in found:
        yield error(
            f"{lack.channel}: no credential of {lack.origin} is left for {lack.jobs} paid jobs, such as {lack.task_id}",
            "point the channel back there with that secret, and move it again; else they end at their deadlines",
        )
    if not found:
        yield ok("each paid job that is followed has a credential of its origin")


def keys() -> Iterator[Remark]:
    """Report which of ENCRYPTION_KEYS the stored secrets need."""
    found = reencryption.survey()
    if older := sum(found.under_older.values()):
        yield warning(
            f"{older} secrets are under an older key of ENCRYPTION_KEYS", "keep it, and run `manage.py reencrypt`"
        )
    for closed in found.closed:
        yield warning(f"no key of ENCRYPTION_KEYS opens {closed}", "restore its key, or enter the secret again")
    if not older and not found.closed:
        yield ok("every stored secret is under the first of ENCRYPTION_KEYS")


def _credential_fault(rows: Sequence[Credential], channel: Channel) -> tuple[str, str] | None:
    enabled = [row for row in rows if row.disabled_at is None]
    if strays := [row for row in rows if row.origin != urls.origin(channel.base_url)]:
        return standing.elsewhere(strays[0]), "enter the secret on the channel's page, or load it with the catalog file"
    if not enabled:
        return "it has no enabled credential", "give it one in the admin or by `manage.py load_catalog`"
    if any(credentials.readable(row.ciphertext) is None for row in enabled):
        advice = "put the key that encrypted it back into ENCRYPTION_KEYS, or enter the credential again"
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


def catalog() -> Iterator[Remark]:
    # `channels` checks the channels.
    problems = [problem for problem in catalog_checks.problems() if not problem.startswith("channel ")]
    for problem in problems:
        yield warning(problem, "correct it in the admin or the file")
    if not problems:
        yield ok("every enabled model has a price and a route, and every group prices and a channel")


def service() -> Iterator[Remark]:
    """Check that the API is on and that a worker is alive."""
    state = ServiceState.objects.first()
    if state and state.api_disabled:
        yield warning("the Task API is off", "run `manage.py enable_api`")
    elif state and state.paused:
        yield warning("submissions are paused", "run `manage.py resume`")
    if alive := leases.alive():
        yield ok(f"{alive} workers alive")
    else:
        yield warning("no worker is alive", "start one: `manage.py run_worker`")


def fields() -> Iterator[Remark]:
    """Report fields that customers sent in the last 30 days and that would be refused now."""
    found = refused_fields.survey()
    listed = found.refused.most_common(MOST_FIELDS)
    for (channel, model, path), count in listed:
        message = f"{channel}, {model}: {path} would be refused now; it is in {count} tasks of the last 30 days"
        yield warning(message, PROMPT_ADVICE if path == "params.prompt" else FIELD_ADVICE)
    if more := len(found.refused) - len(listed):
        yield warning(f"{more} more fields would be refused now", "fix these first, then run this again")
    sample = "" if found.is_whole else ", the newest alone"
    none = "" if listed else ": no field of theirs would be refused now"
    yield ok(f"read {found.tasks} tasks of the last 30 days{sample}{none}")


Check = Callable[[], Iterator[Remark]]
CHECKS: Mapping[str, Check] = {
    "configuration": configuration,
    "adapters": adapters,
    "storage": storage,
    "database": database,
}
CHECKS_IN_DATABASE: Mapping[str, Check] = {
    "channels": channels,
    "pauses": pauses,
    "jobs": jobs,
    "secrets": keys,
    "catalog": catalog,
    "fields": fields,
    "service": service,
}
