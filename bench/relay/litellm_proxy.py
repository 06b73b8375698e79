"""Runs LiteLLM's proxy as its documentation advises for production: one worker, a master key, no database, no logging.

It has an environment of its own, knows only the upstream, and keeps no books.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import peers, processor
from bench.model import Missing
from bench.relay import upstream
from bench.surroundings import Bench
from tools.children import Child, ChildFailed, free_port

REQUIREMENTS = ("litellm[proxy]==1.106.2",)
NAME = "litellm"
LONGEST_START = 120.0
OFFER = """  - model_name: {model}
    litellm_params: {{model: openai/{model}, api_base: "{url}/v1", api_key: {key}}}
    model_info: {{mode: {mode}}}
"""
SETTINGS = """general_settings: {{master_key: {master_key}}}
litellm_settings: {{num_retries: 0, set_verbose: false, telemetry: false}}
"""
MODELS = ((upstream.CHAT_MODEL, "chat"), (upstream.IMAGE_MODEL, "image_generation"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A running proxy, suspended while others are measured."""

    child: Child
    master_key: str

    @property
    def url(self) -> str:
        return self.child.url

    def cpu_seconds(self) -> float:
        return processor.seconds(self.child.process.pid)

    @contextmanager
    def awake(self) -> Iterator[None]:
        self.child.unpause()
        try:
            yield
        finally:
            self.child.pause()


def configuration(upstream_url: str, master_key: str) -> str:
    offers = [OFFER.format(model=model, mode=mode, url=upstream_url, key=upstream.KEY) for model, mode in MODELS]
    return "model_list:\n" + "".join(offers) + SETTINGS.format(master_key=master_key)


def environment(folder: Path) -> dict[str, str]:
    """Returns an environment without our variables; model prices come from the package, not the network."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "ERROR",
    }


@contextmanager
def running(bench: Bench, upstream_url: str) -> Iterator[Proxy]:
    """Yields the proxy. Raises Missing if it cannot be installed or does not start."""
    program = peers.python(NAME, *REQUIREMENTS).with_name("litellm")
    folder = Path(tempfile.mkdtemp(dir=bench.folder))
    master_key = "sk-" + secrets.token_hex(16)
    (folder / "config.yaml").write_text(configuration(upstream_url, master_key))
    port = free_port()
    where = ["--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
    command = [str(program), *where, "--telemetry", "False"]
    child = Child(NAME, command, environment=environment(folder), log=folder / "log", folder=folder)
    child.url = f"http://127.0.0.1:{port}"
    try:
        child.wait_for_http(f"{child.url}/health/liveliness", timeout=LONGEST_START)
        yield Proxy(child=child, master_key=master_key)
    except ChildFailed as error:
        raise Missing(f"{NAME} that runs: {error}"[:200]) from error
    finally:
        child.stop()
        shutil.rmtree(folder, ignore_errors=True)
