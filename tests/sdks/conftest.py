"""One installation as `make run` starts it, for all programs that call it with an SDK of others."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.databases import Databases
from tests.processes import TestStack
from tools.children import Child
from tools.stack import CATALOG

# The sandbox makes a film in about a second; the protocol's own pace is for providers that take minutes.
SWIFT = ("/ark/api/v3", "/ark/api/v3\n    options: {poll_seconds: 0.2}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of whole processes are slow ones."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.once)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Web, worker and sandbox with the example catalog, and the secret of a key with 100 USD."""

    stack: TestStack
    sandbox: Child
    key: str

    @property
    def base_url(self) -> str:
        """As an SDK of OpenAI's takes it."""
        return f"{self.stack.base_url}/v1"

    def new_key(self, *arguments: str) -> str:
        """The secret of another key of the same account, made with these arguments of `create_key`."""
        return str(self.stack.manage_json("create_key", "tester", *arguments)["key"])


@pytest.fixture(scope="session")
def shop(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("sdks"))
        try:
            sandbox = stack.start_sandbox()
            catalog = CATALOG.read_text(encoding="utf-8").replace(*SWIFT)
            stack.environment["SANDBOX_URL"] = sandbox.url
            stack.load_catalog(catalog)
            key = stack.create_key(credit="100")
            stack.start_web()
            stack.start_worker()
            yield Shop(stack=stack, sandbox=sandbox, key=key)
        finally:
            stack.stop()
