"""Rows of stored files: small pictures from one web process, beside nginx in the same rounds."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench import load, pictures, seed
from bench.files import nginx, store
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Load, LoadPlan, Sample
from bench.service import BenchService
from bench.surroundings import ACCOUNTS, Bench

NGINX = "nginx"
ACCELERATED = "nginx, asking ours (ASSET_ACCEL)"
PICTURES = 500
BYTES = 16 * 1024
CONNECTIONS = 16
NO_KEY = ("none",)

Stored = Sequence[Mapping[str, Any]]


def stored(bench: Bench, service: BenchService) -> Stored:
    """Stores the pictures; returns where they are. Raises RuntimeError."""
    script = [str(bench.python), "-P", str(Path(store.__file__)), str(PICTURES)]
    picture = pictures.png(BYTES)
    answer = subprocess.run(script, cwd=bench.tree, env=service.environment, input=picture, capture_output=True)
    if answer.returncode:
        raise RuntimeError(f"the pictures could not be stored:\n{answer.stderr.decode()}")
    found: Stored = json.loads(answer.stdout)
    return found


def asked(bench: Bench, url: str, paths: Sequence[str], keys: Sequence[str] = NO_KEY) -> Load:
    """Measures GETs of these paths. Raises Incorrect."""
    plan = LoadPlan(url=url, paths=tuple(paths), authorizations=tuple(keys))
    found = load.run(plan, connections=CONNECTIONS, seconds=bench.seconds, folder=bench.folder)
    if found.refused or not found.answered:
        raise Incorrect(f"{found.refused} answers were not 2xx, {found.answered} were")
    return found


def figures(found: Load) -> dict[str, float]:
    return {"rate": found.rate, "p50_ms": found.p50_ms, "p99_ms": found.p99_ms}


def by_nginx(bench: Bench, url: str, files: Stored) -> Sample:
    return Sample(figures=figures(asked(bench, url, [nginx.STORED + each["file"] for each in files])))


def signed(bench: Bench, service: BenchService, url: str, files: Stored) -> dict[str, float]:
    """Measures GETs by signed URLs, and the CPU of the service alone."""
    spent = service.spent()
    found = asked(bench, url, [each["signed"] for each in files])
    return {**figures(found), **service.spent().since(spent).each(found.answered)}


def keyed(bench: Bench, url: str, files: Stored) -> float:
    """Measures GETs with a key. Tasks are dealt to the accounts in turn, on both sides."""
    keys = seed.authorizations(ACCOUNTS)
    return asked(bench, url, [each["keyed"] for each in files], [keys[each["account"] - 1] for each in files]).rate


def ours(bench: Bench, service: BenchService, files: Stored) -> Sample:
    url = service.base_url
    return Sample(figures={**signed(bench, service, url, files), "keyed_rate": keyed(bench, url, files)})


@contextmanager
def small(bench: Bench, *, is_postgresql: bool) -> Iterator[Contest]:
    with ExitStack() as stack:
        url = stack.enter_context(bench.database() if is_postgresql else bench.sqlite())
        service = stack.enter_context(bench.service(url, WEB_CONCURRENCY="1"))
        same = {name: service.environment[name] for name in ("ASSET_STORAGE", "WEB_CONCURRENCY")}
        leaving = stack.enter_context(bench.service(url, ASSET_ACCEL=nginx.INTERNAL, **same))
        files, folder = stored(bench, service), Path(urlsplit(same["ASSET_STORAGE"]).path)
        for each in (service, leaving):
            each.start_web()
        proxy = stack.enter_context(nginx.running(bench, files=folder, service=urlsplit(leaving.base_url).netloc))
        ours(bench, service, files)
        yield {
            NGINX: partial(by_nginx, bench, proxy, files),
            OURS: partial(ours, bench, service, files),
            ACCELERATED: lambda: Sample(figures=signed(bench, leaving, proxy, files)),
        }


ROWS = [
    BenchRow(
        name=f"files-{database.lower()}",
        what=f"stored pictures of {BYTES // 1024} KiB by signed URLs and with keys, c={CONNECTIONS}, one web process, "
        f"{database}",
        goals=(
            Goal(figure="rate", against=NGINX, at_least=0.1),
            Goal(figure="keyed_rate", against=NGINX, against_figure="rate", at_least=0.1),
        ),
        quick_seconds=40,
        contest=partial(small, is_postgresql=database == "PostgreSQL"),
    )
    for database in ("SQLite", "PostgreSQL")
]
