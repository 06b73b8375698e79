"""Tests of the worker: catalog rows that lead to a real sandbox, a worker to drive, and books that must be right."""

from collections.abc import Iterator
from ipaddress import ip_network
from types import SimpleNamespace

import pytest

from catalog.models import Channel
from sandbox.server import Sandbox
from tasks.request import url_policy
from tests.rows import make_channel
from tests.tasks import steps
from tests.worker.driving import Root, Shift
from tools.children import PATIENCE


@pytest.fixture(autouse=True)
def patient(settings, monkeypatch) -> None:
    """Where a machine stands still for a while no call is given up, no lease or cool-down runs out, and no deadline is
    long ago."""
    settings.WORKER_LEASE = 600
    calls = (
        "follow.polling.POLL_SECONDS",
        "follow.polling.CANCEL_SECONDS",
        "buy.lookup.ASK_SECONDS",
    )
    for name in (*calls, "heal.deadlines.HANGING_POLL_SECONDS", "heal.deadlines.HANGING_COPY_SECONDS"):
        monkeypatch.setattr(f"worker.{name}", int(PATIENCE))
    monkeypatch.setattr("worker.buy.lookup.WAITS_SECONDS", (0.0, 0.0, 0.0))
    monkeypatch.setattr("catalog.health.probing.TIMEOUT_SECONDS", int(PATIENCE))
    for module in ("outcomes", "cooldowns"):
        monkeypatch.setattr(f"catalog.health.{module}.backoff", SimpleNamespace(seconds=lambda times: PATIENCE))


@pytest.fixture(scope="session")
def running_sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.1) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running_sandbox: Sandbox) -> Sandbox:
    running_sandbox.reset()
    return running_sandbox


@pytest.fixture
def image_channel(db: None, sandbox: Sandbox) -> Channel:
    return make_channel("studio", "openai_images", f"{sandbox.url}/openai/v1")


@pytest.fixture
def video_channel(db: None, sandbox: Sandbox) -> Channel:
    return make_channel("cinema", "ark_content_tasks", f"{sandbox.url}/ark/api/v3", options={"poll_seconds": 0.2})


@pytest.fixture
def loopback_allowed(settings) -> Iterator[None]:
    """Reference images may lie on this machine."""
    settings.OUTBOUND_ALLOW_NETWORKS = (ip_network("127.0.0.0/8"),)
    url_policy.current.cache_clear()
    yield
    url_policy.current.cache_clear()


@pytest.fixture
def root(settings, tmp_path) -> Root:
    """Asset storage in a folder of the test's own."""
    path = tmp_path / "assets"
    settings.STORAGES = {
        **settings.STORAGES,
        "assets": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(path), "base_url": None},
        },
    }
    return Root(path)


@pytest.fixture
def bought_again() -> set[str]:
    """Prompts that a test means to buy more than once."""
    return set()


@pytest.fixture
def shift(transactional_db: None, sandbox: Sandbox, bought_again: set[str]) -> Iterator[Shift]:
    """A worker to drive. Afterwards the ledger is right, and the provider sold no prompt twice."""
    yield Shift()
    assert steps.breaches() == []
    sold = sandbox.audit()["by_prompt"]
    assert {prompt for prompt, times in sold.items() if times > 1} <= bought_again
