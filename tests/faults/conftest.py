"""Real worker processes on the test's own database, beside a sandbox that keeps its own count of what was bought."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.models import MediaModel
from sandbox.server import Sandbox
from tests.databases import database_url
from tests.processes import TestStack
from tests.tasks import steps
from tests.worker import conftest as of_workers
from tools.children import Child

running_sandbox = of_workers.running_sandbox
sandbox = of_workers.sandbox
image_channel = of_workers.image_channel
video_channel = of_workers.video_channel


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of whole processes and what befalls them are slow ones."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and not item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def crew(transactional_db: None, sandbox: Sandbox, tmp_path: Path) -> Iterator[TestStack]:
    """Processes on the test's own database. Afterwards the ledger is right and nothing was bought twice."""
    made = TestStack(database_url=database_url(), folder=tmp_path)
    made.environment |= {"WORKER_LEASE": "600", "WORKER_GRACE": "3600", "PGAPPNAME": "worker"}
    try:
        yield made
    finally:
        for child in made.children:
            child.kill()
    assert steps.breaches() == []
    sold = sandbox.audit()["by_prompt"]
    assert {prompt for prompt, times in sold.items() if times > 1} == set()


@pytest.fixture
def start_worker(crew: TestStack, image_model: MediaModel, video_model: MediaModel) -> Callable[..., Child]:
    """Starts a worker and waits until it works."""

    def start(*arguments: str, **environment: str) -> Child:
        worker = crew.start_worker(*arguments, **environment)
        worker.wait_for_line(r"worker \w+ starts")
        return worker

    return start


@pytest.fixture
def start_web(crew: TestStack) -> Iterator[Callable[..., Child]]:
    """Starts a web server, which is stopped before its database is emptied."""
    yield lambda **environment: crew.start_web(**environment)
    for child in crew.children:
        child.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failed test shows the last lines of its processes."""
    report = yield
    crew = getattr(item, "funcargs", {}).get("crew")
    if report.failed and crew:
        report.sections += [(f"last lines of {child.log.name}", child.tail()) for child in crew.children]
    return report
