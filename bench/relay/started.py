"""Starts what the rows about relayed calls need: the upstream, a service whose group leads to it, and general keys."""

import json
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from bench.model import Missing
from bench.relay import general_keys, litellm_proxy, preloaded, upstream
from bench.relay.litellm_proxy import Proxy
from bench.service import BenchService
from bench.surroundings import Bench
from tools.children import Child
from tools.stack import ROOT

KEYS = 100
TASKS = 1_000
"""Number of the seed's accounts that call, each with one general key."""
GROUP = "bench"
OFFER = """
version: 1
groups:
  - name: {group}
    platform: openai
    image_generation: true
    models: [{chat}, {image}]
    prices: {{"{chat}": {{input: 0.15, output: 0.6, cached_input: 0.075, max_output_tokens: 16384}}}}
    image_prices: {{"{image}": 0.04}}
    channels: [{{base_url: "{url}/v1", credentials: {{api_key: {key}}}}}]
"""


class Upstream:
    """The upstream in its process."""

    def __init__(self, bench: Bench) -> None:
        command = (sys.executable, "-m", "bench.relay.upstream")
        self.child = Child("upstream", command, environment={}, log=bench.folder / "upstream.log", folder=ROOT)
        self.url = self.child.wait_for_line(r"upstream listening on (\S+)")[1]

    def seen(self) -> dict[str, int]:
        """Returns how many calls of each kind have arrived."""
        with urllib.request.urlopen(f"{self.url}/_/report", timeout=30) as answer:
            found: dict[str, int] = json.load(answer)
        return found


@contextmanager
def started_upstream(bench: Bench) -> Iterator[Upstream]:
    started = Upstream(bench)
    try:
        yield started
    finally:
        started.child.stop()


def kept_upstream(bench: Bench) -> Upstream:
    """Returns the upstream, one for all rows of a run."""
    return bench.keep("upstream", started_upstream(bench))


def kept_proxy(bench: Bench) -> Proxy:
    """Returns LiteLLM selling the upstream's models, one for all rows of a run. Raises Missing."""
    return bench.keep("litellm", litellm_proxy.running(bench, kept_upstream(bench).url))


def keys() -> tuple[str, ...]:
    """Returns the general keys."""
    return tuple(general_keys.secret(number) for number in range(KEYS))


def kept_service(bench: Bench) -> BenchService:
    """Returns the service, one for all rows of a run. Raises Missing for a tree without a relay."""
    if not (bench.tree / "relay" / "application.py").exists():
        raise Missing("a relay")
    return bench.keep("relaying", relaying(bench))


@contextmanager
def relaying(bench: Bench) -> Iterator[BenchService]:
    """Yields a service with one web process that relays to the upstream and has already relayed calls."""
    offer = OFFER.format(
        group=GROUP,
        url=kept_upstream(bench).url,
        key=upstream.KEY,
        chat=upstream.CHAT_MODEL,
        image=upstream.IMAGE_MODEL,
    )
    with bench.database(tasks=TASKS) as url, bench.service(url, WEB_CONCURRENCY="1") as service:
        service.load_catalog(offer)
        general_keys.turn(url, GROUP, KEYS)
        service.start_web()
        preloaded.fill(service)
        yield service
