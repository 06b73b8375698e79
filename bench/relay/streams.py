"""Measures many chat streams at once: of the upstream itself, LiteLLM and our service."""

import json
import subprocess

from bench.lateness import percentile
from bench.model import Incorrect, Sample
from bench.relay import books, started, upstream
from bench.service import BenchService
from bench.surroundings import Bench
from tools.stack import MANAGE, ROOT

STREAMS = 64
WAVES, QUICK_WAVES = 6, 1
LONGEST_RUN = 240.0


def run(bench: Bench, url: str, key: str = "") -> Sample:
    """Runs a client in its own process. Raises Incorrect if a stream did not end properly."""
    waves = QUICK_WAVES if bench.is_quick else WAVES
    much = ["--streams", str(STREAMS), "--waves", str(waves), *(["--key", key] if key else [])]
    command = [MANAGE[0], "-m", "bench.relay.stream_lags", url, *much]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_RUN)
    if said.returncode:
        raise Incorrect(f"the client of the streams: {said.stderr.strip()[-300:]}")
    told = json.loads(said.stdout)
    if told["well"] != told["streams"]:
        raise Incorrect(f"{told['streams'] - told['well']} streams ended badly: {said.stderr[:300]}")
    return Sample(figures=figures(told["lags"]))


def figures(lags: dict[str, list[float]]) -> dict[str, float]:
    """Returns figures in milliseconds: median and 95th percentile of the first frames, and others of interest."""
    return {
        "first_p50_ms": percentile(lags["first"], 0.5),
        "first_p95_ms": percentile(lags["first"], 0.95),
        "frame_p50_ms": percentile(lags["every"], 0.5),
        "frame_p99_ms": percentile(lags["every"], 0.99),
        "begun_p50_ms": percentile(lags["begun"], 0.5),
        "end_p50_ms": percentile(lags["end"], 0.5),
    }


def direct(bench: Bench) -> Sample:
    return run(bench, started.kept_upstream(bench).url, upstream.KEY)


def litellm(bench: Bench) -> Sample:
    """Measures LiteLLM. Raises Missing."""
    proxy = started.kept_proxy(bench)
    with proxy.awake():
        return run(bench, proxy.url, proxy.master_key)


def ours(bench: Bench, service: BenchService) -> Sample:
    """Measures our service with one key for each stream, and checks that each is charged, none by an estimate. Raises
    Incorrect."""
    before, spent = books.counts(service), service.spent()
    sample = run(bench, service.base_url)
    count = STREAMS * (QUICK_WAVES if bench.is_quick else WAVES)
    cpu = service.spent().since(spent).each(count)
    books.settle(service)
    books.check(service, before=before, answered=count, in_flight=0)
    return Sample(figures={**sample.figures, **cpu})
